//! What `fair` has to say: whether an objective can be satisfied or a specification holds, with a path, a strategy or the partition that shows it.

use crate::answer::{Answer, Conclusion, Say};
use crate::json::Head;
use crate::numbers::counted;
use crate::paper::Paper;
use serde::Serialize;

/// So many lines of evidence are shown before the rest is counted.
const LINES: usize = 40;
/// So many states of a set are named.
const NAMED: usize = 12;

/// The answer about a graph or an MDP.
#[derive(Clone, Debug, Serialize)]
pub struct Fair {
    /// Whether a specification was asked about; else whether the pairs can be satisfied.
    pub specification: bool,
    /// Whether only what satisfies the pairs counts for it.
    pub assumption: bool,
    /// How many states the system has.
    pub states: u64,
    /// How many vertices the product with the objective has.
    pub vertices: u64,
    /// How many of them are random.
    pub random: u64,
    /// How many edges there are.
    pub edges: u64,
    /// How many pairs there are.
    pub pairs: u64,
    /// From how many vertices the pairs can be satisfied.
    pub winning: u64,
    /// How many good components there are.
    pub good_components: u64,
    /// How sets were kept: `bits` or `bdds`.
    pub sets: String,
    /// The algorithm.
    pub algorithm: String,
    /// What it took, by phase.
    pub steps: Vec<Phase>,
    /// What was found for the initial state.
    #[serde(skip)]
    pub found: Found,
    /// What a reader should know.
    pub notes: Vec<String>,
}

/// What a phase took.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Phase {
    /// Which.
    pub phase: &'static str,
    /// Preimages.
    pub pre: u64,
    /// Images.
    pub post: u64,
    /// Other operations on sets.
    pub operations: u64,
    /// Cardinalities.
    pub sizes: u64,
    /// Picks of a vertex.
    pub picks: u64,
}

/// What was found for the initial state.
#[derive(Clone, Debug)]
pub enum Found {
    /// A path that satisfies the pairs.
    Lasso {
        /// Up to the cycle.
        stem: Vec<Step>,
        /// The cycle.
        cycle: Vec<Step>,
    },
    /// A strategy that does.
    Strategy {
        /// A path to where it begins.
        stem: Vec<Step>,
        /// What to choose from, in which state.
        choices: Vec<Choice>,
    },
    /// Nothing does; the sets of the argument.
    Nobody(Vec<Piece>),
    /// There was no answer within the limits; why.
    Unknown(String),
}

/// A state on a path.
#[derive(Clone, Debug, Serialize)]
pub struct Step {
    /// The state.
    pub state: String,
    /// The action that leads into it, if it has a name.
    pub action: Option<String>,
}

/// What to choose from in a state.
#[derive(Clone, Debug, Serialize)]
pub struct Choice {
    /// The state.
    pub state: String,
    /// One of these, each with some probability.
    pub choose: Vec<String>,
}

/// A set of an argument.
#[derive(Clone, Debug, Serialize)]
pub struct Piece {
    /// In how many others it lies.
    pub depth: u64,
    /// What is said about it: `component`, `remove`, `no-cycle` or `good`.
    pub claim: &'static str,
    /// What is in it.
    pub states: Vec<String>,
    /// Pairs that are requested and never granted, from 1.
    pub pairs: Vec<u64>,
}

impl Say for Fair {
    fn command(&self) -> &'static str {
        "fair"
    }

    fn conclusion(&self) -> Conclusion {
        match (&self.found, self.specification) {
            (Found::Unknown(_), _) => Conclusion::Unknown,
            (Found::Nobody(_), true) | (Found::Lasso { .. } | Found::Strategy { .. }, false) => Conclusion::Holds,
            _ => Conclusion::Violated,
        }
    }

    fn text(&self, answer: &Answer, paper: &mut Paper) {
        let conclusion = self.conclusion();
        paper.paint(conclusion.style(), conclusion.word()).say(format!(": {}", self.sentence())).end();
        let vertices = format!(
            "  {}, {} with the objective ({} random), {}, {}",
            counted(self.states, "state"),
            counted_vertices(self.vertices),
            self.random,
            counted(self.edges, "edge"),
            counted(self.pairs, "pair"),
        );
        paper.say(vertices).end();
        if !matches!(self.found, Found::Unknown(_)) {
            paper.say("  scope: this system, all of its paths; the evidence was checked again").end();
        }
        match &self.found {
            Found::Unknown(_) => {}
            Found::Lasso { stem, cycle } => {
                self.steps("  a path to a cycle:", stem, paper);
                self.steps("  the cycle, for ever:", cycle, paper);
            }
            Found::Strategy { stem, choices } => {
                if !stem.is_empty() {
                    self.steps("  with luck, on this path:", stem, paper);
                }
                if !choices.is_empty() {
                    paper.say("  choose, by lot if there are several:").end();
                }
                let lines =
                    choices.iter().map(|Choice { state, choose }| format!("in {state}: {}", named(choose, "or")));
                self.lines(lines, paper);
            }
            Found::Nobody(pieces) => {
                let what = if self.specification { "violates the specification" } else { "satisfies the pairs" };
                paper.say(format!("  no cycle that can be kept to {what}:")).end();
                self.lines(pieces.iter().map(Piece::words), paper);
            }
        }
        for note in &self.notes {
            paper.say(format!("  note: {note}")).end();
        }
        let symbolic: u64 = self.steps.iter().map(|phase| phase.pre + phase.post).sum();
        let (seconds, steps) = (answer.cost.seconds, counted(symbolic, "symbolic step"));
        paper.say(format!("  {} on {}: {steps} in {seconds:.2} s", self.algorithm, self.sets)).end();
    }

    fn json(&self, head: Head<'_>) -> String {
        #[derive(Serialize)]
        struct Fields<'a> {
            verdict: &'static str,
            scope: &'static str,
            #[serde(flatten)]
            fair: &'a Fair,
            #[serde(skip_serializing_if = "Option::is_none")]
            lasso: Option<Lasso<'a>>,
            #[serde(skip_serializing_if = "Option::is_none")]
            strategy: Option<Strategy<'a>>,
            #[serde(skip_serializing_if = "Option::is_none")]
            argument: Option<&'a [Piece]>,
            #[serde(skip_serializing_if = "Option::is_none")]
            why: Option<&'a str>,
        }
        #[derive(Serialize)]
        struct Lasso<'a> {
            stem: &'a [Step],
            cycle: &'a [Step],
        }
        #[derive(Serialize)]
        struct Strategy<'a> {
            stem: &'a [Step],
            choices: &'a [Choice],
        }
        let mut fields = Fields {
            verdict: self.conclusion().word(),
            scope: "this system",
            fair: self,
            lasso: None,
            strategy: None,
            argument: None,
            why: None,
        };
        match &self.found {
            Found::Lasso { stem, cycle } => fields.lasso = Some(Lasso { stem, cycle }),
            Found::Strategy { stem, choices } => fields.strategy = Some(Strategy { stem, choices }),
            Found::Nobody(pieces) => fields.argument = Some(pieces),
            Found::Unknown(why) => fields.why = Some(why),
        }
        head.line(&fields)
    }
}

impl Fair {
    fn sentence(&self) -> String {
        let random = self.random > 0;
        let path = if self.assumption { "path that satisfies the pairs" } else { "path" };
        let (and, unless) =
            if self.assumption { ("satisfies the pairs and ", " or violates the pairs") } else { ("", "") };
        match (&self.found, self.specification) {
            (Found::Unknown(why), _) => why.clone(),
            (Found::Lasso { .. }, false) => "some path satisfies the pairs".into(),
            (Found::Strategy { .. }, false) => "some strategy satisfies the pairs with probability 1".into(),
            (Found::Nobody(_), false) if random => "no strategy satisfies the pairs with probability 1".into(),
            (Found::Nobody(_), false) => "no path satisfies the pairs".into(),
            (Found::Lasso { .. }, true) => format!("some {path} violates the specification"),
            (Found::Strategy { .. }, true) => {
                format!("some strategy {and}violates the specification with a probability above 0")
            }
            (Found::Nobody(_), true) if random => {
                format!("every strategy satisfies the specification{unless} with probability 1")
            }
            (Found::Nobody(_), true) => format!("every {path} satisfies the specification"),
        }
    }

    fn steps(&self, heading: &str, steps: &[Step], paper: &mut Paper) {
        if steps.is_empty() {
            return;
        }
        paper.say(heading).end();
        let words = |Step { state, action }: &Step| match action {
            Some(action) => format!("{state}  by {action}"),
            None => state.clone(),
        };
        self.lines(steps.iter().map(words), paper);
    }

    fn lines(&self, lines: impl ExactSizeIterator<Item = String>, paper: &mut Paper) {
        let count = lines.len();
        let shown = if paper.layout().full { count } else { LINES };
        for line in lines.take(shown) {
            paper.say(format!("    {line}")).end();
        }
        if count > shown {
            paper.say(format!("    ... and {} more (--full shows them)", count - shown)).end();
        }
    }
}

impl Piece {
    fn words(&self) -> String {
        let indent = "  ".repeat(self.depth.min(20) as usize);
        let states = named(&self.states, "and");
        let pairs: Vec<String> = self.pairs.iter().map(u64::to_string).collect();
        match self.claim {
            "component" => format!("{indent}component of {states}"),
            "remove" if pairs.is_empty() => format!("{indent}- without {states}: chance leads out of it"),
            "remove" => format!("{indent}- without {states}: nothing in it grants pair {}", pairs.join(", ")),
            "no-cycle" if self.states.is_empty() => format!("{indent}- nothing is left"),
            "no-cycle" => format!("{indent}- no cycle: {states}"),
            _ => format!("{indent}- good, but not reached with probability 1: {states}"),
        }
    }
}

fn counted_vertices(number: u64) -> String {
    if number == 1 { "1 vertex".into() } else { format!("{number} vertices") }
}

/// States, of which few are named.
fn named(states: &[String], last: &str) -> String {
    let shown: Vec<&str> = states.iter().take(NAMED).map(|state| &**state).collect();
    match (states.len(), shown.split_last()) {
        (many, _) if many > NAMED => format!("{}, ... ({many} in all)", shown.join(", ")),
        (_, Some((end, before))) if !before.is_empty() => format!("{} {last} {end}", before.join(", ")),
        _ => shown.concat(),
    }
}
