//! `fair`: can this objective be satisfied on a graph or in an MDP, does this specification hold?

use crate::cost::Meter;
use crate::error::Error;
use raddle_fair::decide::{self, Decided, Files, Found, Role};
use raddle_fair::sets::Steps;
use raddle_fair::streett::Algorithm;
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

/// What is asked.
#[derive(Clone, Debug)]
pub struct Subject {
    /// The system, and its form.
    pub system: (Form, Text),
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
pub fn fair(subject: &Subject, settings: &Settings) -> Result<Answer, Error> {
    let meter = Meter::start();
    let Subject { system: (form, system), labels, states, pairs, specification } = subject;
    let text = |text: &'_ Option<Text>| text.as_ref().map(|text| text.text.clone());
    let [label_text, state_text, pair_text, spec_text] = [labels, states, pairs, specification].map(text);
    let files = Files {
        system: (*form, &system.text),
        labels: label_text.as_deref(),
        states: state_text.as_deref(),
        pairs: pair_text.as_deref(),
        specification: spec_text.as_deref(),
    };
    let decided = decide::decide(&files, settings).map_err(|error| match error {
        decide::Error::Internal(wrong) => Error::Internal(wrong.to_string()),
        decide::Error::Input(role, error) => {
            let of = match role {
                Role::System => None,
                Role::Labels => labels.as_ref(),
                Role::States => states.as_ref(),
                Role::Pairs => pairs.as_ref(),
                Role::Specification => specification.as_ref(),
            };
            let Text { name, text } = of.unwrap_or(system).clone();
            Error::Fair { error, name, text }
        }
    })?;
    let body = Body::Fair(body(decided, subject, settings));
    Ok(Answer { file: system.name.clone(), sources: Sources::default(), cost: meter.read(), body })
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
