//! The literature's tables beside ours: `raddle-bench tables`.
//!
//! A row is a program with a parameter and how many executions were published for it (Toman 2021, Tables 3.1 to 3.4, 4.1, 4.2 and 5.1; Chalupa et al. 2018): by orders (optimal DPOR, or
//! source sets, which count the same), by reads-from (`rfsc`, RF-SMC), by DC-DPOR, by VC-DPOR and by RVF-SMC. Beside each stands what the engine for it counts here. The text of most programs
//! was never printed. One is *the same* as far as the counts tell if it has the published number of orders and of reads-from classes wherever the two
//! were published; these are compared, and a difference is an error. For all others it is said what they are.
//!
//! The counts by DC-DPOR of Chalupa et al. 2018 are lower than the numbers of reads-from classes, which are known in closed form for most of these programs: what that tool
//! counted is not known. Of `opt_lock` they have always 12 orders more than there are here, of `lastzero` many more.
//!
//! Later DC-DPOR was measured with a tool that also told orders of writes apart, VC-DPOR and RVF-SMC may explore a class more than once: these numbers need not be the same.

use crate::engines::cell::{Cell, measure};
use crate::failure::Failure;
use crate::table::{markdown, thousands};
use raddle::{Define, ENGINES, Model};
use raddle_bench::catalogue::{self, Entry};
use std::time::Duration;

/// What is measured.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Only programs whose name contains this
    #[arg(long, value_name = "NAME")]
    only: Option<String>,

    /// Give up after so many seconds for each program and engine
    #[arg(long, value_name = "SECONDS", default_value = "10")]
    limit: u64,
}

/// What our program has to do with the published one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kin {
    /// The same, as far as the counts tell.
    Same,
    /// Written after a description, or after a name; the counts differ.
    Rendition,
    /// Nobody has written it here.
    Missing,
}

/// A row of a published table.
struct Row {
    table: &'static str,
    /// As it is called there, with its parameter.
    name: &'static str,
    /// Our program, and its parameters.
    program: &'static str,
    defines: &'static [(&'static str, i64)],
    kin: Kin,
    /// Published counts, in the order of [`COLUMNS`].
    published: [Option<u64>; COLUMNS.len()],
}

/// What is counted, and the engine that counts it.
const COLUMNS: [(&str, &str); 5] =
    [("orders", "optimal"), ("reads-from", "rf"), ("DC-DPOR", "dc"), ("VC-DPOR", "vc"), ("RVF-SMC", "rvf")];

/// The columns in which the same program has the same count.
const EXACT: usize = 2;

/// One that was not published.
const NO: u64 = u64::MAX;

const fn row(
    table: &'static str,
    name: &'static str,
    (program, defines): (&'static str, &'static [(&'static str, i64)]),
    kin: Kin,
    counts: [u64; COLUMNS.len()],
) -> Row {
    let mut published = [None; COLUMNS.len()];
    let mut at = 0;
    while at < counts.len() {
        if counts[at] != NO {
            published[at] = Some(counts[at]);
        }
        at += 1;
    }
    Row { table, name, program, defines, kin, published }
}

const MISSING: (&str, &[(&str, i64)]) = ("", &[]);

/// The smallest published parameter of each program, and larger ones where they fit.
#[rustfmt::skip]
const ROWS: &[Row] = {
    use Kin::{Missing, Rendition, Same};
    &[
        row("Toman 3.1", "parker(6)", ("parker", &[("N", 6)]), Rendition, [1_100_917, NO, 985_807, 38_670, NO]),
        row("Toman 3.1", "27_Boop(6)", ("27_boop4", &[("U", 6)]), Same, [35_079_696, NO, 1_468_774, 248_212, NO]),
        row("Toman 3.1", "30_Fun_Point(6)", ("30_fun_point", &[("U", 6)]), Same, [665_280, NO, 665_280, 5_040, NO]),
        row("Toman 3.1", "45_monabsex(5)", ("45_monabsex1", &[("U", 5)]), Same, [14_400, NO, 6_197, 600, NO]),
        row("Toman 3.1", "45_monabsex(6)", ("45_monabsex1", &[("U", 6)]), Same, [518_400, NO, 180_126, 13_152, NO]),
        row("Toman 3.1", "46_monabsex(5)", ("46_monabsex2", &[("U", 5)]), Same, [14_400, NO, 2_653, 1_064, NO]),
        row("Toman 3.1", "46_monabsex(6)", ("46_monabsex2", &[("U", 6)]), Same, [518_400, NO, 62_864, 21_371, NO]),
        row("Toman 3.1", "fk2012_true(3)", ("fk2012", &[("U", 3)]), Rendition, [42_144, NO, 33_886, 12_400, NO]),
        row("Toman 3.1", "fkp2013_true(5)", ("fkp2013", &[("U", 5)]), Same, [86_400, NO, 25_626, 17_751, NO]),
        row("Toman 3.1", "nondet-array(4)", ("nondet_array", &[("U", 4)]), Same, [2_616, NO, 592, 404, NO]),
        row("Toman 3.1", "nondet-array(5)", ("nondet_array", &[("U", 5)]), Same, [128_760, NO, 15_449, 10_804, NO]),
        row("Toman 3.1", "pthread-de(7)", ("pthread_datarace", &[("U", 7)]), Same, [4_027_216, NO, 829_168, 327_782, NO]),
        row("Toman 3.1", "reorder_5(5)", ("reorder_5", &[("U", 5)]), Same, [1_755_360, NO, 4_978, 1_016, NO]),
        row("Toman 3.1", "reorder_5(8)", ("reorder_5", &[("U", 8)]), Same, [NO, NO, 437_725, 247_684, NO]),
        row("Toman 3.1", "scull_true(3)", ("scull_true", &[("U", 3)]), Rendition, [617_706, NO, 172_931, 3_426, NO]),
        row("Toman 3.1", "sigma_false(7)", ("sigma_false", &[("U", 7), ("SUM", 1)]), Same, [135_135, NO, 30_952, 12_509, NO]),
        row("Toman 3.1", "check_bad_arr(5)", ("check_bad_array", &[("U", 5)]), Rendition, [12_838, NO, 6_689, 4_046, NO]),
        row("Toman 3.1", "32_pthread5(2)", ("32_pthread5", &[("U", 2)]), Rendition, [1_890, NO, 1_470, 1_470, NO]),
        row("Toman 3.1", "32_pthread5(1)", ("32_pthread5", &[("U", 1)]), Rendition, [24, NO, 20, 20, NO]),
        row("Toman 3.1", "fkp2014_true(2)", ("fkp2014", &[("U", 2)]), Same, [16, NO, 16, 16, NO]),
        row("Toman 3.1", "fkp2014_true(3)", ("fkp2014", &[("U", 3)]), Same, [1_098, NO, 1_098, 1_098, NO]),
        row("Toman 3.1", "singleton(8)", ("singleton", &[("U", 8)]), Same, [40_320, NO, 8, 2, NO]),
        row("Toman 3.1", "stack_true(9)", ("stack_true", &[("U", 9)]), Same, [48_620, NO, 48_620, 48_620, NO]),
        row("Toman 3.1", "48_ticket_lock(3)", ("48_ticket_lock", &[("U", 3)]), Same, [204, NO, 204, 204, NO]),
        row("Toman 3.2", "rod_cut_td3(7)", ("rod_cut_td", &[("N", 7), ("T", 2)]), Rendition, [102_128, NO, 23_143, 4_324, NO]),
        row("Toman 3.2", "rod_cut_td4(3)", ("rod_cut_td", &[("N", 3), ("T", 3)]), Rendition, [91_592, NO, 4_810, 1_478, NO]),
        row("Toman 3.2", "rod_cut_bu3(6)", ("rod_cut_bu", &[("N", 6), ("T", 2)]), Rendition, [183_516, NO, 71_670, 19_933, NO]),
        row("Toman 3.2", "rod_cut_bu4(2)", ("rod_cut_bu", &[("N", 2), ("T", 3)]), Rendition, [33_912, NO, 5_377, 1_901, NO]),
        row("Toman 3.2", "lis_bu3(8)", ("lis_bu", &[("N", 8), ("T", 2)]), Rendition, [1_744_064, NO, 358_347, 118_812, NO]),
        row("Toman 3.2", "lis_bu4(2)", ("lis_bu", &[("N", 2), ("T", 3)]), Rendition, [18_522, NO, 2_828, 1_137, NO]),
        row("Toman 3.2", "coin_all_td3(9)", ("coin_all_td", &[("N", 9), ("T", 2)]), Rendition, [566_214, NO, 8_071, 4_015, NO]),
        row("Toman 3.2", "coin_all_td4(2)", ("coin_all_td", &[("N", 2), ("T", 3)]), Rendition, [NO, NO, 20_668, 5_938, NO]),
        row("Toman 3.2", "coin_min_td3(8)", ("coin_min_td", &[("N", 8), ("T", 2)]), Rendition, [1_902_262, NO, 382_275, 46_535, NO]),
        row("Toman 3.2", "coin_min_td4(4)", ("coin_min_td", &[("N", 4), ("T", 3)]), Rendition, [1_470_312, NO, 46_634, 9_912, NO]),
        row("Toman 3.2", "bin_nocon_td3(7)", ("bin_nocon_td", &[("N", 7)]), Rendition, [1_664_672, NO, 121_350, 13_202, NO]),
        row("Toman 3.2", "bin_nocon_bu3(6)", ("bin_nocon_bu", &[("N", 6)]), Rendition, [773_122, NO, 75_000, 52_500, NO]),
        row("Toman 3.3", "tsay(2)", ("tsay", &[("U", 2)]), Rendition, [7_469, NO, 7_469, 2_488, NO]),
        row("Toman 3.3", "peter_fisch(2)", ("peterson_fischer", &[("U", 2)]), Rendition, [4_386, NO, 4_386, 1_371, NO]),
        row("Toman 3.3", "peterson(5)", ("peterson", &[("U", 5), ("ONCE", 1)]), Same, [268_706, NO, 256_457, 86_929, NO]),
        row("Toman 3.3", "peterson(6)", ("peterson", &[("U", 6), ("ONCE", 1)]), Same, [3_462_008, NO, 3_303_617, 880_069, NO]),
        row("Toman 3.3", "lamport(2)", ("lamport", &[("U", 2), ("ONCE", 1)]), Same, [3_940, NO, 1_456, 958, NO]),
        row("Toman 3.3", "lamport(3)", ("lamport", &[("U", 3), ("ONCE", 1)]), Same, [741_370, NO, 130_024, 57_436, NO]),
        row("Toman 3.3", "dekker(5)", ("dekker", &[("U", 5)]), Rendition, [435_245, NO, 435_245, 89_647, NO]),
        row("Toman 3.3", "kessels(3)", ("kessels", &[("U", 3)]), Rendition, [13_856, NO, 13_856, 8_900, NO]),
        row("Toman 3.3", "burns(4)", ("burns", &[("U", 4)]), Rendition, [140_380, NO, 140_380, 381, NO]),
        row("Toman 3.3", "burns3(1)", ("burns3", &[("U", 1)]), Rendition, [849, NO, 849, 67, NO]),
        row("Toman 3.3", "szymanski(3)", ("szymanski", &[("U", 3)]), Rendition, [27_951, NO, 27_951, 27_892, NO]),
        row("Toman 3.3", "X2Tv2(2)", MISSING, Missing, [1_293, NO, 1_293, 894, NO]),
        row("Toman 3.3", "X2Tv6(3)", MISSING, Missing, [20_371, NO, 20_371, 7_859, NO]),
        row("Toman 3.3", "X2Tv8(3)", MISSING, Missing, [9_894, NO, 8_434, 6_168, NO]),
        row("Toman 3.3", "X2Tv9(3)", MISSING, Missing, [7_304, NO, 7_304, 7_234, NO]),
        row("Toman 3.3", "X2Tv10(2)", MISSING, Missing, [5_079, NO, 5_079, 4_130, NO]),
        row("Toman 3.3", "X2Tv5(4)", MISSING, Missing, [46_161, NO, 46_161, 38_743, NO]),
        row("Toman 3.3", "X2Tv1(6)", MISSING, Missing, [253_042, NO, 253_042, 224_803, NO]),
        row("Toman 3.3", "X2Tv7(9)", MISSING, Missing, [2_004_774, NO, 2_004_774, 452_142, NO]),
        row("Toman 3.4", "eratosthenes(5)", ("eratosthenes", &[("U", 21)]), Same, [1_527_736, NO, 19_991, 3_500, NO]),
        row("Toman 3.4", "redundant_co(2)", ("redundant_co", &[("U", 2)]), Same, [1_969_110, NO, 729, 11, NO]),
        row("Toman 3.4", "float_read(9)", ("float_read", &[("U", 9)]), Same, [3_628_800, NO, 10, 9, NO]),
        row("Toman 3.4", "opt_lock(2)", ("opt_lock", &[("N", 2), ("T", 3)]), Same, [69_252, NO, 6_475, 2_497, NO]),
        row("Toman 3.4", "opt_lock(3)", ("opt_lock", &[("N", 3), ("T", 3)]), Same, [15_036_174, NO, 212_877, 80_805, NO]),
        row("Toman 4.1", "45_monabsex1(7)", ("45_monabsex1", &[("U", 7)]), Same, [25_401_600, 262_144, 7_073_803, 423_360, 1]),
        row("Toman 4.1", "reorder_5(9)", ("reorder_5", &[("U", 9)]), Same, [NO, 1_540, 1_792_290, 1_644_716, 4]),
        row("Toman 4.1", "scull_loop(2)", ("scull_loop", &[("U", 2)]), Rendition, [3_157_281, 749_811, 884_443, 15_394, 3_908]),
        row("Toman 4.1", "singleton(20)", ("singleton", &[("U", 20)]), Same, [NO, 20, 20, 2, 2]),
        row("Toman 4.2", "13_unverif(5)", ("13_unverif", &[("U", 5)]), Same, [14_400, 14_400, 14_400, 14_400, 14_400]),
        row("Toman 4.2", "approxds_append(6)", ("approxds_append", &[("U", 6)]), Rendition, [9_847_080, 198_936, 1_114_746, 1_256_381, 50_897]),
        row("Toman 4.2", "chase-lev-dq(4)", ("chase_lev_dq", &[("U", 4)]), Rendition, [175_331, 175_331, NO, NO, 87_807]),
        row("Toman 4.2", "linuxrwlocks(1)", ("linuxrwlocks", &[("U", 1)]), Rendition, [59, 59, NO, NO, 56]),
        row("Toman 4.2", "pgsql(3)", ("pgsql", &[("U", 3)]), Same, [3_906, 3_906, 3_906, 3_906, 3_906]),
        row("Toman 5.1", "27_Boop4(1)", ("27_boop4", &[("U", 1)]), Same, [21_948, 2_902, NO, NO, NO]),
        row("Toman 5.1", "27_Boop4(4)", ("27_boop4", &[("U", 4)]), Same, [3_873_348, 197_260, NO, NO, NO]),
        row("Toman 5.1", "eratosthenes(17)", ("eratosthenes", &[("U", 17)]), Same, [100_664, 4_667, NO, NO, NO]),
        row("Toman 5.1", "fillarray_false(3)", ("fillarray_false", &[("U", 3)]), Rendition, [47_892, 14_625, NO, NO, NO]),
        row("Chalupa", "lastzero(4)", ("lastzero", &[("N", 4)]), Rendition, [2_118, NO, 38, NO, NO]),
        row("Chalupa", "opt_lock(12)", ("opt_lock", &[("N", 12)]), Rendition, [785_674, NO, 141, NO, NO]),
        row("Chalupa", "fib_bench(4)", ("fib_bench", &[("N", 4)]), Same, [19_605, NO, 1_233, NO, NO]),
        row("Chalupa", "pthread_demo(8)", ("pthread_demo", &[("N", 8)]), Same, [12_870, NO, 256, NO, NO]),
        row("Chalupa", "sigma_false(6)", ("sigma_false", &[("U", 6)]), Same, [10_395, NO, 16, NO, NO]),
        row("Chalupa", "parker(8)", ("parker", &[("N", 8)]), Rendition, [3_343, NO, 1_254, NO, NO]),
    ]
};

/// Counts and prints.
///
/// # Errors
/// If a program is not accepted, an engine contradicts itself, or a program that is the same has another count.
pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let entries = catalogue::entries()?;
    let wanted = |row: &&Row| args.only.as_ref().is_none_or(|only| row.name.contains(only.as_str()));
    let mut lines = Vec::new();
    for row in ROWS.iter().filter(wanted) {
        let entry = entries.iter().find(|entry| entry.name == row.program);
        lines.push(line(row, entry, Duration::from_secs(args.limit))?);
        anstream::eprintln!("{}", row.name);
    }
    let mut head = ["table", "program", "here", ""].map(str::to_owned).to_vec();
    head.extend(COLUMNS.iter().flat_map(|(what, engine)| [(*what).to_owned(), format!("`{engine}`")]));
    anstream::print!("{}", markdown(&head, &lines, 4));
    Ok(())
}

fn line(row: &Row, entry: Option<&Entry>, limit: Duration) -> Result<Vec<String>, Failure> {
    let mut cells = vec![row.table.to_owned(), row.name.to_owned()];
    let number = |count: Option<u64>| count.map_or_else(|| "-".to_owned(), thousands);
    let Some(entry) = entry else {
        if row.kin != Kin::Missing {
            return Err(Failure::Table(format!("bench/programs has no program {}", row.program)));
        }
        cells.extend(["-".to_owned(), "missing".to_owned()]);
        cells.extend(row.published.into_iter().flat_map(|count| [number(count), "-".to_owned()]));
        return Ok(cells);
    };
    let define = |&(name, value): &(&str, i64)| Define { name: name.to_owned(), value: value.to_string() };
    let defines: Vec<Define> = row.defines.iter().map(define).collect();
    let title = entry.title(&defines);
    let program = entry.load(&defines).map_err(Failure::of(&title))?;
    let same = row.kin == Kin::Same;
    cells.extend([title.clone(), if same { "the same" } else { "a rendition" }.to_owned()]);
    for (at, ((what, engine), published)) in COLUMNS.iter().zip(row.published).enumerate() {
        let engine = ENGINES.find(engine).expect("it is among them");
        let ours = match measure(&title, &program, engine, Model::Sc, limit)? {
            Cell::Done(explored) => {
                let counted = explored.runs();
                if let Some(known) = published.filter(|&known| same && at < EXACT && known != counted) {
                    let why = format!("{title}: {counted} by {what}, and {known} were published for {}", row.name);
                    return Err(Failure::Table(why));
                }
                thousands(counted)
            }
            Cell::Limit(explored) => format!("> {}", thousands(explored.runs())),
            Cell::Refused { .. } => "refused".to_owned(),
        };
        cells.extend([number(published), ours]);
    }
    Ok(cells)
}
