//! The screen: rates now and over time, a latency strip (one column per interval, one row per power of two), request
//! sizes, queue depth, merges, and the top issuers. Fits 80 columns by 24 rows and uses more if available.

use super::history::{DirectionFigures, Figures, Moment, WatchHistory};
use fathom_record::Histogram;
use fathom_record::block::analysis::classes;
use fathom_report::units;
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Borders, Paragraph, Sparkline};

/// What the user chose to see.
#[derive(Clone, Copy, Debug, Default)]
pub struct View {
    pub device: usize,
    pub paused: bool,
    pub colour: bool,
}

/// The latency strip covers powers of two from 16 us to 1 s and more.
const LOWEST_EXPONENT: u32 = 14;
const HIGHEST_EXPONENT: u32 = 30;

pub fn all(frame: &mut Frame, history: &WatchHistory, view: &View) {
    let [head, rates, strip, lower, foot] = Layout::vertical([
        Constraint::Length(1),
        Constraint::Length(6),
        Constraint::Min(6),
        Constraint::Length(8),
        Constraint::Length(1),
    ])
    .areas(frame.area());
    let name = history.names.get(view.device).map_or("", String::as_str);
    let Some(latest) = history.latest() else {
        frame.render_widget(Paragraph::new(format!("{name}: watching ...")), head);
        return;
    };
    let figures = latest.figures(view.device);
    frame.render_widget(Paragraph::new(title(name, latest, &figures, view)), head);
    draw_rates(frame, rates, history, view, &figures);
    draw_strip(frame, strip, history, view);
    let [sizes, issuers] =
        Layout::horizontal([Constraint::Percentage(50), Constraint::Percentage(50)]).areas(lower);
    frame.render_widget(framed(" request sizes ", size_lines(latest, view.device, sizes)), sizes);
    frame.render_widget(framed(" issuers ", issuer_lines(latest, view.device, issuers)), issuers);
    let keys = if view.paused {
        "PAUSED  p goes on  q ends  Tab next device"
    } else {
        "p pauses  q ends  Tab next device"
    };
    frame.render_widget(Paragraph::new(keys), foot);
}

fn framed<'a>(title: &'a str, lines: Vec<Line<'a>>) -> Paragraph<'a> {
    Paragraph::new(lines).block(Block::default().borders(Borders::TOP).title(title))
}

fn title(name: &str, moment: &Moment, f: &Figures, view: &View) -> Line<'static> {
    let bold = if view.colour { Style::default().add_modifier(Modifier::BOLD) } else { Style::default() };
    let lost =
        if moment.layer.lost > 0 { format!("  {} EVENTS LOST", moment.layer.lost) } else { String::new() };
    Line::from(vec![
        Span::styled(format!("{name}  "), bold),
        Span::raw(format!(
            "busy {:.0} %  depth {:.2}  flushes {:.0}/s  discards {:.0}/s  by {}{lost}",
            f.busy * 100.0,
            f.depth,
            f.flushes_per_s,
            f.discards_per_s,
            if moment.layer.source == "tracefs" { "events" } else { "counters" },
        )),
    ])
}

/// One line of figures and one of history per direction.
fn draw_rates(frame: &mut Frame, area: Rect, history: &WatchHistory, view: &View, now: &Figures) {
    let rows: [Rect; 6] = Layout::vertical([Constraint::Length(1); 6]).areas(area);
    let width = usize::from(area.width);
    let line = |word: &str, flow: &DirectionFigures| {
        let merges =
            if now.merges_known { format!("{:.0} merged/s", flow.merges_per_s) } else { String::new() };
        let wait = flow.mean_ns.map_or_else(|| "-".into(), units::time_ns);
        format!(
            "{word:<6} {:>9.0}/s  {:>12}  {wait:>9} each  {merges}",
            flow.requests_per_s,
            units::rate(flow.bytes_per_s)
        )
    };
    let past = |figure: fn(&Figures) -> f64| {
        let skip = history.moments.len().saturating_sub(width);
        history
            .moments
            .iter()
            .skip(skip)
            .map(|m| figure(&m.figures(view.device)).round() as u64)
            .collect::<Vec<_>>()
    };
    let style = |colour| if view.colour { Style::default().fg(colour) } else { Style::default() };
    frame.render_widget(Paragraph::new(line("reads", &now.reads)), rows[0]);
    let reads = past(|f| f.reads.bytes_per_s);
    frame.render_widget(Sparkline::default().data(&reads).style(style(Color::Green)), rows[1]);
    frame.render_widget(Paragraph::new(line("writes", &now.writes)), rows[2]);
    let writes = past(|f| f.writes.bytes_per_s);
    frame.render_widget(Sparkline::default().data(&writes).style(style(Color::Yellow)), rows[3]);
    frame.render_widget(Paragraph::new(format!("queue  {:.2} in the device on average", now.depth)), rows[4]);
    let depth = past(|f| f.depth * 1000.0);
    frame.render_widget(Sparkline::default().data(&depth).style(style(Color::Blue)), rows[5]);
}

/// Shades of a cell, from none to all.
const SHADES: [char; 5] = [' ', '.', ':', '*', '#'];
const BLUES: [Color; 5] =
    [Color::Reset, Color::Indexed(18), Color::Indexed(26), Color::Indexed(39), Color::Indexed(226)];

fn draw_strip(frame: &mut Frame, area: Rect, history: &WatchHistory, view: &View) {
    let block = Block::default().borders(Borders::TOP).title(" time in the device, each interval a column ");
    let inner = block.inner(area);
    frame.render_widget(block, area);
    if inner.height == 0 || inner.width < 12 {
        return;
    }
    if history.latest().is_none_or(|m| m.activity(view.device).is_none()) {
        frame.render_widget(Paragraph::new("only events tell single latencies (root)"), inner);
        return;
    }
    const LABEL: usize = 9;
    let columns = usize::from(inner.width) - LABEL;
    let skip = history.moments.len().saturating_sub(columns);
    let strips: Vec<Histogram> = history.moments.iter().skip(skip).map(|m| m.latency(view.device)).collect();
    let bands = bands(&strips, usize::from(inner.height));
    let lines: Vec<Line> = bands
        .iter()
        .rev()
        .map(|&(from, to)| {
            let mut spans = vec![Span::raw(format!("{:>8} ", units::time_ns(2f64.powi(from as i32))))];
            spans.extend(strips.iter().map(|h| shade(share(h, from, to), view.colour)));
            Line::from(spans)
        })
        .collect();
    frame.render_widget(Paragraph::new(lines), inner);
}

/// The powers of two that occurred, as rows of equal height: (from, to), lowest first.
fn bands(strips: &[Histogram], rows: usize) -> Vec<(u32, u32)> {
    let exponent =
        |ns: u64| (u64::BITS - 1 - ns.max(1).leading_zeros()).clamp(LOWEST_EXPONENT, HIGHEST_EXPONENT);
    let some = || strips.iter().filter(|h| h.count() > 0);
    let low = some().map(|h| exponent(h.min_ns())).min().unwrap_or(LOWEST_EXPONENT);
    let high = some().map(|h| exponent(h.max_ns())).max().unwrap_or(low) + 1;
    let step = (high - low).div_ceil(rows.max(1) as u32).max(1);
    (0..(high - low).div_ceil(step)).map(|i| (low + i * step, low + (i + 1) * step)).collect()
}

/// Share of the values in a band; the lowest and highest bands include what lies beyond.
fn share(h: &Histogram, from: u32, to: u32) -> f64 {
    let low = if from <= LOWEST_EXPONENT { 0 } else { 1u64 << from };
    let high = if to > HIGHEST_EXPONENT { u64::MAX } else { 1u64 << to };
    let within: u64 = h.buckets().filter(|b| (low..high).contains(&b.0)).map(|b| b.2).sum();
    within as f64 / h.count().max(1) as f64
}

fn shade(share: f64, colour: bool) -> Span<'static> {
    let level = match share {
        s if s <= 0.0 => 0,
        s if s < 0.05 => 1,
        s if s < 0.2 => 2,
        s if s < 0.5 => 3,
        _ => 4,
    };
    if colour && level > 0 {
        Span::styled("█", Style::default().fg(BLUES[level]))
    } else {
        Span::raw(SHADES[level].to_string())
    }
}

fn size_lines(moment: &Moment, device: usize, area: Rect) -> Vec<Line<'static>> {
    let mut classes = classes::power_classes(&moment.sizes(device));
    classes.retain(|c| c.count > 0);
    if classes.is_empty() {
        let why =
            if moment.activity(device).is_some() { "no request" } else { "only events tell sizes (root)" };
        return vec![Line::from(why)];
    }
    let all: u64 = classes.iter().map(|c| c.count).sum();
    classes.sort_by_key(|c| std::cmp::Reverse(c.count));
    classes.truncate(usize::from(area.height).saturating_sub(1));
    classes.sort_by_key(|c| c.from_bytes);
    let width = usize::from(area.width).saturating_sub(22);
    classes
        .iter()
        .map(|c| {
            let bar = "@".repeat((c.count as f64 / all as f64 * width as f64).round() as usize);
            Line::from(format!("{:>8} {bar:<width$} {:>8}", units::bytes(c.from_bytes), c.count))
        })
        .collect()
}

fn issuer_lines(moment: &Moment, device: usize, area: Rect) -> Vec<Line<'static>> {
    let issuers = moment.issuers(device);
    if issuers.is_empty() {
        let why = if moment.activity(device).is_some() { "none" } else { "only events tell issuers (root)" };
        return vec![Line::from(why)];
    }
    let seconds = moment.length.as_secs_f64().max(1e-9);
    issuers
        .iter()
        .take(usize::from(area.height).saturating_sub(1))
        .map(|i| {
            let rate = |bytes: u64| units::rate(bytes as f64 / seconds);
            Line::from(format!(" {:<16} r {:>10}  w {:>10}", i.name, rate(i.read_bytes), rate(i.write_bytes)))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::history::tests::moment;
    use super::*;
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;

    fn drawn(history: &WatchHistory, width: u16, height: u16) -> String {
        let mut terminal = Terminal::new(TestBackend::new(width, height)).expect("memory");
        terminal.draw(|frame| all(frame, history, &View::default())).expect("drawn");
        terminal.backend().to_string()
    }

    #[test]
    fn the_picture_has_everything_on_80_by_24() {
        let mut history = WatchHistory::new(vec!["vda".into()]);
        assert!(drawn(&history, 80, 24).contains("watching"));
        (0..5).for_each(|_| history.push(moment()));
        let text = drawn(&history, 80, 24);
        for part in
            ["vda", "busy 50 %", "depth 1.00", "reads", "100/s", "issuers", "fio", "@@@", "262 us", "#"]
        {
            assert!(text.contains(part), "{part} is missing:\n{text}");
        }
    }

    #[test]
    fn without_events_it_says_what_is_missing_and_small_terminals_do_no_harm() {
        let mut history = WatchHistory::new(vec!["vda".into()]);
        history.push(Moment::default());
        let text = drawn(&history, 80, 24);
        assert!(text.contains("only events tell sizes") && text.contains("by counters"), "{text}");
        history.push(moment());
        for (width, height) in [(1, 1), (10, 5), (40, 12), (300, 100)] {
            drawn(&history, width, height);
        }
    }

    #[test]
    fn bands_cover_what_occurred() {
        let of = |values: &[u64]| Histogram::from_values(values.iter().copied());
        assert_eq!(bands(&[of(&[20_000, 100_000])], 10), [(14, 15), (15, 16), (16, 17)]);
        assert_eq!(bands(&[of(&[20_000, 100_000])], 2), [(14, 16), (16, 18)]);
        assert_eq!(bands(&[], 3), [(14, 15)]);
        let all: f64 =
            bands(&[of(&[1, 1 << 40])], 4).iter().map(|b| share(&of(&[1, 1 << 40]), b.0, b.1)).sum();
        assert!((all - 1.0).abs() < 1e-9, "{all}");
    }
}
