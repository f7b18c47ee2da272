//! Register machines: what a memory system is.
//!
//! A system serves reads and writes of *cores*. It keeps what was written in *registers* and moves it between them; whatever else it knows (the
//! status of a line, how full a buffer is, vector clocks) is its state, of which there are finitely many. A transition writes, reads, copies a register or does
//! nothing that concerns data. Nothing ever looks at a value, so only the write that a value comes from matters (Grahn 2026).

use thiserror::Error;

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident),+) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub u32);

        impl $name {
            /// The number as an index.
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }
    )+};
}

ids! {
    /// Somebody who reads and writes.
    Core,
    /// What is read and written; a name only, the contents are in registers.
    Location,
    /// Where the system keeps a value.
    Register,
    /// What the system knows besides the contents of registers.
    State,
    /// A transition, by its number.
    Move
}

/// What a transition does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Event {
    /// A core writes a location; the system puts the value into a register.
    Write {
        /// Who.
        core: Core,
        /// What.
        location: Location,
        /// Where the value is kept.
        register: Register,
    },
    /// A core reads a location; the system answers with the contents of a register.
    Read {
        /// Who.
        core: Core,
        /// What.
        location: Location,
        /// Where the answer comes from.
        register: Register,
    },
    /// The contents of a register are copied into another.
    Copy {
        /// What is overwritten.
        to: Register,
        /// What is copied.
        from: Register,
    },
    /// Nothing but the state changes.
    Idle,
}

/// A transition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transition {
    /// Before it.
    pub from: State,
    /// After it.
    pub to: State,
    /// What it does.
    pub event: Event,
    /// The number of the rule that it comes from, among [`Machine::rules`].
    pub rule: Option<u32>,
}

/// Why something is no machine.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Malformed {
    /// A number names nothing.
    #[error("transition {0} names something that the machine does not have")]
    Unknown(usize),
    /// There is no such state.
    #[error("the initial state is not a state of the machine")]
    Initial,
}

/// A memory system.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Machine {
    /// What it is called.
    pub name: String,
    cores: Vec<String>,
    locations: Vec<String>,
    registers: Vec<String>,
    /// States without a name of their own are in the middle of something.
    states: Vec<String>,
    rules: Vec<String>,
    initial: u32,
    transitions: Vec<Transition>,
    /// Whether locations have values before the first write, and registers hold them at the beginning.
    pub initial_values: bool,
}

impl Machine {
    /// A machine without anything, to be filled.
    pub fn new(name: impl Into<String>) -> Self {
        Machine { name: name.into(), ..Machine::default() }
    }

    /// One more core.
    pub fn add_core(&mut self, name: impl Into<String>) -> Core {
        Core(push(&mut self.cores, name.into()))
    }

    /// One more location.
    pub fn add_location(&mut self, name: impl Into<String>) -> Location {
        Location(push(&mut self.locations, name.into()))
    }

    /// One more register.
    pub fn add_register(&mut self, name: impl Into<String>) -> Register {
        Register(push(&mut self.registers, name.into()))
    }

    /// One more state; the first one is the initial one.
    pub fn add_state(&mut self, name: impl Into<String>) -> State {
        State(push(&mut self.states, name.into()))
    }

    /// One more rule, to name transitions by.
    pub fn add_rule(&mut self, name: impl Into<String>) -> u32 {
        push(&mut self.rules, name.into())
    }

    /// One more transition.
    pub fn add(&mut self, from: State, event: Event, to: State) -> Move {
        self.add_of_rule(from, event, to, None)
    }

    /// One more transition, which belongs to a rule.
    pub fn add_of_rule(&mut self, from: State, event: Event, to: State, rule: Option<u32>) -> Move {
        Move(push(&mut self.transitions, Transition { from, to, event, rule }))
    }

    /// Begin in this state instead of the first one.
    pub fn begin_in(&mut self, state: State) {
        self.initial = state.0;
    }

    /// Whether everything that is named is there.
    ///
    /// # Errors
    /// If it is not.
    pub fn check(&self) -> Result<(), Malformed> {
        if self.initial as usize >= self.states.len() {
            return Err(Malformed::Initial);
        }
        let register = |register: Register| register.index() < self.registers.len();
        let known = |transition: &Transition| {
            let event = match transition.event {
                Event::Write { core, location, register: at } | Event::Read { core, location, register: at } => {
                    core.index() < self.cores.len() && location.index() < self.locations.len() && register(at)
                }
                Event::Copy { to, from } => register(to) && register(from),
                Event::Idle => true,
            };
            let state = |state: State| state.index() < self.states.len();
            let rule = transition.rule.is_none_or(|rule| (rule as usize) < self.rules.len());
            event && rule && state(transition.from) && state(transition.to)
        };
        self.transitions
            .iter()
            .position(|transition| !known(transition))
            .map_or(Ok(()), |at| Err(Malformed::Unknown(at)))
    }

    /// Where it begins.
    pub fn initial(&self) -> State {
        State(self.initial)
    }

    /// The names of its cores.
    pub fn cores(&self) -> &[String] {
        &self.cores
    }

    /// The names of its locations.
    pub fn locations(&self) -> &[String] {
        &self.locations
    }

    /// The names of its registers.
    pub fn registers(&self) -> &[String] {
        &self.registers
    }

    /// The names of its states, empty for those in the middle of a rule.
    pub fn states(&self) -> &[String] {
        &self.states
    }

    /// The rules that its transitions come from.
    pub fn rules(&self) -> &[String] {
        &self.rules
    }

    /// What it can do.
    pub fn transitions(&self) -> &[Transition] {
        &self.transitions
    }

    /// A transition.
    pub fn transition(&self, number: Move) -> Transition {
        self.transitions[number.index()]
    }

    /// An event in words: `P0 writes x into cache[0]`.
    pub fn words(&self, event: Event) -> String {
        let register = |register: Register| &self.registers[register.index()];
        let names = |core: Core, location: Location| (&self.cores[core.index()], &self.locations[location.index()]);
        match event {
            Event::Write { core, location, register: at } => {
                let (core, location) = names(core, location);
                format!("{core} writes {location} into {}", register(at))
            }
            Event::Read { core, location, register: at } => {
                let (core, location) = names(core, location);
                format!("{core} reads {location} from {}", register(at))
            }
            Event::Copy { to, from } => format!("{} := {}", register(to), register(from)),
            Event::Idle => "nothing".into(),
        }
    }

    /// The same machine with the states that can be reached only, in the order in which they are met; and the numbers that its transitions have here.
    pub fn reachable(&self) -> (Machine, Vec<Move>) {
        let mut number = vec![u32::MAX; self.states.len()];
        let leaving = Neighbours::leaving(self);
        let mut order = vec![self.initial];
        number[self.initial as usize] = 0;
        let mut at = 0;
        while let Some(&state) = order.get(at) {
            at += 1;
            for &next in leaving.of(State(state)) {
                let to = self.transitions[next as usize].to;
                if number[to.index()] == u32::MAX {
                    number[to.index()] = order.len() as u32;
                    order.push(to.0);
                }
            }
        }
        let new = |state: State| State(number[state.index()]);
        let all = (0..self.transitions.len() as u32).map(Move);
        let met: Vec<Move> = all.filter(|&at| number[self.transition(at).from.index()] != u32::MAX).collect();
        let moved =
            |transition: Transition| Transition { from: new(transition.from), to: new(transition.to), ..transition };
        let machine = Machine {
            states: order.iter().map(|&state| self.states[state as usize].clone()).collect(),
            transitions: met.iter().map(|&at| moved(self.transition(at))).collect(),
            initial: 0,
            ..self.clone()
        };
        (machine, met)
    }
}

fn push<T>(list: &mut Vec<T>, item: T) -> u32 {
    list.push(item);
    u32::try_from(list.len() - 1).expect("a machine is made of fewer than four billion things")
}

/// The transitions at each state, at one of their ends.
#[derive(Debug)]
pub(crate) struct Neighbours {
    /// Where the list of each state begins.
    begins: Vec<u32>,
    list: Vec<u32>,
}

impl Neighbours {
    pub(crate) fn leaving(machine: &Machine) -> Self {
        Self::by(machine, |transition| transition.from)
    }

    pub(crate) fn entering(machine: &Machine) -> Self {
        Self::by(machine, |transition| transition.to)
    }

    fn by(machine: &Machine, end: impl Fn(&Transition) -> State) -> Self {
        let mut begins = vec![0; machine.states.len() + 1];
        for transition in &machine.transitions {
            begins[end(transition).index() + 1] += 1;
        }
        for at in 1..begins.len() {
            begins[at] += begins[at - 1];
        }
        let mut next = begins.clone();
        let mut list = vec![0; machine.transitions.len()];
        for (number, transition) in machine.transitions.iter().enumerate() {
            let at = &mut next[end(transition).index()];
            list[*at as usize] = number as u32;
            *at += 1;
        }
        Neighbours { begins, list }
    }

    pub(crate) fn of(&self, state: State) -> &[u32] {
        &self.list[self.begins[state.index()] as usize..self.begins[state.index() + 1] as usize]
    }
}
