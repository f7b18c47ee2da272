//! `fair`: can this objective be satisfied on a graph, in an MDP or by a program, does this specification hold?

use crate::cost::Meter;
use crate::error::Error;
use crate::load::Loaded;
use crate::prepare::prepare_as_written;
use raddle_engine::{Control, Options, PropertySet, Question};
use raddle_fair::decide::{self, Decided, Files, Found, Role, Source};
use raddle_fair::format::InputError;
use raddle_fair::sets::Steps;
use raddle_fair::streett::Algorithm;
use raddle_live::BUFFER;
use raddle_live::space::{Label, Space, space};
use raddle_report::fair as report;
use raddle_report::{Answer, Body, Sources};

pub use raddle_fair::decide::{Form, Keep, Settings};

/// A text and what it is called.
#[derive(Clone, Debug)]
pub struct Text {
    /// What diagnostics call it.
    pub name: String,
    /// What stands in it.
    pub text: String,
}

/// The system.
#[derive(Clone, Debug)]
pub enum System {
    /// A text of this form.
    Text(Form, Text),
    /// The state space of a program.
    Program(Box<OfProgram>),
}

/// The state space of a program.
#[derive(Clone, Debug)]
pub struct OfProgram {
    /// What the program is called.
    pub name: String,
    /// The program.
    pub loaded: Loaded,
    /// The memory model and how far to go.
    pub options: Options,
}

/// What is asked.
#[derive(Clone, Debug)]
pub struct Subject {
    /// The system.
    pub system: System,
    /// Labels of its states.
    pub labels: Option<Text>,
    /// What its states are called.
    pub states: Option<Text>,
    /// Pairs to satisfy.
    pub pairs: Option<Text>,
    /// An automaton that has to accept whatever satisfies the pairs.
    pub specification: Option<Text>,
}

/// Answers the question.
///
/// # Errors
/// If a text is not accepted, or Raddle finds a bug in itself.
pub fn fair(subject: &Subject, settings: &Settings, control: &Control) -> Result<Answer, Error> {
    let meter = Meter::start();
    let Subject { system, labels, states, pairs, specification } = subject;
    let text = |text: &'_ Option<Text>| text.as_ref().map(|text| text.text.clone());
    let [label_text, state_text, pair_text, spec_text] = [labels, states, pairs, specification].map(text);
    let nowhere = Text { name: String::new(), text: String::new() };
    let (name, system_text) = match system {
        System::Text(_, text) => (&text.name, text),
        System::Program(program) => (&program.name, &nowhere),
    };
    let wrong = |error: decide::Error| match error {
        decide::Error::Internal(wrong) => Error::Internal(wrong.to_string()),
        decide::Error::Input(role, error) => {
            let of = match role {
                Role::System => None,
                Role::Labels => labels.as_ref(),
                Role::States => states.as_ref(),
                Role::Pairs => pairs.as_ref(),
                Role::Specification => specification.as_ref(),
            };
            let Text { name, text } = of.unwrap_or(system_text).clone();
            Error::Fair { error, name, text }
        }
    };
    let mut notes = Vec::new();
    let source = match system {
        System::Text(form, text) => Source::Text(*form, &text.text),
        System::Program(program) => {
            let names = decide::names(pair_text.as_deref(), spec_text.as_deref()).map_err(wrong)?;
            notes.clone_from(&program.loaded.notes);
            match space_of(program, names, control).map_err(wrong)? {
                Space::Whole(system) => Source::Made(system),
                Space::Part(why) => {
                    let body = Body::Fair(unknown(why, subject, settings, notes));
                    let sources = Sources::default();
                    return Ok(Answer { file: name.clone(), sources, cost: meter.read(), body });
                }
            }
        }
    };
    let files = Files {
        system: source,
        labels: label_text.as_deref(),
        states: state_text.as_deref(),
        pairs: pair_text.as_deref(),
        specification: spec_text.as_deref(),
    };
    let decided = decide::decide(files, settings).map_err(wrong)?;
    let body = body(decided, subject, settings);
    let body = Body::Fair(report::Fair { notes: notes.into_iter().chain(body.notes.clone()).collect(), ..body });
    Ok(Answer { file: name.clone(), sources: Sources::default(), cost: meter.read(), body })
}

/// The states of a program with the labels that are asked for.
fn space_of(program: &OfProgram, names: Vec<(Role, u32, String)>, control: &Control) -> Result<Space, decide::Error> {
    let mut labels = Vec::new();
    for (role, line, name) in names {
        let label = Label::parse(&name, &program.loaded.program).map_err(|wrong| {
            let error = InputError::at((line, 1), format!("\"{name}\" says nothing about this program: {}", wrong.message));
            let help = "names are threads (`T1`, `T1 buffer`), `can T1`, `cannot T1`, `T1 at LINE`, `ended`, and conditions on global variables (`x == 1`)";
            decide::Error::Input(role, error.help(help))
        })?;
        labels.extend(label.map(|label| (name, label)));
    }
    let code = prepare_as_written(&program.loaded.program, PropertySet::none());
    Ok(space(&Question { code: &code, options: &program.options }, BUFFER, &labels, control))
}

/// The answer where not all states could be looked at.
fn unknown(why: String, subject: &Subject, settings: &Settings, notes: Vec<String>) -> report::Fair {
    let nothing = Decided {
        states: 0,
        vertices: 0,
        random: 0,
        edges: 0,
        pairs: 0,
        keep: "",
        phases: raddle_fair::solve::Phases::default(),
        winning: 0,
        good: 0,
        found: Found::Unknown(why),
        notes,
    };
    body(nothing, subject, settings)
}

fn body(decided: Decided, subject: &Subject, settings: &Settings) -> report::Fair {
    let phase = |phase, steps: Steps| report::Phase {
        phase,
        pre: steps.pre,
        post: steps.post,
        operations: steps.operations,
        sizes: steps.sizes,
        picks: steps.picks,
    };
    let step = |step: decide::Step| report::Step { state: step.state, action: step.action };
    let path = |steps: Vec<decide::Step>| steps.into_iter().map(step).collect();
    report::Fair {
        specification: subject.specification.is_some(),
        assumption: subject.specification.is_some() && subject.pairs.is_some(),
        states: decided.states as u64,
        vertices: decided.vertices as u64,
        random: decided.random as u64,
        edges: decided.edges as u64,
        pairs: decided.pairs as u64,
        winning: decided.winning as u64,
        good_components: decided.good as u64,
        sets: decided.keep.to_owned(),
        algorithm: match settings.method.streett {
            Algorithm::Basic => "the basic algorithm".into(),
            Algorithm::Improved(threshold) => format!("lock-step search (threshold {threshold})"),
        },
        steps: vec![
            phase("components", decided.phases.first),
            phase("search", decided.phases.search),
            phase("reach", decided.phases.reach),
        ],
        found: match decided.found {
            Found::Lasso { stem, cycle } => report::Found::Lasso { stem: path(stem), cycle: path(cycle) },
            Found::Strategy { stem, choices } => report::Found::Strategy {
                stem: path(stem),
                choices: choices.into_iter().map(|(state, choose)| report::Choice { state, choose }).collect(),
            },
            Found::Nobody(pieces) => report::Found::Nobody(
                pieces
                    .into_iter()
                    .map(|piece| report::Piece {
                        depth: piece.depth as u64,
                        claim: piece.claim,
                        states: piece.states,
                        pairs: piece.pairs.into_iter().map(|pair| pair as u64).collect(),
                    })
                    .collect(),
            ),
            Found::Unknown(why) => report::Found::Unknown(why),
        },
        notes: decided.notes,
    }
}
