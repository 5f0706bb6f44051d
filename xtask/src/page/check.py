"""Pages of fathom in a headless Chromium, driven by Playwright: `check.py CHROMIUM PAGES ARTEFACTS`.

PAGES is a folder of .html files, each opened from the disk in a browser that would tell of any request. Into ARTEFACTS go screenshots of
each page (1280 and 390 pixels wide, light and dark), its print as PDF, and report.json. A line a page on stdout, a line a fault on
stderr; exit code 1 if there was a fault.
"""

import json
import sys
import time
from pathlib import Path

from playwright.sync_api import sync_playwright

MOST_BYTES = 5_000_000
MOST_SECONDS = 1.0
WINDOWS = [(1280, 900), (390, 844)]
SCHEMES = ["light", "dark"]
# A picture of a page of a hundred figures would be larger than the pages together.
TALLEST = 8_000
MOST_STEPS = 1500
LOOK = (Path(__file__).parent / "look.js").read_text()

# Everything that can have the keyboard's focus, in order. A folded element's content has not.
REACHABLE = """() => [...document.querySelectorAll("a[href], button, summary, input, select, [tabindex='0']")]
  .filter(e => !e.disabled && e.checkVisibility() && (!e.closest('details:not([open])') || e.matches('details > summary') &&
    !e.parentElement.parentElement.closest('details:not([open])')) && !e.closest('.live .modebar')).length"""
# The focused element gets a mark; how many are marked, and whether the focus can be seen.
FOCUSED = """() => { const e = document.activeElement; if (!e || e === document.body) return null;
  const s = getComputedStyle(e), first = !e.dataset.reached; e.dataset.reached = 'yes';
  return [first, s.outlineStyle !== 'none' && parseFloat(s.outlineWidth) > 0, e.tagName + ' ' + (e.textContent || '').trim().slice(0, 40)]; }"""
DRAWN = """() => [...document.querySelectorAll('figure.turning')].every(f => { const b = f.getBoundingClientRect();
  return b.bottom < 0 || b.top > innerHeight || f.classList.contains('drawn'); })"""


class Page:
    """One file under test, with what was found wrong."""

    def __init__(self, browser, file, artefacts):
        self.browser, self.file, self.artefacts = browser, file, artefacts
        self.found, self.requests = {}, []

    def fault(self, words, at=""):
        """A fault is told once, with all the windows it was seen in."""
        places = self.found.setdefault(words, [])
        if at and at not in places:
            places.append(at)

    @property
    def faults(self):
        return [f"{words} [{', '.join(places)}]" if places else words for words, places in self.found.items()]

    def tab(self, width, height, scheme, scripts=True):
        context = self.browser.new_context(
            viewport={"width": width, "height": height},
            color_scheme=scheme,
            reduced_motion="reduce",
            java_script_enabled=scripts,
        )
        page = context.new_page()
        page.set_default_timeout(90_000)
        page.on("console", lambda m: m.type == "error" and self.fault(f"console: {m.text}"))
        page.on("pageerror", lambda e: self.fault(f"exception: {e}"))
        page.on("request", lambda r: self.asked(r.url))
        return page

    def asked(self, url):
        if url.startswith(("data:", "blob:", "about:")) or url == self.file.as_uri():
            return
        self.requests.append(url)
        self.fault(f"asked for {url}")

    def open(self, page):
        page.goto(self.file.as_uri(), wait_until="load")

    def load_seconds(self):
        """The best of three: what the page needs, not what else the machine does."""
        times = []
        for _ in range(3):
            page = self.tab(*WINDOWS[0], "light")
            self.open(page)
            page.wait_for_function("performance.getEntriesByType('navigation')[0].loadEventEnd > 0")
            times.append(page.evaluate("performance.getEntriesByType('navigation')[0].loadEventEnd") / 1000)
            page.context.close()
        return min(times)

    def looked_at(self, width, height, scheme):
        page = self.tab(width, height, scheme)
        self.open(page)
        for sentence in page.evaluate(LOOK):
            self.fault(sentence, f"{width} {scheme}")
        page.wait_for_function(DRAWN)
        tall = min(page.evaluate("document.documentElement.scrollHeight"), TALLEST)
        page.screenshot(
            path=self.artefacts / f"{self.file.stem}-{width}-{scheme}.png",
            full_page=True,
            clip={"x": 0, "y": 0, "width": width, "height": tall},
        )
        page.context.close()

    def clicked(self):
        """Everything that can be clicked, is; what that uncovers is looked at, too."""
        page = self.tab(*WINDOWS[0], "light")
        self.open(page)
        clicks = 0
        for link in page.locator("nav a").all():
            link.click()
            target = link.get_attribute("href")
            if not page.evaluate("h => { const b = document.querySelector(h).getBoundingClientRect(); return b.top < innerHeight && b.bottom > 0; }", target):
                self.fault(f"the link to {target} does not lead there")
            clicks += 1
        while clicks < MOST_STEPS:
            closed = page.locator("details:not([open]) > summary:visible")
            if closed.count() == 0:
                break
            closed.first.click()
            clicks += 1
        for button in page.locator("button:visible").all():
            button.click()
            clicks += 1
        for sentence in page.evaluate(LOOK):
            self.fault(sentence, "unfolded")
        page.context.close()
        return clicks

    def walked(self):
        """The keyboard alone reaches everything, in view and with a mark; Enter unfolds."""
        page = self.tab(*WINDOWS[0], "light")
        self.open(page)
        expected, reached = page.evaluate(REACHABLE), 0
        for step in range(MOST_STEPS):
            page.keyboard.press("Tab")
            now = page.evaluate(FOCUSED)
            if now is None:
                break
            first, visible, what = now
            if step == 0 and "Skip" not in what:
                self.fault(f"the keyboard begins at {what}, not at the link past the contents")
            reached += first
            if not visible:
                self.fault(f"the focus cannot be seen on {what}")
            if not first and reached >= expected:
                break
        if reached < expected:
            self.fault(f"the keyboard reaches {reached} of {expected}")
        first = page.locator("details:not([open]) > summary:visible").first
        if first.count():
            first.focus()
            page.keyboard.press("Enter")
            if page.evaluate("!document.activeElement.parentElement.open"):
                self.fault("Enter does not unfold")
        page.context.close()
        return reached

    def turned(self):
        """A surface turns under the arrow keys."""
        page = self.tab(*WINDOWS[0], "light")
        self.open(page)
        figure = page.locator("figure.turning").first
        if figure.count():
            figure.scroll_into_view_if_needed()
            page.wait_for_function("!!document.querySelector('figure.turning .live')?._fullLayout?.scene?._scene?.glplot")
            eye = "JSON.stringify(document.querySelector('figure.turning .live')._fullLayout.scene._scene.getCamera().eye)"
            before = page.evaluate(eye)
            figure.locator(".live").focus()
            page.keyboard.press("ArrowRight")
            try:
                page.wait_for_function(f"{eye} !== {json.dumps(before)}", timeout=20_000)
            except Exception:
                self.fault("the arrow keys do not turn a surface")
        page.context.close()

    def printed(self):
        page = self.tab(*WINDOWS[0], "dark")
        self.open(page)
        page.wait_for_function(DRAWN)
        page.emulate_media(media="print")
        page.set_viewport_size({"width": 718, "height": 1000})
        for words in page.evaluate("""() => { const out = [];
            const light = c => { const [r, g, b] = c.match(/[\\d.]+/g).map(Number); return 0.3 * r + 0.6 * g + 0.1 * b; };
            if (light(getComputedStyle(document.body).color) > 60) out.push('prints pale ink');
            const lost = [...document.querySelectorAll('table')].filter(t => t.checkVisibility() && t.getBoundingClientRect().right > innerWidth + 2);
            for (const t of lost) out.push(`wider than the paper by ${Math.round(t.getBoundingClientRect().right - innerWidth)} px: ${t.caption.textContent.slice(0, 70)}`);
            for (const f of document.querySelectorAll('figure')) if (f.checkVisibility() && f.querySelector('.still') && !f.querySelector('.still').checkVisibility()) out.push('a figure is not printed');
            // Paper is for what is open: a page that prints its folded parts has dozens of sheets.
            const wrong = new Set();
            for (const t of document.querySelectorAll('table')) {
              const folded = t.closest('details:not([open])'), printed = t.checkVisibility({contentVisibilityAuto: true});
              if (folded ? printed : !printed && !t.closest('.live')) wrong.add((folded ? 'what is folded is printed: ' : 'a table that is open is not printed: ') + t.caption.textContent.slice(0, 60));
            }
            for (const d of document.querySelectorAll('details:not([open])')) if (d.checkVisibility()) wrong.add('a folded part leaves its head: ' + d.querySelector('summary').textContent.slice(0, 60));
            out.push(...wrong);
            return out; }"""):
            self.fault(f"on paper: {words}")
        page.pdf(path=self.artefacts / f"{self.file.stem}.pdf", format="A4", print_background=False)
        page.context.close()

    def without_scripts(self):
        page = self.tab(*WINDOWS[1], "light", scripts=False)
        self.open(page)
        if page.locator("figure").count() and not page.locator("figure svg").first.is_visible():
            self.fault("without scripts no picture is seen")
        page.context.close()


def check(browser, file, artefacts):
    page, size, began = Page(browser, file, artefacts), file.stat().st_size, time.monotonic()
    if size >= MOST_BYTES:
        page.fault(f"{size} bytes, {MOST_BYTES} are allowed")
    seconds = page.load_seconds()
    if seconds >= MOST_SECONDS:
        page.fault(f"loaded in {seconds:.2f} s")
    for width, height in WINDOWS:
        for scheme in SCHEMES:
            page.looked_at(width, height, scheme)
    clicks, stops = page.clicked(), page.walked()
    page.turned()
    page.printed()
    page.without_scripts()
    print(f"{file.stem}: {size} bytes, loaded in {seconds * 1000:.0f} ms, {len(page.requests)} requests, {clicks} clicks, "
          f"{stops} stops of the keyboard, {len(page.faults)} faults", flush=True)
    for fault in page.faults:
        print(f"  {file.stem}: {fault}", file=sys.stderr, flush=True)
    return {"page": file.stem, "bytes": size, "load_seconds": round(seconds, 4), "requests": page.requests, "clicks": clicks,
            "keyboard_stops": stops, "faults": page.faults, "took_seconds": round(time.monotonic() - began, 1)}


def main():
    chromium, pages, artefacts = sys.argv[1], Path(sys.argv[2]).resolve(), Path(sys.argv[3]).resolve()
    artefacts.mkdir(parents=True, exist_ok=True)
    files = sorted(pages.glob("*.html"))
    if not files:
        sys.exit(f"no page in {pages}")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=chromium,
            # Root has no sandbox, a container often no large /dev/shm; surfaces are drawn without a graphics card.
            args=["--no-sandbox", "--disable-dev-shm-usage", "--use-angle=swiftshader", "--enable-unsafe-swiftshader",
                  "--host-resolver-rules=MAP * ~NOTFOUND"],
        )
        done = [check(browser, file, artefacts) for file in files]
        browser.close()
    (artefacts / "report.json").write_text(json.dumps(done, indent=1) + "\n")
    bad = sum(bool(page["faults"]) for page in done)
    print(f"{len(done) - bad} passed, {bad} failed")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
