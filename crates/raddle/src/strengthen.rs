//! `strengthen`: the weakest memory orders and fences for which a program keeps its properties.
//!
//! Which question: which orderings does this program need? A *choice* gives every atomic access and fence an ordering; it is *enough* if a whole check under the memory model finds nothing.
//!
//! 1. Up: from the program as it stands. While a check finds a violation, the sites that its execution went through become release and acquire, and if they are that already, seq_cst. So only what has
//!    to do with a violation is touched. If there is nothing left to raise, every site becomes seq_cst, and then (under models that look at nothing but fences) a full fence stands behind every access.
//! 2. Down: site by site, fences first, the weakest ordering that is enough, the others as they are. Weaker orderings never remove an execution, so a site that was done stays minimal while later ones
//!    get weaker.
//! 3. Once more, for each site each next weaker ordering alone: all of them must be violated. One that is enough after all is taken, and the round begins again.
//!
//! What is reported is a local minimum: other choices with other sites may be as weak or incomparable. A program that breaks a property under SC with every ordering seq_cst cannot be mended by
//! orderings, and the execution that shows it is the answer. At a limit the weakest choice that was enough is reported, and that it may not be minimal. Cost: at most five checks for a site and round.

pub(crate) mod edit;
mod sites;

use crate::answer::Question;
use crate::cost::Meter;
use crate::error::Error;
use crate::load::{Language, load_text};
use crate::verify::{Settings, verify};
use edit::Draft;
use raddle_engine::{Control, Outcome};
use raddle_program::{Ordering, Program};
use raddle_report::strengthen::{Change, End, Strengthen};
use raddle_report::{Answer, Body};
use raddle_trace::{Model, Verdict};
use sites::{Kind, Site, apply, find, weaker};
use std::path::Path;
use std::time::Instant;

/// Looks for the weakest orderings with which the program of the question keeps its properties.
///
/// # Errors
/// If the program is a litmus test, no engine takes it, or Raddle finds a bug in itself.
pub fn strengthen(question: &Question<'_>, control: &Control) -> Result<Answer, Error> {
    let meter = Meter::start();
    let program = &question.loaded.program;
    let language = Language::of(Path::new(question.file)).unwrap_or(Language::Rdl);
    if language == Language::Litmus {
        let message =
            "a litmus test says what can happen, not what must hold; `strengthen` takes .rdl and C programs".to_owned();
        return Err(Error::Switch(message));
    }
    if language == Language::Trencher {
        return Err(Error::Switch("automata have no orderings; `strengthen` takes .rdl and C programs".to_owned()));
    }
    let mut search = Search {
        program,
        sites: find(program, language == Language::C, false),
        settings: question.settings,
        control,
        start: Instant::now(),
        checks: 0,
        limit: None,
        scope: String::new(),
    };
    let found = search.run(language)?;
    let Search { checks, limit, scope, sites, .. } = search;
    let mut notes = question.loaded.notes.clone();
    let (end, changes, needed, diff, counterexample) = match found {
        Found::Enough { orders, minimal } => {
            let (diff, unedited) = draft(question, language, &sites, &orders);
            notes.extend(unedited);
            let changes = changes(program, &sites, &orders);
            let needed = sites.iter().zip(&orders).filter(|(_, order)| **order != Ordering::Relaxed).count();
            let end = if minimal { End::Minimal } else { End::Enough };
            (end, changes, needed, diff, None)
        }
        Found::Broken { outcome, settings } => {
            let end = if settings.options.model == Model::Sc { End::BrokenUnderSc } else { End::NotFound };
            let checked = Question { settings: &settings, ..*question }.answer(*outcome, meter.read());
            let counterexample = match checked.body {
                Body::Check(check) => check.counterexamples.into_iter().next(),
                _ => None,
            };
            (end, Vec::new(), 0, String::new(), counterexample)
        }
        Found::Open => (End::Open, Vec::new(), 0, String::new(), None),
    };
    let body = Strengthen {
        parameters: question.load.parameters(),
        model: question.settings.options.model,
        end,
        sites: sites.iter().filter(|site| site.kind != Kind::Added).count(),
        needed,
        changes,
        diff,
        counterexample,
        checks,
        scope,
        limit,
        notes,
    };
    let sources = crate::load::sources(&program.sources);
    Ok(Answer { file: question.file.to_owned(), sources, cost: meter.read(), body: Body::Strengthen(body) })
}

/// What a site is raised to.
type Target = fn(&Site) -> Ordering;

/// What came out.
enum Found {
    /// These orderings are enough; none of them can be weaker, if that was looked at in full.
    Enough { orders: Vec<Ordering>, minimal: bool },
    /// The strongest orderings are not enough, as this violation shows.
    Broken { outcome: Box<Outcome>, settings: Box<Settings> },
    /// A limit was reached before anything was known to be enough.
    Open,
}

struct Search<'q> {
    program: &'q Program,
    sites: Vec<Site>,
    settings: &'q Settings,
    control: &'q Control,
    start: Instant,
    checks: u64,
    /// Why the search could not go on, or not look at everything.
    limit: Option<String>,
    /// How far the check of the last choice that was enough reaches.
    scope: String,
}

impl Search<'_> {
    fn run(&mut self, language: Language) -> Result<Found, Error> {
        let mut orders: Vec<Ordering> = self.sites.iter().map(|site| site.order).collect();
        loop {
            let outcome = self.check(&orders, self.settings)?;
            match outcome.verdict {
                Verdict::Holds => break,
                Verdict::Unknown => return Ok(Found::Open),
                Verdict::Violated => {}
            }
            if !self.raise(&mut orders, &outcome) {
                // The strongest orderings are not enough: is the program wrong anyway, or does the model look at fences only?
                let mut settings = self.settings.clone();
                settings.options.model = Model::Sc;
                let under_sc = self.check(&orders, &settings)?;
                match under_sc.verdict {
                    Verdict::Violated => {
                        return Ok(Found::Broken { outcome: Box::new(under_sc), settings: Box::new(settings) });
                    }
                    Verdict::Unknown => return Ok(Found::Open),
                    Verdict::Holds => {}
                }
                if self.sites.iter().any(|site| site.kind == Kind::Added) {
                    return Ok(Found::Broken { outcome: Box::new(outcome), settings: Box::new(self.settings.clone()) });
                }
                self.sites = find(self.program, language == Language::C, true);
                orders = self.sites.iter().map(|_| Ordering::SeqCst).collect();
            }
        }
        self.lower(&mut orders)?;
        let minimal = self.confirm(&mut orders)?;
        Ok(Found::Enough { orders, minimal })
    }

    /// Makes the sites that a violation went through stronger, or all of them; `false` if all are as strong as can be.
    fn raise(&self, orders: &mut [Ordering], outcome: &Outcome) -> bool {
        let strongest = |site: &Site| site.kind != Kind::Added;
        let places: Vec<(&str, u32)> = outcome
            .findings
            .iter()
            .flat_map(|finding| finding.execution().events().map(|event| (&*event.place.file, event.place.line)))
            .collect();
        let met = |site: &Site| places.contains(&(self.program.sources.name(site.span), site.span.line));
        let steps: [(bool, Target); 3] =
            [(true, |site| site.kind.release_acquire()), (true, |_| Ordering::SeqCst), (false, |_| Ordering::SeqCst)];
        for (only_met, target) in steps {
            let mut raised = false;
            for (site, order) in
                self.sites.iter().zip(orders.iter_mut()).filter(|(site, _)| strongest(site) && (!only_met || met(site)))
            {
                let wanted = target(site);
                if weaker(*order, wanted) {
                    *order = wanted;
                    raised = true;
                }
            }
            if raised {
                return true;
            }
        }
        false
    }

    /// Gives every site the weakest ordering that is enough.
    fn lower(&mut self, orders: &mut [Ordering]) -> Result<(), Error> {
        let mut turn: Vec<usize> = (0..self.sites.len()).collect();
        turn.sort_by_key(|&at| self.sites[at].kind);
        for at in turn {
            let now = orders[at];
            for &order in self.sites[at].kind.orders().iter().filter(|order| weaker(**order, now)) {
                if self.limit.is_some() {
                    return Ok(());
                }
                orders[at] = order;
                if self.check(orders, self.settings)?.verdict == Verdict::Holds {
                    break;
                }
                orders[at] = now;
            }
        }
        Ok(())
    }

    /// Whether no ordering can be the next weaker one; one that can becomes it.
    fn confirm(&mut self, orders: &mut [Ordering]) -> Result<bool, Error> {
        'again: loop {
            for at in 0..orders.len() {
                let now = orders[at];
                let below: Vec<Ordering> =
                    self.sites[at].kind.orders().iter().copied().filter(|order| weaker(*order, now)).collect();
                // Those that nothing lies between.
                for &order in below.iter().filter(|order| !below.iter().any(|other| weaker(**order, *other))) {
                    if self.limit.is_some() {
                        return Ok(false);
                    }
                    orders[at] = order;
                    match self.check(orders, self.settings)?.verdict {
                        Verdict::Holds => continue 'again,
                        Verdict::Violated => orders[at] = now,
                        Verdict::Unknown => {
                            orders[at] = now;
                            return Ok(false);
                        }
                    }
                }
            }
            return Ok(true);
        }
    }

    /// A whole check of the program with these orderings.
    fn check(&mut self, orders: &[Ordering], settings: &Settings) -> Result<Outcome, Error> {
        let mut settings = settings.clone();
        settings.options.all = false;
        let limits = &mut settings.options.limits;
        limits.time = limits.time.map(|limit| limit.saturating_sub(self.start.elapsed()));
        self.control.restart();
        let outcome = verify(&apply(self.program, &self.sites, orders), &settings, self.control)?;
        self.checks += 1;
        match outcome.verdict {
            Verdict::Holds => self.scope = outcome.scope.to_string(),
            Verdict::Unknown => {
                self.limit = Some(outcome.stop.as_ref().map_or_else(|| outcome.scope.to_string(), ToString::to_string));
            }
            Verdict::Violated => {}
        }
        Ok(outcome)
    }
}

/// What differs from the program as it stands.
fn changes(program: &Program, sites: &[Site], orders: &[Ordering]) -> Vec<Change> {
    let text = |site: &Site| program.sources.line(site.span).unwrap_or_default().trim().to_owned();
    let changed = sites.iter().zip(orders).filter(|(site, order)| site.order != **order);
    changed
        .map(|(site, &order)| Change {
            file: program.sources.name(site.span).to_owned(),
            line: site.span.line,
            text: text(site),
            what: site.kind.name().to_owned(),
            from: (site.kind != Kind::Added).then(|| site.order.name().to_owned()),
            to: (!(site.kind == Kind::Fence && order == Ordering::Relaxed)).then(|| order.name().to_owned()),
            stronger: weaker(site.order, order),
        })
        .collect()
}

/// The changes as a diff, and what cannot be put into one.
fn draft(question: &Question<'_>, language: Language, sites: &[Site], orders: &[Ordering]) -> (String, Vec<String>) {
    let program = &question.loaded.program;
    let mut diff = String::new();
    let mut unedited = Vec::new();
    for (number, file) in program.sources.files.iter().enumerate() {
        let own = |site: &Site| site.span.file as usize == number;
        let mut draft = Draft::new(&file.text);
        for (site, &order) in sites.iter().zip(orders).filter(|(site, _)| own(site) && site.kind != Kind::Failure) {
            let same_place =
                |other: &Site| other.kind == Kind::Failure && other.span == site.span && site.kind == Kind::Update;
            let failure = sites.iter().zip(orders).find(|(other, _)| same_place(other));
            let as_it_is = site.order == order && failure.is_none_or(|(other, order)| other.order == *order);
            if as_it_is {
                continue;
            }
            let failure = failure.map(|(_, order)| *order);
            let edited = match language {
                Language::C => draft.c(site, order, failure),
                _ => draft.rdl(site, order, failure),
            };
            if !edited {
                unedited.push(format!(
                    "{}:{}: the {} is not one that can be edited in the text, so the diff leaves it out",
                    file.name,
                    site.span.line,
                    site.kind.name()
                ));
            }
        }
        let changes = draft.diff(&file.name);
        // What the text says after the edit is read again: it has to be the very program that was checked.
        if !changes.is_empty() && unedited.is_empty() {
            if *file.name != *question.file {
                unedited
                    .push(format!("{} is not read again after the edit, since another file includes it", file.name));
            } else if !same_program(question, language, &draft.text(), sites, orders) {
                unedited.push("the edited text is not the program that was checked, so there is no diff".to_owned());
                continue;
            }
        }
        diff += &changes;
    }
    (diff, unedited)
}

/// Whether the text is the program of the question with these orderings.
fn same_program(question: &Question<'_>, language: Language, text: &str, sites: &[Site], orders: &[Ordering]) -> bool {
    let Ok(edited) = load_text(question.file, text, language, question.load) else { return false };
    let checked = apply(&question.loaded.program, sites, orders);
    let plain = |program: &Program| {
        // A relaxed fence is none.
        let printed = raddle_program::print(program);
        printed
            .lines()
            .filter(|line| !line.trim().starts_with("fence.rlx") && line.trim() != "fence;")
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    plain(&edited.program) == plain(&checked)
}
