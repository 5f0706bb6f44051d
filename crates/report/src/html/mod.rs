//! The page: one self-contained HTML file that opens from disk without a network. The overview comes first and needs no script;
//! every figure is a static SVG until the reader scrolls near it, then surfaces become interactive Plotly figures. The library
//! is embedded compressed and unpacked by the browser (see `build.rs`).
//!
//! `answer` writes the first screen of a survey, `overview` the summary of any run, both with `tiles`; the rest are documents, which
//! `document` draws with `table`. `links` links figures to their details, `plotly` makes the figure data for the script,
//! `raw` the figures as JSON. Every user string passes `escape` or `json_in_script`.

mod answer;
mod document;
mod links;
mod overview;
mod plotly;
mod raw;
mod table;
mod tiles;

pub use document::document;

use crate::document::{Document, Figure, Target};
use crate::documents::run::{self, RunView, Stage};
use crate::{
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
    run::stages(&views).iter().for_each(|stage| figures(&mut page, stage));
    overview::behind(&mut page, &views);
    let mut rest = Document::default();
    run::background(&mut rest, &views);
    document::write_all(&mut page, &rest.parts);
    raw::write(&mut page, &views);
    page.finish(&views)
}

/// A stage of surveys, or everything.
fn figures(page: &mut HtmlPage, stage: &Stage<'_, '_>) {
    let mut out = Document::default();
    stage.write(&mut out);
    // For a survey, the first screen has the figures of the other stages.
    if page.flat && stage.name.as_deref() != Some("surface") {
        page.fold_part(&stage.heading(), |page| document::write_all(page, &out.parts));
        return;
    }
    if stage.level > 2 {
        page.heading(2, &stage.heading());
    }
    document::write_all(page, &out.parts);
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
    fn heading(&mut self, level: u8, words: &str) {
        let id = self.next_id();
        let _ = writeln!(self.body, "<h{level} id=\"{id}\">{}</h{level}>", escape(words));
        if level == 2 {
            self.contents.push((id, words.to_string()));
        }
    }

    fn next_id(&mut self) -> String {
        self.ids += 1;
        format!("s{}", self.ids)
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

    /// Makes the current position the target of links.
    fn anchor(&mut self, targets: &[Target]) {
        let id = self.next_id();
        let _ = write!(self.body, "<span id=\"{id}\"></span>");
        self.links.register(targets, &id);
    }

    fn picture(&mut self, picture: &svg::Picture, caption: &str) {
        self.figure(&Figure::new(picture.clone(), caption));
    }

    /// A picture, which may be the target of links.
    fn figure(&mut self, figure: &Figure) {
        let id = match figure.targets.as_slice() {
            [] => String::new(),
            targets => {
                let id = self.next_id();
                self.links.register(targets, &id);
                format!(" id=\"{id}\"")
            }
        };
        let _ = writeln!(
            self.body,
            "<figure{id}><div class=\"still\">{}</div>{}</figure>",
            figure.picture.inline(),
            figcaption(&figure.caption)
        );
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
        self.close(&run::title(views), &run::lead(views))
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
            "<span class=\"text\">submission</span>",
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
