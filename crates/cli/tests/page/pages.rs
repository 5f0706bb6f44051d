//! Pages of a survey, of a job of fio, of IOzone's automatic mode and of two runs side by side: nothing is asked of a network, nothing complains,
//! nothing sticks out at the side, and the surfaces are really drawn.

use crate::measure::workloads::runs;
use crate::page::browser::Browser;
use fathom_testkit::Fathom;
use std::path::{Path, PathBuf};

const DESK: (u32, u32) = (1280, 900);
const TELEPHONE: (u32, u32) = (390, 844);
/// A drawing in which one colour fills more than this holds no picture: a flat surface and its labels fill one percent and more.
const BLANK_PERCENT: f64 = 99.0;

/// Opens the page in a window and looks at what every page must do.
#[track_caller]
fn open(browser: &mut Browser, page: &Path, (width, height): (u32, u32), dark: bool) {
    browser.window(width, height, dark);
    browser.open(page);
    assert_eq!(browser.complaints, [""; 0], "at {width} px");
    assert_eq!(browser.value("innerWidth"), width);
    nothing_sticks_out(browser, width);
    assert_eq!(
        browser.value("document.title.length > 0 && document.querySelectorAll('h1').length === 1"),
        true
    );
    let contrast = "(() => { const light = c => { const [r, g, b] = c.match(/[\\d.]+/g).map(Number); return 0.3 * r + 0.6 * g + 0.1 * b; }; \
                    const style = getComputedStyle(document.body); return light(style.color) - light(style.backgroundColor); })()";
    let contrast = browser.value(contrast).as_f64().unwrap_or(0.0);
    assert!(if dark { contrast > 100.0 } else { contrast < -100.0 }, "ink and paper: {contrast}");
}

#[track_caller]
fn nothing_sticks_out(browser: &mut Browser, width: u32) {
    let sticks_out =
        browser.value("document.documentElement.scrollWidth - document.documentElement.clientWidth");
    let culprits = "[...document.querySelectorAll('body *')].filter(e => e.getBoundingClientRect().right > innerWidth + 1 \
                    && !e.closest('[style*=overflow], .scroll, .wide')).slice(0, 5).map(e => e.tagName + '.' + e.className).join(' ')";
    assert_eq!(sticks_out, 0, "scrolls sideways at {width} px: {}", browser.value(culprits));
    let cut = browser
        .value("[...document.querySelectorAll('figure:not(.wide) > .still')].filter(e => e.scrollWidth > e.clientWidth).length");
    assert_eq!(cut, 0, "pictures that scroll sideways at {width} px");
}

/// Scrolls to the first surface, waits until it turns, and looks whether it is a picture and not an empty box.
#[track_caller]
fn surface_is_drawn(browser: &mut Browser, width: u32) {
    browser.value("document.querySelector('figure.turning').scrollIntoView({ block: 'center' })");
    browser.wait_for("document.querySelector('figure.turning').classList.contains('drawn')");
    browser.wait_for("!!document.querySelector('figure.turning .live canvas')");
    browser.wait_for("!!document.querySelector('figure.turning .live')?._fullLayout?.scene?._scene?.glplot");
    // Two frames after the last change everything that will be drawn has been drawn.
    browser
        .value("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))");
    let canvas = browser.value("(() => { const c = document.querySelector('figure.turning .live canvas'); return [c.width, c.height]; })()");
    assert!(canvas[0].as_u64() > Some(u64::from(width) / 3) && canvas[1].as_u64() > Some(200), "{canvas}");
    let (colours, most_percent) = browser.colours_of("figure.turning .live");
    assert!(
        colours > 200 && most_percent < BLANK_PERCENT,
        "blank at {width} px: {colours} colours, one fills {most_percent:.1} %"
    );
    nothing_sticks_out(browser, width);
    assert_eq!(browser.complaints, [""; 0]);
}

/// The page without its script, in both windows: quick, and everything but the turning of the surfaces must be there.
#[track_caller]
fn still_in_order(browser: &mut Browser, page: &Path) {
    browser.scripts(false);
    for (window, dark) in [(DESK, true), (TELEPHONE, false)] {
        open(browser, page, window, dark);
        let (colours, most_percent) = browser.colours_of("figure.turning .still svg");
        assert!(
            colours > 30 && most_percent < BLANK_PERCENT,
            "{colours} colours, one fills {most_percent:.1} %"
        );
    }
    browser.scripts(true);
}

fn iozone(fathom: &Fathom) {
    let _ = fathom.run_line("iozone -Ra -g 1m").expect_code(0);
}

fn report(fathom: &Fathom, runs: &[&str]) -> PathBuf {
    let mut args = vec!["report"];
    args.extend(runs);
    args.extend(["-o", "page.html"]);
    let _ = fathom.run(args).expect_code(0);
    fathom.work().join("page.html")
}

#[test]
fn the_page_of_a_survey_answers_on_its_first_screen() {
    let Some(mut browser) = Browser::start("the_page_of_a_survey_answers_on_its_first_screen") else {
        return;
    };
    let fathom = Fathom::new();
    let page = fathom.work().join("page.html");
    let _ = fathom.run(["survey", "--quick", "-o", "page.html"]).expect_code(0);
    for (window, dark) in [(DESK, false), (DESK, true), (TELEPHONE, false), (TELEPHONE, true)] {
        open(&mut browser, &page, window, dark);
        let height = browser.value("document.documentElement.scrollHeight").as_u64().unwrap_or(u64::MAX);
        assert!(height <= 5000, "{height} px are open at {} px", window.0);
        // Nothing turns, so that no library travels with it.
        assert_eq!(browser.value("document.querySelectorAll('figure.turning, #plotly-gz').length"), 0);
        let (colours, most_percent) = browser.colours_of("figure .still svg");
        assert!(colours > 10 && most_percent < BLANK_PERCENT, "{colours} colours, {most_percent:.1} %");
    }
    open(&mut browser, &page, DESK, false);
    let bytes = std::fs::metadata(&page).expect("the page").len();
    assert!(bytes <= 600_000, "{bytes} bytes");
    let sheets = browser.sheets();
    assert!(sheets <= 4, "{sheets} sheets of paper");
    for (what, least) in [(".tiles li", 4), ("figure svg", 1), (".uses tr", 5)] {
        // What a busy machine spoiled is said above them.
        let seen = format!(
            "(() => {{ const box = e => e.getBoundingClientRect(), all = what => [...document.querySelectorAll(what)];
            const said = all('.answer > .first, .answer > .trouble').reduce((sum, e) => sum + box(e).height + 20, 0);
            return all({what:?}).filter(e => box(e).bottom <= innerHeight + said).length; }})()"
        );
        let seen = browser.value(&seen).as_u64().unwrap_or(0);
        assert!(seen >= least, "{seen} of {what} are on the first screen");
    }
    for words in ["database log", "Latency of single operations", "What this rests on"] {
        let seen = browser
            .value(&format!("document.body.innerText.toLowerCase().includes({:?})", words.to_lowercase()));
        assert_eq!(seen, true, "{words} is not in the page");
    }
    // What is folded away opens with the keyboard, and is in order, too.
    let opened = "(() => { const s = document.querySelector('details > summary'); s.focus(); s.click(); return s.parentElement.open; })()";
    assert_eq!(browser.value(opened), true);
    browser.value("document.querySelectorAll('details').forEach(d => d.open = true)");
    nothing_sticks_out(&mut browser, DESK.0);
    assert_eq!(browser.complaints, [""; 0]);
}

#[test]
fn the_page_of_iozones_automatic_mode_has_thirteen_surfaces() {
    let name = "the_page_of_iozones_automatic_mode_has_thirteen_surfaces";
    let Some(mut browser) = Browser::start(name) else { return };
    let fathom = Fathom::new();
    iozone(&fathom);
    let page = report(&fathom, &["last"]);
    still_in_order(&mut browser, &page);
    assert_eq!(browser.value("document.querySelectorAll('figure.turning').length"), 13);
    open(&mut browser, &page, TELEPHONE, true);
    surface_is_drawn(&mut browser, TELEPHONE.0);
    // The last one turns when it comes near, and the first, far away now, gives its WebGL context back.
    let last = "[...document.querySelectorAll('figure.turning')].at(-1)";
    browser.value(&format!("{last}.scrollIntoView({{ block: 'center' }})"));
    browser.wait_for(&format!("!!{last}.querySelector('.live canvas')"));
    browser.wait_for("!document.querySelector('figure.turning').classList.contains('drawn')");
    assert_eq!(browser.complaints, [""; 0]);
}

#[test]
fn the_page_of_two_runs_has_their_ratio() {
    let Some(mut browser) = Browser::start("the_page_of_two_runs_has_their_ratio") else { return };
    let fathom = Fathom::new();
    iozone(&fathom);
    iozone(&fathom);
    let ids: Vec<String> = runs(&fathom).iter().map(|r| r["id"].as_str().expect("an id").into()).collect();
    let page = report(&fathom, &[&ids[0], &ids[1]]);
    still_in_order(&mut browser, &page);
    open(&mut browser, &page, DESK, false);
    surface_is_drawn(&mut browser, DESK.0);
    assert_eq!(browser.value("document.body.innerText.toLowerCase().includes('ratio')"), true);
}

#[test]
fn the_page_of_a_run_begins_with_the_answer() {
    let Some(mut browser) = Browser::start("the_page_of_a_run_begins_with_the_answer") else { return };
    let fathom = Fathom::new();
    let line = "fio --name=log --rw=randwrite --bs=4k --size=256k --fsync=1";
    let _ = fathom.run_line(line).expect_code(0);
    let page = report(&fathom, &["last"]);
    for (window, dark) in [(DESK, false), (DESK, true), (TELEPHONE, false), (TELEPHONE, true)] {
        open(&mut browser, &page, window, dark);
    }
    open(&mut browser, &page, DESK, false);
    let tiles = browser.value(
        "[...document.querySelectorAll('.tiles li')].filter(e => e.getBoundingClientRect().bottom <= innerHeight).map(e => e.innerText).join('|')",
    );
    let tiles = tiles.as_str().expect("text").to_lowercase();
    for what in
        ["throughput", "operations", "latency, median", "latency, p99", "of the fsync", "served the data"]
    {
        assert!(tiles.contains(what), "{what} is not on the first screen: {tiles}");
    }
    let sheets = browser.sheets();
    assert!(sheets <= 4, "{sheets} sheets of paper");
    // What is folded away is in order, too.
    browser.value("(() => { document.querySelectorAll('details').forEach(d => d.open = true); })()");
    nothing_sticks_out(&mut browser, DESK.0);
    assert_eq!(browser.complaints, [""; 0]);
}

#[test]
fn the_browser_notices_what_would_be_wrong() {
    let Some(mut browser) = Browser::start("the_browser_notices_what_would_be_wrong") else { return };
    let dir = fathom_testkit::TestDir::new();
    let page = dir.path().join("bad.html");
    let text = "<!doctype html><title>bad</title><body style='margin:0'><p style='margin:0;width:300px;height:300px;background:red'></p><div style='width:3000px'>wide</div>\
                <img src='http://fathom.invalid/x.png'><script>console.error('oh'); nowhere.at.all()</script>";
    std::fs::write(&page, text).expect("a bad page");
    browser.window(TELEPHONE.0, TELEPHONE.1, false);
    browser.open(&page);
    for complaint in ["asked for http://fathom.invalid", "console.error", "exception", "a request failed"] {
        assert!(
            browser.complaints.iter().any(|c| c.contains(complaint)),
            "{complaint}: {:?}",
            browser.complaints
        );
    }
    assert!(browser.value("document.documentElement.scrollWidth").as_u64() >= Some(3000));
    browser.scripts(false);
    assert_eq!(browser.colours_of("p").0, 1, "an empty box is one colour");
}
