//! Links from a main figure to its details: its surface, distribution, course over time, bytes and requests at the device, the
//! environment and the raw data. The overview is written before its link targets, so it leaves a placeholder that is replaced
//! when the page is closed. Targets that a page lacks get no link.

use crate::document::{Link, Target};
use crate::{printable::clean, svg::escape};
use std::collections::BTreeMap;
use std::fmt::Write as _;

fn words(link: Link) -> &'static str {
    match link {
        Link::Surface => "surface",
        Link::Distribution => "distribution",
        Link::OverTime => "over time",
        Link::Device => "device",
        Link::Requests => "requests",
        Link::Environment => "environment",
        Link::Raw => "raw",
    }
}

/// A placeholder begins and ends with control characters that `escape` removes from user text.
const OPENS: char = '\u{2}';
const CLOSES: char = '\u{3}';

/// Link targets found so far, and placeholders given out.
#[derive(Debug, Default)]
pub(super) struct Links {
    /// By run, title and kind: the first target. An empty title matches all figures of the run.
    places: BTreeMap<(String, String, Link), String>,
    placeholders: Vec<(String, String)>,
}

impl Links {
    /// Registers the targets at an element of the page.
    pub(super) fn register(&mut self, targets: &[Target], id: &str) {
        for Target { link, run, title } in targets {
            self.places.entry((run.clone(), title.clone(), *link)).or_insert_with(|| id.to_owned());
        }
    }

    /// A placeholder for the links of a figure until the page is closed.
    pub(super) fn placeholder(&mut self, run: &str, title: &str) -> String {
        self.placeholders.push((run.to_string(), title.to_string()));
        format!("{OPENS}{}{CLOSES}", self.placeholders.len() - 1)
    }

    /// Replaces the placeholders in the body by links.
    pub(super) fn led(&self, body: &str) -> String {
        let mut out = String::with_capacity(body.len());
        let mut parts = body.split(OPENS);
        out.push_str(parts.next().unwrap_or_default());
        for part in parts {
            let Some((number, rest)) = part.split_once(CLOSES) else {
                out.push_str(part);
                continue;
            };
            if let Some((run, title)) = number.parse().ok().and_then(|n: usize| self.placeholders.get(n)) {
                out.push_str(&self.links(run, title));
            }
            out.push_str(rest);
        }
        out
    }

    fn links(&self, run: &str, title: &str) -> String {
        let mut found: BTreeMap<Link, &str> = BTreeMap::new();
        for ((of, what, link), id) in &self.places {
            if of == run && (what.is_empty() || what == title) {
                found.insert(*link, id);
            }
        }
        let mut html = String::from("<span class=\"leads\">");
        for (link, id) in found {
            let words = words(link);
            let name = escape(&format!("{words}: {}", clean(title))).to_string();
            let _ = write!(html, "<a href=\"#{id}\" aria-label=\"{name}\">{words}</a> ");
        }
        html + "</span>"
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{html::page, samples, section::full_title};

    /// The links of one figure: words and targets.
    fn links(html: &str, name: &str) -> Vec<(String, String)> {
        let row = html
            .split("<tr>")
            .find(|r| r.contains(&format!("<th scope=\"row\">{name}</th>")) && r.contains("class=\"leads\""));
        let row = row.unwrap_or_else(|| panic!("{name} has no links"));
        let link = |part: &str| {
            let (id, rest) = part.split_once('"').expect("a link");
            let words = rest.split_once('>').expect("its words").1.split('<').next().unwrap_or_default();
            (words.to_string(), id.to_string())
        };
        row.split("href=\"#").skip(1).map(link).collect()
    }

    #[test]
    fn a_figure_leads_to_everything_behind_it() {
        let run = samples::observed_run();
        let html = page(&[&run]);
        let title = full_title(&run.phases[1]);
        let found = links(&html, &title);
        let words: Vec<&str> = found.iter().map(|l| l.0.as_str()).collect();
        for wanted in ["distribution", "device", "requests", "raw"] {
            assert!(words.contains(&wanted), "{title}: {words:?}");
        }
        for (words, id) in found {
            assert_eq!(html.matches(&format!("id=\"{id}\"")).count(), 1, "{words} leads to {id}");
        }
    }

    #[test]
    fn cells_lead_to_their_surface() {
        let html = page(&[&samples::auto_run()]);
        let words: Vec<String> = links(&html, "write").into_iter().map(|l| l.0).collect();
        assert!(words.contains(&"surface".into()) && words.contains(&"device".into()), "{words:?}");
    }

    #[test]
    fn every_promise_is_redeemed() {
        for run in [
            samples::survey_run(),
            samples::hostile_run(),
            samples::simulated_run(),
            samples::interrupted_run(),
        ] {
            let html = page(&[&run, &run]);
            assert!(!html.contains([OPENS, CLOSES]));
        }
    }

    #[test]
    fn nothing_leads_to_what_is_not_there() {
        let mut links = Links::default();
        let placeholder = links.placeholder("r", "write");
        links.register(&[Target::figure(Link::OverTime, "r", "write")], "s7");
        links.register(&[Target::figure(Link::OverTime, "r", "write")], "s8");
        links.register(&[Target::figure(Link::Surface, "another", "write")], "s9");
        let html = links.led(&placeholder);
        assert_eq!(
            html,
            "<span class=\"leads\"><a href=\"#s7\" aria-label=\"over time: write\">over time</a> </span>"
        );
    }
}
