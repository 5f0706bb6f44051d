//! The page: one self-contained HTML file that opens from disk without a network. The overview comes first and needs no script;
//! every figure is a static SVG until the reader scrolls near it, then surfaces become interactive Plotly figures. The library
//! is embedded compressed and unpacked by the browser (see `build.rs`).
//!
//! `head` writes the title and the line below it, `answer` the first screen of a survey, `overview` the summary of any run with the list
//! of `trust`, both with `tiles`; `links` links figures to their details. `surfaces` has the surfaces and their ratio, `blocks` the flat
//! figures and tables, `block` the requests that reached the devices, `requests` those of a survey, `operations` the breakdown by
//! operation, `imported` the figures of other programs, `conduct` how phases ran, `counted` the counts of simulations, `ranks` the ranks
//! over time. `document` draws any other report. `plotly` makes the figure data for the
//! script, `raw` the figures as JSON. Every user string passes `escape` or `json_in_script`.

mod answer;
mod block;
mod blocks;
mod conduct;
mod counted;
mod document;
mod environment;
mod head;
mod imported;
mod links;
mod operations;
mod overview;
mod plotly;
mod ranks;
mod raw;
mod requests;
mod stacks;
mod surfaces;
mod table;
mod tiles;
mod trust;

pub use document::document;

use crate::{
    Machine, Story,
    section::{Section, sections},
    survey,
    svg::{self, escape},
};
use fathom_record::{Run, escape_lines};
use std::fmt::Write as _;

/// plotly.js, gzipped at build time.
static PLOTLY_GZ: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/plotly.js.gz"));

/// Minimum width of a wide picture, matching `figure.wide svg` in the style.
const LEAST_WIDE: f64 = 640.0;

/// Makes the page of one run, or of several side by side. For exactly two runs the ratio (second over first) is drawn as well.
#[must_use]
pub fn page(runs: &[&Run]) -> String {
    let views: Vec<RunView<'_>> = runs.iter().map(|run| RunView::of(run)).collect();
    let survey = runs.iter().all(|run| survey::is_survey(run));
    let mut page = HtmlPage { flat: survey, ..HtmlPage::default() };
    overview::write(&mut page, &views);
    figures(&mut page, &views);
    overview::behind(&mut page, &views);
    counted::write(&mut page, &views);
    ranks::write(&mut page, &views);
    environment::write(&mut page, &views);
    raw::write(&mut page, &views);
    page.finish(&views)
}

/// A run with values that are needed repeatedly.
struct RunView<'r> {
    run: &'r Run,
    story: Story,
    machine: Machine,
    sections: Vec<Section<'r>>,
}

impl<'r> RunView<'r> {
    fn of(run: &'r Run) -> Self {
        Self { run, story: Story::of(run), machine: Machine::of(run), sections: sections(run) }
    }
}

/// Sections by stage if the runs have stages, else by kind of figure.
fn figures(page: &mut HtmlPage, views: &[RunView<'_>]) {
    let mut stages: Vec<Option<String>> = Vec::new();
    for section in views.iter().flat_map(|v| &v.sections) {
        if !stages.contains(&section.stage) {
            stages.push(section.stage.clone());
        }
    }
    let staged = stages.iter().any(Option::is_some);
    for stage in stages {
        let group: Vec<Option<&Section<'_>>> =
            views.iter().map(|v| v.sections.iter().find(|s| s.stage == stage)).collect();
        let level = if staged { 3 } else { 2 };
        let heading = stage.as_deref().map_or("Other measurements".to_string(), stage_heading);
        let shown: Vec<(&RunView<'_>, &Section<'_>)> =
            views.iter().zip(group).filter_map(|(v, s)| Some((v, s?))).collect();
        // For a survey, the first screen has the figures of the other stages.
        if page.flat && stage.as_deref() != Some("surface") {
            page.fold_part(&heading, |page| of_stage(page, &shown, level));
            continue;
        }
        if staged {
            page.heading(2, &heading);
        }
        of_stage(page, &shown, level);
    }
}

fn of_stage(page: &mut HtmlPage, shown: &[(&RunView<'_>, &Section<'_>)], level: u8) {
    if let Some(note) = shown.iter().find_map(|(_, section)| section.note.as_ref()) {
        let _ = writeln!(page.body, "<p class=\"note\">{}</p>", escape(note));
    }
    surfaces::write(page, shown, level);
    blocks::streams(page, shown, level);
    blocks::writes(page, shown, level);
    imported::write(page, shown, level);
    operations::write(page, shown, level);
    blocks::latency(page, shown, level);
    if !page.flat {
        blocks::series(page, shown, level);
    }
    page.fold("How it went, and what reached the device", |page| behind(page, shown, level));
}

fn behind(page: &mut HtmlPage, shown: &[(&RunView<'_>, &Section<'_>)], level: u8) {
    conduct::write(page, shown, level);
    if page.flat {
        blocks::series(page, shown, level);
    }
    blocks::device(page, shown, level);
    if page.flat {
        requests::write(page, shown, level);
    } else {
        block::write(page, shown, level);
    }
    stacks::write(page, shown, level);
}

/// The survey's stages as headings; others as they are, with a capital.
fn stage_heading(stage: &str) -> String {
    match stage {
        "latency" | "ladder" => "Latency of single operations".into(),
        "depth" => "More operations in flight".into(),
        "mix" => "Reads and writes mixed".into(),
        "sustained" => "A long write".into(),
        "surface" => "Throughput over file and record size".into(),
        "scaling" => "More streams".into(),
        "sync" => "The cost of being sure (fsync)".into(),
        other => {
            let mut letters = other.chars();
            letters.next().map_or(String::new(), |c| c.to_uppercase().chain(letters).collect())
        }
    }
}

#[derive(Default)]
struct HtmlPage {
    body: String,
    contents: Vec<(String, String)>,
    ids: usize,
    turning: usize,
    /// Link targets of the main figures.
    links: links::Links,
    /// Whether surfaces are drawn only as heat maps.
    flat: bool,
}

impl HtmlPage {
    /// A heading; those of level 2 enter the table of contents.
    fn heading(&mut self, level: u8, words: &str) -> String {
        self.ids += 1;
        let id = format!("s{}", self.ids);
        if level == 2 {
            self.contents.push((id.clone(), words.to_string()));
        }
        let _ = writeln!(self.body, "<h{level} id=\"{id}\">{}</h{level}>", escape(words));
        id
    }

    /// Folds the output of `write`.
    fn fold(&mut self, summary: &str, write: impl FnOnce(&mut Self)) {
        let begin = self.body.len();
        write(self);
        let written = self.body.split_off(begin);
        if !written.is_empty() {
            self.body.push_str(&table::folded(summary, &written));
        }
    }

    /// A folded part with sub-headings, so its summary is a heading too.
    fn fold_part(&mut self, heading: &str, write: impl FnOnce(&mut Self)) {
        let begin = self.body.len();
        write(self);
        let written = self.body.split_off(begin);
        if !written.is_empty() {
            let _ = writeln!(
                self.body,
                "<details><summary><h2>{}</h2></summary>\n{written}</details>",
                escape(heading)
            );
        }
    }

    /// A link target at the current position.
    fn anchor(&mut self) -> String {
        self.ids += 1;
        let id = format!("s{}", self.ids);
        let _ = write!(self.body, "<span id=\"{id}\"></span>");
        id
    }

    fn picture(&mut self, picture: &svg::Picture, caption: &str) {
        let _ = writeln!(
            self.body,
            "<figure><div class=\"still\">{}</div>{}</figure>",
            picture.inline(),
            figcaption(caption)
        );
    }

    /// The same, as a link target.
    fn picture_to_lead_to(&mut self, picture: &svg::Picture, caption: &str) -> String {
        self.ids += 1;
        let id = format!("s{}", self.ids);
        let _ = writeln!(
            self.body,
            "<figure id=\"{id}\"><div class=\"still\">{}</div>{}</figure>",
            picture.inline(),
            figcaption(caption)
        );
        id
    }

    /// The same at full width. A minimum drawing width keeps its letters readable on a phone.
    fn wide_picture(&mut self, picture: &svg::Picture, caption: &str) {
        let class = if picture.width() <= LEAST_WIDE { "wide whole" } else { "wide" };
        let _ = writeln!(
            self.body,
            "<figure class=\"{class}\"><div class=\"still\">{}</div>{}</figure>",
            picture.inline(),
            figcaption(caption)
        );
    }

    /// A surface: the static picture, and the data for the interactive one.
    fn turning(&mut self, picture: &svg::Picture, data: &serde_json::Value, caption: &str) {
        self.turning += 1;
        let _ = writeln!(
            self.body,
            "<figure class=\"turning\"><div class=\"still\">{}</div><div class=\"live\" hidden tabindex=\"0\" role=\"img\" \
             aria-keyshortcuts=\"ArrowLeft ArrowRight ArrowUp ArrowDown\" aria-label=\"{}\"></div>\
             <script type=\"application/json\">{}</script>{}</figure>",
            picture.inline(),
            escape(&format!("{}. {} Arrow keys turn it.", picture.title, picture.description)),
            json_in_script(data),
            figcaption(caption)
        );
    }

    fn finish(self, views: &[RunView<'_>]) -> String {
        let lead = match views {
            [one] => head::lead(one),
            _ => side_by_side(views),
        };
        self.close(&head::title(views), &lead)
    }

    fn close(self, title: &str, lead: &str) -> String {
        let mut contents = String::new();
        for (id, words) in &self.contents {
            let _ = write!(contents, "<li><a href=\"#{id}\">{}</a></li>", escape(words));
        }
        let library = if self.turning > 0 {
            format!("<script type=\"text/plain\" id=\"plotly-gz\">{}</script>\n", base64(PLOTLY_GZ))
        } else {
            String::new()
        };
        let page = format!(
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta name=\"color-scheme\" content=\"light dark\">\n<link rel=\"icon\" href=\"data:,\">\n\
             <title>{title} · fathom</title>\n<style>{page_style}{svg_style}</style>\n</head>\n<body>\n\
             <a class=\"skip\" href=\"#main\">Skip to the figures</a>\n\
             <header><h1>{title}</h1><p class=\"lead\">{lead}</p>\n<nav aria-label=\"Contents\"><ul>{contents}</ul></nav></header>\n\
             <main id=\"main\" tabindex=\"-1\">\n{body}</main>\n<footer><p>Made by fathom {version}. This file needs no network.</p></footer>\n{library}<script>{script}</script>\n</body>\n</html>\n",
            title = escape(title),
            lead = escape(lead),
            page_style = include_str!("style.css"),
            svg_style = svg::STYLE,
            body = self.links.led(&self.body),
            version = env!("CARGO_PKG_VERSION"),
            script = include_str!("page.js"),
        );
        // Embedded JSON may contain any character.
        escape_lines(&page).into_owned()
    }
}

/// The number of runs, with a warning if a simulated one could be taken for measured.
fn side_by_side(views: &[RunView<'_>]) -> String {
    let all = views.len();
    match views.iter().filter(|v| v.run.simulation.is_some()).count() {
        0 => format!("{all} runs side by side"),
        n if n == all => format!("{all} runs side by side, all of them simulated: nothing was measured"),
        n => format!("{all} runs side by side: {} measured, {n} simulated", all - n),
    }
}

fn figcaption(words: &str) -> String {
    if words.is_empty() { String::new() } else { format!("<figcaption>{}</figcaption>", escape(words)) }
}

/// JSON for a script element: nothing in it can end the element or open a comment.
fn json_in_script(value: &serde_json::Value) -> String {
    value.to_string().replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026")
}

/// The label of a regime beside a number.
fn badge(kind: crate::Kind) -> String {
    format!("<span class=\"badge {}\">{}</span>", kind.class(), kind.words())
}

/// Base64 with padding (RFC 4648), the only encoder the page needs.
fn base64(bytes: &[u8]) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let word = (0..3).fold(0u32, |w, i| w << 8 | u32::from(chunk.get(i).copied().unwrap_or(0)));
        for i in 0..4 {
            let digit = ALPHABET[(word >> (18 - 6 * i) & 63) as usize];
            out.push(if i <= chunk.len() { digit as char } else { '=' });
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;

    fn pages() -> Vec<(&'static str, String)> {
        let (auto, changed, throughput) =
            (samples::auto_run(), samples::auto_run_changed(), samples::throughput_run());
        let (interrupted, hostile, survey) =
            (samples::interrupted_run(), samples::hostile_run(), samples::survey_run());
        vec![
            ("auto", page(&[&auto])),
            ("compared", page(&[&auto, &changed])),
            ("throughput", page(&[&throughput])),
            ("interrupted", page(&[&interrupted])),
            ("hostile", page(&[&hostile])),
            ("hostile twice", page(&[&hostile, &hostile])),
            ("survey", page(&[&survey])),
            ("synced", page(&[&samples::synced_run()])),
            ("engine", page(&[&samples::engine_run()])),
            ("filebench", page(&[&samples::filebench_run()])),
            ("filebench twice", page(&[&samples::filebench_run(), &samples::filebench_run_changed()])),
            ("sysbench", page(&[&samples::sysbench_run()])),
            ("observed", page(&[&samples::observed_run()])),
            ("simulated", page(&[&samples::simulated_run()])),
            ("lossy twice", page(&[&samples::lossy_run(), &samples::lossy_run()])),
            ("nothing", page(&[])),
        ]
    }

    #[test]
    fn nobody_takes_a_simulated_run_for_measured() {
        let (real, simulated) = (samples::observed_run(), samples::simulated_run());
        let html = page(&[&real, &simulated]);
        for told in [
            "2 runs side by side: 1 measured, 1 simulated",
            "<h3>random read, another disk (simulated)</h3>",
            "The first run was measured and the second is simulated: ratios say how far the model is off.",
            "Where requests lay over time, simulated",
            "<p class=\"whose\">random read, another disk (simulated)</p>",
        ] {
            assert!(html.contains(told), "{told} is missing");
        }
        assert_eq!(html.matches("role=\"note\">This run is simulated, nothing was measured").count(), 1);
        let twice = page(&[&simulated, &simulated]);
        assert!(twice.contains("all of them simulated: nothing was measured"));
        assert!(!page(&[&real]).contains("simulated"));
    }

    /// The page without the compressed library.
    fn without_library(html: &str) -> String {
        let Some(start) = html.find("id=\"plotly-gz\">") else { return html.to_string() };
        let end = start + html[start..].find("</script>").expect("the element ends");
        format!("{}{}", &html[..start], &html[end..])
    }

    #[test]
    fn a_page_stands_alone() {
        for (name, html) in pages() {
            assert!(html.len() < 5_000_000, "{name}: {} bytes", html.len());
            assert_eq!(html.matches("<h1").count(), 1, "{name}");
            let text = without_library(&html);
            for forbidden in ["http://", "https://", "src=", "@import", "url(", "//cdn"] {
                assert!(!text.contains(forbidden), "{name} holds {forbidden}");
            }
        }
    }

    #[test]
    fn tables_have_captions_and_row_heads() {
        for (name, html) in pages() {
            assert_eq!(html.matches("<table").count(), html.matches("<caption").count(), "{name}");
            for table in html.split("<table").skip(1) {
                let table = &table[..table.find("</table>").expect("a table ends")];
                assert!(table.contains("scope=\"col\""), "{name}: {table:.200}");
                assert!(table.contains("scope=\"row\""), "{name}: {table:.200}");
            }
        }
    }

    #[test]
    fn figures_have_words() {
        for (name, html) in pages() {
            let figures = html.matches("role=\"img\"").count();
            assert_eq!(html.matches("role=\"img\" aria-").count(), figures, "{name}");
        }
    }

    #[test]
    fn user_strings_stay_text() {
        let html = page(&[&samples::hostile_run()]);
        let text = without_library(&html);
        assert!(!text.contains("<b>\"'"), "a name became an element");
        assert!(!text.contains('\u{1b}'), "a control character came through");
        let ours = text.matches("<script").count();
        assert_eq!(text.matches("</script").count(), ours, "a name ended a script");
        assert!(text.contains("&lt;/script&gt;&lt;b&gt;"), "the name is still shown");
    }

    #[test]
    fn writes_have_three_figures_and_the_fsyncs_is_the_headline() {
        let html = page(&[&samples::synced_run()]);
        assert!(html.contains("Writes: to the last write, to the fsync, to the close"));
        assert!(
            html.contains("<td><strong>64.0 MiB/s</strong></td><td>128 MiB/s</td><td>64.0 MiB/s</td>"),
            "{html}"
        );
        assert!(html.contains("<td>no fsync</td>") && html.contains("<td>while writing</td>"));
        assert!(html.contains("\"bytes_per_s_to\":[134217728.0,67108864.0,67108864.0]"));
        let mut auto = samples::auto_run();
        assert!(page(&[&auto]).contains("Surfaces: no fsync."));
        for phase in &mut auto.phases {
            let marks = &mut phase.repetitions[0].workers[0].marks;
            marks.fsync_ns = 2 * marks.last_op_ns;
        }
        let html = page(&[&auto]);
        assert!(html.contains("in records of 1 MiB") && !html.contains("Surfaces: no fsync."));
    }

    #[test]
    fn what_the_engine_tells_is_on_the_page() {
        let html = page(&[&samples::engine_run()]);
        for told in [
            "What the result is worth, what the engine tells: 9 good, 4 doubtful",
            "How it went",
            "2.00 s (14 000 operations)",
            "<td>reached</td>",
            "the machine&#39;s</td>",
            "response time",
            "<td>submission</td>",
            "p99 latency over time",
        ] {
            assert!(html.contains(told), "{told} is missing");
        }
        let raw = &html[html.find("Raw figures").expect("raw")..];
        assert!(raw.contains("\"response_latency\"") && raw.contains("\"trust\":"), "{raw:.600}");
    }

    #[test]
    fn a_cache_number_carries_its_badge() {
        let html = page(&[&samples::auto_run()]);
        assert!(html.contains("badge r-cache"));
        assert!(html.contains("not from the disk"));
    }

    #[test]
    fn an_interrupted_run_is_said_to_be_one() {
        let html = page(&[&samples::interrupted_run()]);
        assert!(html.contains("A signal interrupted the run"));
        assert!(!html.contains("id=\"plotly-gz\""), "no figure, no library");
    }

    #[test]
    fn two_runs_have_a_ratio() {
        let html = page(&[&samples::auto_run(), &samples::auto_run_changed()]);
        assert!(html.contains("ratio"));
        assert!(html.contains("single runs"));
        assert_eq!(html.matches("class=\"tiles\"").count(), 2, "the answer of each");
    }

    #[test]
    fn base64_by_the_book() {
        for (plain, coded) in
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")]
        {
            assert_eq!(base64(plain.as_bytes()), coded);
        }
    }
}
