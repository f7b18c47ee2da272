//! Schedules in files: lines of steps, and comments that start with `#`.

use raddle::Schedule;

/// So many characters of steps in a line.
const WIDTH: usize = 100;

/// The text of a file for this schedule; the comment says how to run it.
pub(crate) fn text(command: &str, schedule: &Schedule) -> String {
    let mut out = format!("# {}\n", command.replace(char::is_control, "?"));
    let mut line = String::new();
    for step in &schedule.steps {
        let word = step.to_string();
        if !line.is_empty() && line.len() + 1 + word.len() > WIDTH {
            out += &line;
            out.push('\n');
            line.clear();
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line += &word;
    }
    out + &line + "\n"
}

/// The schedule in such a file.
pub(crate) fn parse(text: &str) -> Result<Schedule, String> {
    let steps: Vec<&str> = text.lines().filter(|line| !line.trim_start().starts_with('#')).collect();
    steps.join(" ").parse()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_schedule_reads_back_from_its_file() {
        let schedule: Schedule = "0 1 1! 2=1 ".repeat(100).parse().expect("a schedule");
        let text = text("raddle replay a.rdl @b", &schedule);
        assert!(text.lines().all(|line| line.len() <= WIDTH), "{text}");
        assert_eq!(parse(&text), Ok(schedule));
    }
}
