//! What is given, and what there is to decide.
//!
//! Given edges: the events of a message in order; from a post to the get of its message; reads-from; each write to the next of its location; from-read, to the next write. Besides,
//! by the kind of mailbox: messages that are there from the beginning come first in a queue; a message that is never run was posted to a queue after all that are run, and to a
//! stack after everything below it was taken; an open message is the last of its handler.
//!
//! To decide, for each two messages of a handler: which is run first, and, where the mailbox cares, which was posted first. For a queue the two are one. For a stack the earlier
//! posted one, if it is run first, must have been taken before the later one was posted.
//!
//! What the trace does not know is to decide, too: which of two writes comes first, and whether a read reads a write (see [`super::unknown`]).

use super::order::{Edge, Order};
use super::trace::{Kind, Mailbox, Rules, Trace};

/// Two messages that have to be ordered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Pair {
    pub(super) first: u32,
    pub(super) second: u32,
    pub(super) what: What,
    /// For a stack, the other question about these two messages.
    pub(super) partner: Option<u32>,
}

impl Pair {
    /// The two messages as a decision has them.
    pub(super) fn ordered(self, swapped: bool) -> (usize, usize) {
        let (first, second) = (self.first as usize, self.second as usize);
        if swapped { (second, first) } else { (first, second) }
    }
}

/// In which respect they are ordered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What {
    /// Which is run first.
    Run,
    /// Which is posted first, and therefore run first.
    PostedAndRun,
    /// Which is posted first.
    Posted,
    /// Which is run first, one of them having been in a stack from the beginning.
    RunOverInitial,
    /// Which of two events, writes of a location, comes first.
    Written,
    /// Whether the first event, a read, reads the second, or the initial value if that is [`INITIAL`].
    Reads,
}

/// In place of a write: the initial value.
pub(super) const INITIAL: u32 = u32::MAX;

impl What {
    /// Whether it is about messages.
    pub(super) fn is_of_messages(self) -> bool {
        !matches!(self, What::Written | What::Reads)
    }
}

/// Why a given edge is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Given {
    /// The events of a message are in order.
    Program,
    /// A message is posted before it is taken.
    Posted,
    /// A read comes after what it reads.
    ReadsFrom,
    /// Writes of a location are in order.
    Coherence,
    /// A read comes before what overwrites what it reads.
    FromRead,
    /// The mailbox has it so for messages that are there from the beginning, never run, or open.
    Mailbox,
    /// The trace says so.
    Said,
}

/// An edge that is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GivenEdge {
    /// The earlier event.
    pub from: usize,
    /// The later one.
    pub to: usize,
    /// Why.
    pub why: Given,
}

/// A decision about a pair: the number of the pair, twice, plus one if the second comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Literal(pub(super) u32);

impl Literal {
    pub(super) fn new(pair: usize, swapped: bool) -> Self {
        Literal(pair as u32 * 2 + u32::from(swapped))
    }

    pub(super) fn pair(self) -> usize {
        self.0 as usize / 2
    }

    pub(super) fn swapped(self) -> bool {
        self.0 % 2 == 1
    }

    pub(super) fn opposite(self) -> Self {
        Literal(self.0 ^ 1)
    }
}

/// The edges that are given.
pub(super) fn given(trace: &Trace, rules: &Rules) -> Vec<GivenEdge> {
    let mut edges = Vec::new();
    let mut add = |from, to, why| edges.push(GivenEdge { from, to, why });
    for (number, message) in trace.messages.iter().enumerate() {
        message.events.windows(2).for_each(|pair| add(pair[0], pair[1], Given::Program));
        if let (Some(post), Some((get, _))) = (message.post, trace.ends(number)) {
            add(post, get, Given::Posted);
        }
    }
    let mut place = vec![0; trace.events.len()];
    for order in &trace.coherence {
        order.iter().enumerate().for_each(|(at, &write)| place[write] = at);
    }
    let mut is_unordered = vec![false; trace.coherence.len()];
    trace.unknown.orders.iter().for_each(|&location| is_unordered[location] = true);
    let mut is_open = vec![false; trace.events.len()];
    trace.unknown.reads.iter().for_each(|&(read, _)| is_open[read] = true);
    for (read, event) in trace.events.iter().enumerate() {
        let Kind::Read { location, from } = event.kind else { continue };
        if is_open[read] {
            continue;
        }
        if is_unordered.get(location) == Some(&true) {
            match from {
                Some(write) => add(write, read, Given::ReadsFrom),
                None => trace.coherence[location].iter().for_each(|&write| add(read, write, Given::FromRead)),
            }
            continue;
        }
        let order = trace.coherence.get(location).map_or(&[][..], Vec::as_slice);
        let next = match from {
            Some(write) => {
                add(write, read, Given::ReadsFrom);
                order.get(place[write] + 1)
            }
            None => order.first(),
        };
        if let Some(&next) = next {
            add(read, next, Given::FromRead);
        }
    }
    trace.said.iter().for_each(|&(from, to)| add(from, to, Given::Said));
    for (order, _) in trace.coherence.iter().zip(&is_unordered).filter(|(_, unordered)| !**unordered) {
        order.windows(2).for_each(|pair| add(pair[0], pair[1], Given::Coherence));
    }
    for (number, message) in trace.messages.iter().enumerate() {
        let mailbox = rules.mailboxes[message.handler];
        let others =
            trace.messages.iter().enumerate().filter(|(other, one)| *other != number && one.handler == message.handler);
        for (other, one) in others {
            let Some((get, last)) = trace.ends(other) else { continue };
            match (trace.ends(number), message.post, one.post) {
                // An open message is the last.
                (Some((own, _)), _, _) if message.open => add(last, own, Given::Mailbox),
                // One that is never run was posted to a queue after those that are, and to a stack when those from the beginning were gone.
                (None, Some(post), Some(earlier)) if rules.strict && mailbox == Mailbox::Queue => {
                    add(earlier, post, Given::Mailbox);
                }
                (None, Some(post), None) if rules.strict && mailbox == Mailbox::Stack => add(get, post, Given::Mailbox),
                // Those from the beginning come first in a queue.
                (Some((own, _)), Some(_), None) if mailbox == Mailbox::Queue => add(last, own, Given::Mailbox),
                _ => {}
            }
        }
    }
    edges
}

/// What there is to decide. Neighbours by the number of events before them come first, the earlier of a pair is its first: once neighbours are in order, the others mostly are.
pub(super) fn pairs(trace: &Trace, rules: &Rules, order: &Order) -> Vec<Pair> {
    let mut pairs: Vec<Pair> = Vec::new();
    let mut of_handler: Vec<Vec<usize>> = vec![Vec::new(); trace.handlers];
    (0..trace.messages.len()).for_each(|number| of_handler[trace.messages[number].handler].push(number));
    for (handler, own) in of_handler.iter_mut().enumerate() {
        let end = |number: usize| trace.ends(number).map(|(_, last)| last).or(trace.messages[number].post);
        own.sort_by_cached_key(|&number| end(number).map(|event| order.earlier(event)));
        for distance in 1..own.len() {
            for (&first, &second) in own.iter().zip(&own[distance..]) {
                let (one, other) = (&trace.messages[first], &trace.messages[second]);
                let run = !one.events.is_empty() && !other.events.is_empty();
                let any_run = !one.events.is_empty() || !other.events.is_empty();
                let posted = one.post.is_some() && other.post.is_some();
                let next = pairs.len() as u32;
                let pair = |what, partner| Pair { first: first as u32, second: second as u32, what, partner };
                match rules.mailboxes[handler] {
                    Mailbox::Queue if run && posted => pairs.push(pair(What::PostedAndRun, None)),
                    Mailbox::Queue | Mailbox::Multiset if run => pairs.push(pair(What::Run, None)),
                    Mailbox::Stack if run && posted => {
                        pairs.push(pair(What::Run, Some(next + 1)));
                        pairs.push(pair(What::Posted, Some(next)));
                    }
                    Mailbox::Stack if run && one.post.is_none() && other.post.is_none() => {
                        pairs.push(pair(What::Run, None))
                    }
                    Mailbox::Stack if run => pairs.push(pair(What::RunOverInitial, None)),
                    Mailbox::Stack if posted && any_run && rules.strict => pairs.push(pair(What::Posted, None)),
                    _ => {}
                }
            }
        }
    }
    pairs
}

/// The two events whose order, should it be known, decides a pair this way.
pub(super) fn witnesses(trace: &Trace, pair: Pair, swapped: bool) -> [Option<(usize, usize)>; 2] {
    if !pair.what.is_of_messages() {
        return [None, None];
    }
    let (first, second) = pair.ordered(swapped);
    let run = trace.ends(first).zip(trace.ends(second)).map(|((get, _), (_, last))| (get, last));
    let posted = trace.messages[first].post.zip(trace.messages[second].post);
    match pair.what {
        What::Run | What::RunOverInitial => [run, None],
        What::PostedAndRun => [run, posted],
        What::Posted => [None, posted],
        What::Written | What::Reads => [None, None],
    }
}

/// The edges that come with a decision; for a stack, together with the decision about its partner, if that is known.
pub(super) fn consequences(trace: &Trace, pair: Pair, literal: Literal, partner: Option<Literal>) -> Vec<Edge> {
    if !pair.what.is_of_messages() {
        return Vec::new();
    }
    let (first, second) = pair.ordered(literal.swapped());
    let mut edges = Vec::new();
    let mut add = |from, to, since: Vec<u32>| edges.push(Edge { from, to, since });
    let since = || vec![literal.0];
    let runs = trace.ends(first).zip(trace.ends(second));
    if let (What::Run | What::PostedAndRun | What::RunOverInitial, Some(((get, last), (then, _)))) = (pair.what, runs) {
        add(last, then, since());
        if let (What::RunOverInitial, Some(post)) = (pair.what, trace.messages[second].post) {
            // Below the other from the beginning, and yet taken first: before the other was posted.
            add(get, post, since());
        }
    }
    if let (What::Posted | What::PostedAndRun, Some(early), Some(late)) =
        (pair.what, trace.messages[first].post, trace.messages[second].post)
    {
        add(early, late, since());
        if let (What::Posted, None, Some((get, _))) = (pair.what, pair.partner, trace.ends(first)) {
            add(get, late, since());
        }
    }
    if let Some(other) = partner.filter(|other| other.swapped() == literal.swapped())
        && let (Some((get, _)), Some(late)) = (trace.ends(first), trace.messages[second].post)
    {
        add(get, late, vec![literal.0, other.0]);
    }
    edges
}
