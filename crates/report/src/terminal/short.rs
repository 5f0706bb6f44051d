//! A survey's short answer, for a terminal of 80 columns by 24 lines: what it measured, what that is good for, and what to know
//! about it.

use super::{NARROWEST, Paint, Style, TerminalPage, cut, plain_table, right_aligned, wrapped};
use crate::answer::{Answer, AnswerRow};
use crate::survey::{Bounds, Grade, JudgedCriterion, UseVerdict};
use crate::{printable::clean, units};

/// Fits a terminal of 24 lines together with the prompt and the command's message about its files.
pub const LINES: usize = 22;
/// Width of the widest line name and a blank.
const NAME: usize = 16;
/// Width of the widest grade with its question mark, and a blank.
const GRADE: usize = 6;
/// Minimum width for all columns of the table of figures.
const WIDE: usize = 76;
/// Minimum width for the median and p99 columns.
const MIDDLE: usize = 58;
/// Width of the column of rates.
const PER_S: usize = 13;

/// Maximum number of lines of the remedy.
const MOST_OF_REMEDY: usize = 3;

/// Lays an answer out for a terminal of `width` columns; `after` are closing lines with the next commands.
#[must_use]
pub fn short(answer: &Answer, after: &[String], width: usize, colour: bool) -> String {
    let layout = width.max(NARROWEST);
    let mut page = TerminalPage { lines: Vec::new(), width, paint: Paint { on: colour } };
    page.line(Style::Bold, &cut(&clean(&answer.place.join("   ")), layout));
    let not_shown = if answer.remedy.is_some() { answer.passing_limits.as_slice() } else { &[] };
    let others: Vec<&str> = answer.limits.iter().skip(1).chain(not_shown).map(|limit| limit.name).collect();
    let more = match others.as_slice() {
        [] => String::new(),
        [one] => format!(" (other limits: {one})"),
        [one, rest @ ..] => format!(" (other limits: {one}, and {} more on the page)", rest.len()),
    };
    if let Some(limit) = answer.limits.first() {
        let words = whole_clauses(&clean(&limit.words), layout, 2, &more);
        named_line(&mut page, Style::Bad, "", &words, layout, 2);
    }
    for words in answer.first.iter().take(2) {
        named_line(&mut page, Style::Warn, "", &whole_clauses(&clean(words), layout, 2, ""), layout, 2);
    }
    let limits = match (&answer.remedy, answer.passing_limits.as_slice()) {
        (Some(remedy), _) => ("Remedy", vec![remedy.clone()]),
        (None, []) => ("Limits", answer.other_limits().into_iter().collect()),
        (None, limits) => ("Limits", limits.iter().map(|limit| limit.words.clone()).collect()),
    };
    let doubts = match answer.doubts.as_slice() {
        [] => vec![answer.doubts_in_words()],
        doubts => doubts.to_vec(),
    };
    let mut named = vec![limits, ("Doubts", doubts), ("Changes", answer.since.iter().cloned().collect())];
    named.retain(|(_, parts)| !parts.is_empty());
    // The remedy gets the lines it needs, up to three; the head of the table and each other named line take a line.
    let text_width = layout.saturating_sub(NAME + 1).max(8);
    let wraps = |words: &str| wrapped(&clean(words), text_width).len() > 1;
    let lines_of_remedy = |words: &String| {
        let words = clean(words);
        let fits = |lines: &usize| {
            wrapped(&whole_clauses(&words, text_width, *lines, ""), text_width).len() <= *lines
        };
        match wrapped(&words, text_width).len() {
            whole @ 1..MOST_OF_REMEDY => whole,
            _ => (1..MOST_OF_REMEDY).find(fits).unwrap_or(MOST_OF_REMEDY),
        }
    };
    let long_remedy = answer.remedy.as_ref().map_or(0, |words| lines_of_remedy(words) - 1);
    let others = answer.more.len() + answer.uses.len() + named.len() + after.len();
    let needed = page.lines.len() + 1 + others + long_remedy;
    let shown = answer.rows.len().min(LINES.saturating_sub(needed));
    let mut spare = LINES.saturating_sub(needed + shown);
    let mut one_more = |wanted: bool| {
        let given = wanted && spare > 0;
        spare -= usize::from(given);
        given
    };
    // Figures get their full text first, then changes, doubts and limits; the time and blank lines come last.
    let more_lines: Vec<usize> =
        answer.more.iter().map(|(_, words)| 1 + usize::from(one_more(wraps(words)))).collect();
    let mut lines: Vec<usize> = named
        .iter()
        .enumerate()
        .rev()
        .map(|(i, (_, parts))| match i {
            0 if answer.remedy.is_some() => 1 + long_remedy,
            _ => 1 + usize::from(one_more(wraps(&parts.join("; ")))),
        })
        .collect();
    lines.reverse();
    let time = answer.unlimited_time();
    if one_more(!time.is_empty()) {
        lines.insert(1, 1 + usize::from(one_more(wraps(&time.join("; ")))));
        named.insert(1, ("Time spent", time.to_vec()));
    }
    let [blank_before_rows, blank_before_uses, blank_after_uses] = [(); 3].map(|()| one_more(true));

    if blank_before_rows {
        page.line(Style::Plain, "");
    }
    rows(&mut page, &answer.rows[..shown], layout);
    for ((name, words), lines) in answer.more.iter().zip(more_lines) {
        named_line(&mut page, Style::Plain, name, words, layout, lines);
    }
    if blank_before_uses {
        page.line(Style::Plain, "");
    }
    for verdict in &answer.uses {
        page.line(style(verdict.grade), &good_for(verdict, layout));
    }
    if blank_after_uses {
        page.line(Style::Plain, "");
    }
    for ((name, parts), lines) in named.iter().zip(lines) {
        named_line(&mut page, Style::Plain, name, &whole_parts(parts, layout, lines), layout, lines);
    }
    for line in after {
        page.line(Style::Dim, &cut(line, layout));
    }
    page.finish()
}

/// As many of these parts as fit on `most` lines behind a name, and how many others there are.
fn whole_parts(parts: &[String], layout: usize, most: usize) -> String {
    let width = layout.saturating_sub(NAME + 1).max(8);
    let first = |n: usize| {
        let others = if n < parts.len() { format!("; and {} more", parts.len() - n) } else { String::new() };
        parts[..n].join("; ") + &others
    };
    let fits = |text: &String| wrapped(&clean(text), width).len() <= most;
    let more = if parts.len() > 1 { format!("; and {} more", parts.len() - 1) } else { String::new() };
    let brief = || Some(without_figures(&parts[0])? + &more);
    let shorter = || whole_clauses(&clean(&parts[0]), width, most, &more);
    (1..=parts.len()).rev().map(first).find(fits).or_else(|| brief().filter(fits)).unwrap_or_else(shorter)
}

/// A doubt without the figures that it concerns.
fn without_figures(doubt: &str) -> Option<String> {
    let (doubt, _) = doubt.strip_suffix(')')?.rsplit_once(", with ")?;
    Some(format!("{doubt})"))
}

/// As many whole clauses of a sentence as fit on `most` lines before `end`; all of it if only a few words do.
fn whole_clauses(words: &str, width: usize, most: usize, end: &str) -> String {
    let fits = |text: &String| wrapped(text, width.max(8)).len() <= most;
    let whole = format!("{words}{end}");
    // An explanation after a colon may be left out, but not what an introduction announces.
    let least = |end: &str| match end {
        ":" => width * 3 / 4,
        ";" => width / 2,
        _ => width / 4,
    };
    let clauses = words.rmatch_indices(['.', ';', ':']);
    let clauses =
        clauses.filter(|(at, end)| words[at + 1..].starts_with(' ') && *at > least(end)).map(|(at, _)| at);
    let shorter = clauses.map(|at| format!("{}.{end}", &words[..at])).find(fits);
    if fits(&whole) { whole } else { shorter.unwrap_or(whole) }
}

/// A named line, on at most `most` terminal lines.
fn named_line(page: &mut TerminalPage, style: Style, name: &str, words: &str, layout: usize, most: usize) {
    let lead = if name.is_empty() { String::new() } else { format!(" {name:<NAME$}") };
    let lines = wrapped(&clean(words), layout.saturating_sub(lead.len()).max(8));
    let indent = " ".repeat(lead.len());
    for i in 0..lines.len().min(most) {
        let lead = if i == 0 { &lead } else { &indent };
        // Text that does not fit is cut off at the end of the last line.
        let text = if i + 1 == most { lines[i..].join(" ") } else { lines[i].clone() };
        page.line(style, &cut(&format!("{lead}{text}"), layout));
    }
}

fn rows(page: &mut TerminalPage, rows: &[AnswerRow], layout: usize) {
    if rows.is_empty() {
        return;
    }
    let (columns, name) = match layout {
        WIDE.. => (6, layout),
        MIDDLE.. => (4, layout),
        _ => (2, layout.saturating_sub(PER_S)),
    };
    let mut table = plain_table(layout);
    let head = cut("4 KiB at random places", name);
    let heads = [head.as_str(), "per s", "p50", "p99", "p99.9", "served by"];
    table.set_header(heads.into_iter().take(columns));
    for row in rows {
        let time = |ns: Option<f64>| ns.map_or("-".to_string(), units::time_ns);
        let [p50, p99, p999] = row.ns.map(time);
        let per_s = units::count(row.per_s.round() as u64);
        let cells = [cut(&clean(&row.what), name), per_s, p50, p99, p999, row.served.to_string()];
        table.add_row(cells.into_iter().take(columns));
    }
    right_aligned(&mut table, 1..=columns.min(5) - 1);
    page.table_without_blank(&table);
}

fn style(grade: Grade) -> Style {
    match grade {
        Grade::Good | Grade::Unknown => Style::Plain,
        Grade::Fair => Style::Warn,
        Grade::Poor => Style::Bad,
    }
}

/// A use on one line: its grade, and its figures as far as they fit; the deciding one comes first, with its threshold.
fn good_for(verdict: &UseVerdict, layout: usize) -> String {
    let figures = verdict.judged();
    let measured = !figures.is_empty();
    let word = match verdict.grade {
        Grade::Unknown => "?".to_owned(),
        // What it depends on follows.
        grade if !verdict.open.is_empty() => format!("{}?", grade.word()),
        grade => grade.word().to_owned(),
    };
    let mut line = format!(" {:<NAME$}{word:<GRADE$}", verdict.of);
    if let Some(bounds) = verdict.bounds {
        line += &format!("{}: ", bounds.words());
    }
    let mut figures = figures.into_iter().peekable();
    // A note explains the grade, unless a figure of the storage's own is as bad as what a cache served.
    let by_figure =
        verdict.bounds == Some(Bounds::OrWorse) && figures.peek().is_some_and(|f| f.grade == verdict.grade);
    let note = verdict.note.as_deref().filter(|_| !by_figure);
    line += note.unwrap_or_default();
    let fits = |line: &str| line.chars().count() <= layout;
    let conditions: Vec<&str> = verdict.open.iter().map(|open| open.brief()).collect();
    let condition = match conditions.as_slice() {
        [] => String::new(),
        several => format!(", if {}", several.join(" and ")),
    };
    if let Some(deciding) = figures.next_if(|_| note.is_none()) {
        let condition = if deciding.by.figure.contains("read") {
            condition
        } else {
            condition.replace("not cached", "reads are not cached")
        };
        let with = format!("{line}{}{condition}", deciding.words_with_threshold());
        // What a grade depends on matters more than its threshold.
        line = if fits(&with) { with } else { format!("{line}{}{condition}", deciding.words()) };
    } else {
        let with = format!("{line}{condition}");
        // "Or worse" and the clause before say what the last clause says.
        let brief = line.rsplit_once(", ").filter(|_| verdict.bounds.is_some());
        let brief = brief.map(|(line, _)| format!("{line}{condition}"));
        line = if fits(&with) { with } else { brief.unwrap_or(with) };
    }
    if let Some(cached) = verdict.note.as_ref().filter(|_| by_figure) {
        let longer = format!("{line}, {cached}");
        line = if fits(&longer) { longer } else { line };
    }
    for words in figures.map(JudgedCriterion::words) {
        let longer = format!("{line}, {words}");
        if fits(&longer) {
            line = longer;
        }
    }
    if !measured && verdict.note.is_none() {
        line += "not measured";
    }
    cut(&line, layout)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answer::Limit;
    use crate::survey::{CRITERIA, Open};

    fn uses() -> Vec<UseVerdict> {
        let values = [5.31e6, 374.0, 156.0, 5.31e6, 7.08e8, 1.67e9, 7370.0, 9780.0, 78_481.0, 148_000.0];
        let figure = |i: usize| {
            let by = &CRITERIA[i];
            let fair = if by.is_time() { values[i] > by.good } else { values[i] < by.good };
            JudgedCriterion {
                by,
                value: Some(values[i]),
                grade: if fair { Grade::Fair } else { Grade::Good },
            }
        };
        (0..CRITERIA.len())
            .step_by(2)
            .map(|i| {
                let figures = vec![figure(i), figure(i + 1)];
                let grade = figures[0].grade.max(figures[1].grade);
                UseVerdict {
                    of: CRITERIA[i].of,
                    grade,
                    bounds: None,
                    note: None,
                    open: Vec::new(),
                    sentence: String::new(),
                    figures,
                }
            })
            .collect()
    }

    fn row(what: &str, per_s: f64, us: [f64; 3], served: &'static str) -> AnswerRow {
        AnswerRow { what: what.into(), brief: String::new(), per_s, ns: us.map(|us| Some(us * 1e3)), served }
    }

    fn limit(words: &str) -> Limit {
        Limit { name: "a limit", words: words.into() }
    }

    fn answer() -> Answer {
        Answer {
            place: ["/srv/data", "ext4 on vda, 252 GiB", "virtual disk"].map(String::from).to_vec(),
            first: Vec::new(),
            tiles: Vec::new(),
            rows: vec![
                row("fsync after a 4 KiB write", 374.0, [3160.0, 5310.0, 6120.0], "device"),
                row("random read, 1 in flight", 9455.0, [85.5, 165.0, 301.0], "device"),
                row("random read, 64 in flight", 78_481.0, [790.0, 1_210.0, 2_900.0], "device"),
                row("random write, 1 in flight", 8419.0, [77.3, 905.0, 1_400.0], "device"),
                row("random read, cached", 950_071.0, [0.764, 1.37, 2.2], "page cache"),
            ],
            more: vec![
                ("streams", "cold read 675 MiB/s (256 MiB file), long write 1.91 GiB/s".into()),
                ("4 KiB files", "7370/s created, written, deleted, 156/s with an fsync each".into()),
            ],
            uses: uses(),
            doubts: Vec::new(),
            limits: Vec::new(),
            remedy: None,
            passing_limits: Vec::new(),
            time: Vec::new(),
            device_known: true,
            since: None,
        }
    }

    fn after() -> Vec<String> {
        vec![
            "Report fathom-x.html".into(),
            "More: fathom why 20261127T212028 (causes), fathom show 20261127T212028 (all)".into(),
        ]
    }

    #[test]
    fn a_survey_fits_a_terminal_of_24_lines() {
        let text = short(&answer(), &after(), 80, false);
        insta::assert_snapshot!(text);
        assert!(text.lines().count() <= LINES, "{}", text.lines().count());
    }

    #[test]
    fn with_everything_to_be_told_it_fits_too() {
        let long = "other words that say what is to be said of this and of that, at some length ".repeat(4);
        let worst = Answer {
            first: vec![long.clone(); 3],
            doubts: vec![long.clone(); 3],
            limits: vec![limit(&format!("Limited in 12 of 63 tests: {long}")); 2],
            remedy: Some(format!(
                "Raise the limit in /sys/fs/cgroup/system.slice/docker-{}.scope/io.max. Or run in another control group.",
                "0123456789abcdef".repeat(4)
            )),
            since: Some(long),
            ..answer()
        };
        for width in [80, 76, 60, 58, 57, 40, 24, 200] {
            let text = short(&worst, &after(), width, false);
            assert!(text.lines().all(|line| line.chars().count() <= width), "{text}");
            assert!(text.lines().count() <= LINES, "{width}: {text}");
            for words in ["Limited in 12", "Remedy", "Doubts", "Changes", "Report fathom"] {
                assert!(text.contains(words), "{words} at {width}: {text}");
            }
        }
    }

    #[test]
    fn a_narrow_terminal_keeps_the_limit_and_the_change() {
        let words = "Limited in 16 of 108 tests: A control group limits writes of loop0 to 400 a second, and reads of loop0 to 400 a second.";
        let since = "since 27 Nov 21:26: fsyncs 18x faster; random reads -4 %; cold read -25 %; one run each";
        let answer = Answer { limits: vec![limit(words)], since: Some(since.into()), ..answer() };
        for width in [40, 50, 60, 80] {
            let text = short(&answer, &[], width, false);
            let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(flat.contains("A control group") && flat.contains("fsyncs"), "{width}: {text}");
        }
    }

    #[test]
    fn a_second_survey_says_what_changed_to_its_end() {
        let since = "since 27 Nov 21:26: fsyncs +694 %; random reads -4 %; cold read -25 %; one run each";
        let second = Answer { since: Some(since.into()), ..answer() };
        let text = short(&second, &after(), 80, false);
        insta::assert_snapshot!(text);
        assert!(text.contains("one run each"), "{text}");
        assert!(text.lines().count() <= LINES, "{text}");
    }

    #[test]
    fn other_limits_are_named() {
        let words = |name| Limit { name, words: format!("Limited in 9 of 80 tests: A {name} holds reads.") };
        let [first, second, third] = ["control group", "small journal", "tracer"].map(words);
        let held = Answer {
            limits: vec![first.clone(), second.clone()],
            passing_limits: vec![third.clone()],
            ..answer()
        };
        let text = short(&held, &[], 80, false);
        let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(flat.contains("(other limits: small journal) "), "{text}");
        assert!(text.contains(" Limits          Limited in 9"), "{text}");
        // A remedy takes the place of the line with those that passed.
        let mended = Answer { remedy: Some("Raise it.".into()), ..held };
        let text = short(&mended, &[], 80, false);
        let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(flat.contains("(other limits: small journal, and 1 more on the page)"), "{text}");
    }

    #[test]
    fn what_a_grade_depends_on_is_always_shown() {
        let of = |open: &[Open]| {
            let images = uses().pop().expect("VM images");
            good_for(&UseVerdict { open: open.to_vec(), ..images }, 80)
        };
        assert_eq!(of(&[]), " VM images       good  best random reads 78 481/s (good ≥ 20 000/s)");
        let use_ = " VM images       good? best random reads 78 481/s";
        assert_eq!(of(&[Open::Durability]), format!("{use_} (good ≥ 20 000/s), if durable"));
        assert_eq!(of(&[Open::Source, Open::Durability]), format!("{use_}, if not cached and durable"));
        let images = uses().pop().expect("VM images");
        let note = Some("best random reads 15 000/s, not from storage".to_owned());
        let cached = UseVerdict {
            grade: Grade::Fair,
            bounds: Some(Bounds::OrWorse),
            note,
            open: vec![Open::Durability],
            ..images
        };
        let line =
            " VM images       fair? or worse: best random reads 15 000/s, not from storage, if durable";
        assert_eq!(good_for(&cached, 100), line);
        assert_eq!(good_for(&cached, 80), line.replace(", not from storage", ""));
        let note = Some("best random reads 8369/s without a cache, 49 667/s partly cached".to_owned());
        let at_least = UseVerdict { bounds: Some(Bounds::OrBetter), note, open: vec![], ..cached };
        let line = " VM images       fair  or better: best random reads 8369/s without a cache, 49 667/s partly cached";
        assert_eq!(good_for(&at_least, 100), line);
        assert_eq!(good_for(&at_least, 80), line.replace(", 49 667/s partly cached", ""));
        let note = Some("best random reads 1500/s, or 265 000/s not from storage".to_owned());
        let unknown = UseVerdict { grade: Grade::Unknown, bounds: None, note, ..at_least };
        let line = " VM images       ?     best random reads 1500/s, or 265 000/s not from storage";
        assert_eq!(good_for(&unknown, 80), line);
        let memory = UseVerdict {
            grade: Grade::Poor,
            note: Some("nothing outlives a power cut".into()),
            ..uses().remove(0)
        };
        assert!(good_for(&memory, 80).starts_with(" database log    poor  nothing outlives a power cut"));
    }

    #[test]
    fn doubts_that_do_not_fit_are_counted() {
        let doubt = |n: u32| format!("other programs used the device while it was measured ({n} of 80)");
        let doubtful = Answer { doubts: vec![doubt(11), doubt(12), doubt(13)], ..answer() };
        let text = short(&doubtful, &[], 80, false);
        let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(flat.ends_with("(11 of 80); and 2 more"), "{text}");
    }

    #[test]
    fn a_doubt_without_room_loses_its_figures_first() {
        let doubt = "repetitions differ by more than 20 % (28 of 161, with fsync, fsync x8 and 4 more)";
        let parts = [doubt, "other programs used the CPU (1 of 161)"].map(String::from);
        assert_eq!(
            whole_parts(&parts, 80, 1),
            "repetitions differ by more than 20 % (28 of 161); and 1 more"
        );
        assert_eq!(whole_parts(&parts, 80, 2), parts.join("; "));
    }

    #[test]
    fn a_long_line_of_streams_is_not_cut() {
        let words = "cold read 531 MiB/s (page cache, 32 MiB file), long write to the page cache 1.52 GiB/s";
        let text = short(&Answer { more: vec![("streams", words.into())], ..answer() }, &after(), 80, false);
        assert!(text.contains("1.52 GiB/s\n"), "{text}");
    }

    #[test]
    fn unmeasured_values_have_no_line() {
        let answer = Answer { rows: Vec::new(), more: Vec::new(), ..answer() };
        let text = short(&answer, &[], 80, false);
        assert!(!text.contains("per s") && !text.contains("streams"), "{text}");
    }

    #[test]
    fn a_sentence_that_is_too_long_ends_with_a_clause() {
        let words = "Limited in 8 of 154 tests: The file behind loop1, /srv/images/xfs.img, had holes: the file system below allocated 32 MiB for it while loop1 wrote 32 MiB and more.";
        let short = "Limited in 8 of 154 tests: The file behind loop1, /srv/images/xfs.img, had holes.";
        assert_eq!(whole_clauses(words, 80, 2, ""), short);
        assert_eq!(whole_clauses(words, 80, 2, " (and 1 more)"), format!("{short} (and 1 more)"));
        assert_eq!(whole_clauses(words, 120, 2, ""), words);
        let one = "x".repeat(200);
        assert_eq!(whole_clauses(&one, 80, 2, ""), one, "it is cut elsewhere");
    }

    #[test]
    fn the_time_is_shown_where_no_limit_was_found() {
        let time = ["fsync: vda 62 %, kernel 37 %", "read: vda 57 %, kernel 41 %"];
        let timed = Answer { time: time.map(String::from).to_vec(), ..answer() };
        let text = short(&timed, &[], 80, false);
        assert!(text.contains(" Time spent      fsync: vda 62 %, kernel 37 %; read:"), "{text}");
        let limited = Answer { passing_limits: vec![limit("sparse image")], ..timed };
        assert!(!short(&limited, &[], 80, false).contains("Time spent"));
    }

    #[test]
    fn a_limit_with_a_long_tail_keeps_its_head() {
        let words = "Limited in 109 of 109 tests: A control group limits writes of loop0 to 400 a second, and they ran at 396 a second: the limit holds them back. It held back at least these figures: fsync, fsync x8, read, read x128, write, cold read, long write, 4 KiB files and 4 KiB files with fsync.";
        let held = Answer { limits: vec![limit(words)], ..answer() };
        let text = short(&held, &after(), 80, false);
        let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(flat.contains("and they ran at 396 a second: the limit holds them back. 4 KiB"), "{text}");
    }

    #[test]
    fn a_remedy_on_two_lines_is_whole() {
        let remedy =
            "Raise the limit in /sys/fs/cgroup/system.slice/io.max. Or run in another control group.";
        let held = Answer { limits: vec![limit("It is held.")], remedy: Some(remedy.into()), ..answer() };
        let text = short(&held, &after(), 80, false);
        let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(flat.contains(remedy) && text.lines().count() <= LINES, "{text}");
    }

    #[test]
    fn the_remedy_of_a_limit_has_a_line() {
        let remedy = "Fill the holes: `fallocate -l 6442450944 /srv/vm.img`. The data stay, and the first write to each new block may still cost more than the next. Or write the files once before.";
        let limits = vec![limit("Limited in 9 of 80 tests: The file behind loop1 had holes.")];
        let held = Answer {
            limits,
            remedy: Some(remedy.into()),
            passing_limits: vec![limit("mounted with discard (1 of 80)")],
            ..answer()
        };
        let text = short(&held, &[], 80, false);
        let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let words = "Remedy Fill the holes: `fallocate -l 6442450944 /srv/vm.img`. Doubts";
        assert!(flat.contains(words) && flat.contains("(other limits: a limit)"), "{text}");
    }
}
