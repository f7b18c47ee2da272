//! The byte code, for those who run it otherwise than a [`Thread`](crate::Thread) does: on values that are not known.

use crate::code::{Args, CasInfo, Code, FuncCode, GlobalCode, InputInfo, Instr, Operand, Pc, SwitchTable, WaitInfo};
use crate::compile::Forgiven;
use raddle_program::FuncId;

impl Code {
    /// How many instructions there are.
    pub fn len(&self) -> u32 {
        self.instrs.len() as u32
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.instrs.is_empty()
    }

    /// The instruction at `pc`.
    pub fn instr(&self, pc: Pc) -> Instr {
        self.instrs[pc as usize]
    }

    /// Tells of every instruction of the same function that may come behind the one at `pc`.
    pub fn successors(&self, pc: Pc, see: &mut impl FnMut(Pc)) {
        crate::live::successors(self, pc, self.instr(pc), see);
    }

    /// The value of an operand that is a constant.
    pub fn as_constant(&self, operand: Operand) -> Option<u64> {
        (operand.0 & Operand::CONSTANT != 0).then(|| self.constant(operand))
    }

    /// A list of operands.
    pub fn args(&self, args: Args) -> &[Operand] {
        &self.operands[args.start as usize..][..args.len as usize]
    }

    /// A compare-exchange by its number.
    pub fn cas(&self, number: u32) -> &CasInfo {
        &self.cas[number as usize]
    }

    /// A condition on what is read by its number, which is not 0.
    pub fn wait(&self, number: u32) -> &WaitInfo {
        &self.waits[number as usize - 1]
    }

    /// The table of a switch by its number.
    pub fn switch(&self, number: u32) -> &SwitchTable {
        &self.switches[number as usize]
    }

    /// The values of an unknown input by its number.
    pub fn input_values(&self, number: u32) -> &InputInfo {
        &self.inputs[number as usize]
    }

    /// A function.
    pub fn function(&self, id: FuncId) -> &FuncCode {
        &self.functions[id.index()]
    }

    /// How many functions there are.
    pub fn functions(&self) -> usize {
        self.functions.len()
    }

    /// The global objects.
    pub fn globals(&self) -> &[GlobalCode] {
        &self.globals
    }

    /// The thread-local ones among them, by number.
    pub fn thread_locals(&self) -> &[u32] {
        &self.tls
    }

    /// The function that the first thread runs.
    pub fn entry(&self) -> FuncId {
        self.entry
    }

    /// Whether the program ends when that returns.
    pub fn entry_exits(&self) -> bool {
        self.entry_exits
    }

    /// Whether addresses are kept as numbers of 32 bits.
    pub fn is_narrow(&self) -> bool {
        self.narrow
    }

    /// Which errors do not end a thread.
    pub fn forgiven(&self) -> Forgiven {
        self.forgiven
    }
}
