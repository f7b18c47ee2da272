//! What the threads wait for at the end of a run that ends in a deadlock.

use crate::Schedule;
use raddle_machine::{Blocked, Code, Status, System, Visible};
use raddle_report::Waiting;
use raddle_trace::Model;

/// Runs the schedule and lists the threads that are not finished at its end. The schedule must fit.
pub(crate) fn waiting(code: &Code, model: Model, schedule: &Schedule, races: bool) -> Vec<Waiting> {
    let mut system = System::new(code, model, races, false);
    let Some(schedule) = schedule.numbered(code.numbering()) else { return Vec::new() };
    for &step in &schedule.steps {
        if system.step(step).is_err() {
            return Vec::new();
        }
    }
    let describe = |thread: &raddle_machine::Thread| {
        let what = match thread.status() {
            Status::Finished { .. } | Status::Failed(_) => return None,
            Status::Blocked(Blocked::Spin { .. }) => "another thread to end its loop".to_owned(),
            Status::Blocked(Blocked::Assume) => "nothing: an assumption failed".to_owned(),
            Status::Blocked(Blocked::LoopBound) => "nothing: it reached the loop bound".to_owned(),
            Status::Ready(visible) => awaited(code, &system, thread, visible),
        };
        Some(Waiting { thread: code.name(thread.id()), what, place: code.place(thread.pc()) })
    };
    system.threads().filter_map(describe).collect()
}

fn awaited(code: &Code, system: &System<'_>, thread: &raddle_machine::Thread, visible: &Visible) -> String {
    match visible {
        Visible::Update { access, mutex: true, .. } => format!("the mutex {}", system.describe(access.addr)),
        Visible::Load { access, .. } | Visible::Update { access, .. } => {
            let name = system.describe(access.addr);
            match thread.operation_name(code) {
                "rdlock" | "wrlock" => format!("the lock {name}"),
                "sem wait" => format!("the semaphore {name}"),
                "barrier wait" => format!("the barrier {name}"),
                "wait: woken" => "a signal".to_owned(),
                "wait: lock" => format!("the mutex {name}"),
                _ => format!("a change of {name}"),
            }
        }
        Visible::Join { thread } => format!("{} to end", code.name(*thread)),
        _ => "its turn".to_owned(),
    }
}
