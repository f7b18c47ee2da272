//! Damaged files end in an answer or in a message, never in a panic, and what is answered was checked.

use raddle_fair::decide::{Error, Files, Form, Found, Keep, Settings, Source, decide};
use raddle_testkit::{Random, damaged, setting};
use std::time::Duration;

const AUT: [&str; 2] = [
    "des (0, 6, 4)\n(0, \"want\", 1)\n(1, \"get\", 2)\n(2, \"drop\", 0)\n(0, \"idle\", 0)\n(1, \"lose\", 3)\n(3, i, 3)\n",
    "des (1, 3, 2)\n(0, a, 1)\n(1, \"b !1\", 0)\n(1, c, 1)\n",
];
const TRA: [&str; 2] = [
    "3 4 6\n0 0 1 0.5 try\n0 0 2 0.5 try\n0 1 0 1 wait\n1 0 0 1/3\n1 0 2 2/3\n2 0 2 1\n",
    "2 3\n0 0 0.5\n0 1 0.5\n1 1 1\n",
];
const LAB: [&str; 1] = ["0=\"init\" 1=\"deadlock\" 2=\"done\"\n0: 0\n2: 2\n"];
const STA: [&str; 1] = ["(x,y)\n0:(0,true)\n1:(1,true)\n2:(1,false)\n"];
const PAIRS: [&str; 3] = ["0 1 -> 2..3\n# why\nall -> none\n", "\"want\" -> \"get\"\nrandom 0 1\n", "1 -> \"done\"\n"];
const HOA: [&str; 2] = [
    "HOA: v1\nStates: 2\nStart: 0\nAP: 2 \"want\" \"get\"\nacc-name: Rabin 1\nAcceptance: 2 Fin(0) & Inf(1)\n--BODY--\nState: 0 {1}\n[!0 | 1] 0\n[0 & !1] 1\nState: 1 {0}\n[1] 0\n[!1] 1\n--END--\n",
    "HOA: v1 Start: 0 AP: 1 \"done\" Alias: @d 0 Acceptance: 3 Inf(0) | (Fin(1) & Inf(2)) --BODY-- State: 0 [@d] 0 {0} [!@d] 0 {1 2} --END--",
];
const PIECES: [&str; 20] = [
    "des (0, 0, 0)",
    "->",
    "..",
    "all",
    "none",
    "random 0..4294967295",
    "\"",
    "(",
    ")",
    "[t]",
    "{0}",
    "--BODY--",
    "--END--",
    "State:",
    "Fin(0)",
    "Inf(1)",
    " & ",
    " | ",
    "!",
    "@",
];

#[test]
fn damaged_files_end_in_an_answer_or_in_a_message() {
    let mut random = Random::new(setting("RADDLE_FAIR_SEED", 5));
    let (mut answers, mut messages, mut unknown) = (0, 0, 0);
    for _ in 0..setting("RADDLE_FAIR_DAMAGED", 20_000) {
        let mut some = |files: &[&str]| {
            let bytes = if random.one_in(2) { damaged(files, &PIECES, &mut random) } else { random.pick(files).into() };
            String::from_utf8_lossy(&bytes).into_owned()
        };
        let (aut, tra, lab, sta, pairs, hoa) =
            (some(&AUT), some(&TRA), some(&LAB), some(&STA), some(&PAIRS), some(&HOA));
        let as_aut = random.one_in(2);
        let kind = random.below(3);
        let files = Files {
            system: if as_aut { Source::Text(Form::Aut, &aut) } else { Source::Text(Form::Tra, &tra) },
            labels: (!as_aut && random.one_in(2)).then_some(&lab),
            states: (!as_aut && random.one_in(2)).then_some(&sta),
            pairs: (kind != 0).then_some(&pairs),
            specification: (kind != 1).then_some(&hoa),
        };
        let settings = Settings {
            keep: if random.one_in(50) { Keep::Bdds } else { Keep::Bits },
            dead_ends_stay: random.one_in(2),
            memory: 1 << 20,
            time_limit: Some(Duration::from_secs(20)),
            ..Settings::default()
        };
        match decide(files.clone(), &settings) {
            Ok(decided) if matches!(decided.found, Found::Unknown(_)) => unknown += 1,
            Ok(_) => answers += 1,
            Err(Error::Input(_, error)) => {
                messages += 1;
                assert!(!error.message.is_empty());
            }
            Err(Error::Internal(wrong)) => panic!("{wrong}: {files:?}"),
        }
    }
    assert!(answers > 1_000 && messages > 1_000, "{answers} answers, {messages} messages, {unknown} without either");
}
