// What a page must keep for everybody who reads it, asked of the page itself. Evaluated in it by check.py; answers a list of sentences,
// empty for a page in order. Own rules, few and plain: names, headings, tables, links, contrast, nothing that sticks out.
() => {
  "use strict";
  const wrong = [];
  const say = (what, element) => wrong.push(element ? `${what}: ${where(element)}` : what);
  const where = e => `<${e.tagName.toLowerCase()}${e.id ? `#${e.id}` : ""}${e.className?.baseVal ?? e.className ? `.${String(e.className?.baseVal ?? e.className).split(" ").join(".")}` : ""}> ${(e.textContent || "").trim().slice(0, 60)}`;
  const all = (selector, from = document) => [...from.querySelectorAll(selector)];
  const seen = e => e.checkVisibility({ visibilityProperty: true, opacityProperty: true }) && e.getClientRects().length > 0;
  // The library's own tools are its own, and drawn into a figure that has a name.
  const ours = e => !e.closest(".live, .skip");

  // One language, one title, one head, the landmarks.
  if (!document.documentElement.lang) say("the page names no language");
  if (!document.title.trim()) say("the page has no title");
  if (all("h1").length !== 1) say(`${all("h1").length} first headings`);
  for (const landmark of ["header", "nav", "main", "footer"]) if (all(`body ${landmark}`).length !== 1) say(`${all(`body ${landmark}`).length} of the landmark ${landmark}`);
  let last = 0;
  for (const head of all("h1, h2, h3, h4, h5, h6")) {
    const level = Number(head.tagName[1]);
    if (level > last + 1) say(`a heading of level ${level} below one of level ${last}`, head);
    if (!head.textContent.trim()) say("an empty heading", head);
    last = level;
  }

  // Identifiers once, links that lead somewhere.
  const ids = new Map();
  for (const e of all("[id]")) ids.set(e.id, (ids.get(e.id) ?? 0) + 1);
  for (const [id, count] of ids) if (count > 1 && !document.getElementById(id).closest(".live")) say(`${count} elements are called ${id}`);
  for (const link of all("a[href]").filter(ours)) {
    const to = link.getAttribute("href");
    if (!to.startsWith("#")) say("a link that leaves the page", link);
    else if (!ids.has(decodeURIComponent(to.slice(1)))) say(`a link to ${to}, which is not there`, link);
  }

  // What can be acted on has a name; what is a picture has one, too.
  const name = e => (e.getAttribute("aria-label") ?? "").trim() || (e.getAttribute("aria-labelledby") ?? "").split(/\s+/).map(id => document.getElementById(id)?.textContent ?? "").join(" ").trim()
    || [...e.childNodes].map(n => n.textContent).join(" ").trim();
  for (const e of all("a[href], button, summary, input, select, [role=button], [role=tab]").filter(ours)) if (!name(e)) say("nothing names it", e);
  for (const e of all("[tabindex]").filter(e => ours(e) && e.tabIndex !== -1)) {
    if (!e.getAttribute("role")) say("takes the keyboard and says not what it is", e);
    else if (!e.getAttribute("aria-label") && !e.getAttribute("aria-labelledby")) say("takes the keyboard without a name", e);
    if (e.tabIndex > 0) say("changes the order of the keyboard", e);
  }
  for (const e of all("svg").filter(ours)) {
    const hidden = e.getAttribute("aria-hidden") === "true" || e.closest("[aria-hidden=true]");
    if (!hidden && !(e.getAttribute("role") === "img" && (name(e) || e.querySelector("title")))) say("a picture without a name", e);
  }
  for (const e of all("img")) if (!e.hasAttribute("alt")) say("a picture without words", e);

  // Tables: a caption, heads of columns and rows, rows of one width, and a frame that the keyboard can scroll.
  for (const table of all("table").filter(ours)) {
    if (!table.caption?.textContent.trim()) say("a table without a caption", table);
    if (all("th", table).some(h => !h.scope)) say("a head of unknown direction", table);
    const width = row => [...row.cells].reduce((n, c) => n + c.colSpan, 0);
    const widths = new Set([...table.rows].filter(r => ![...r.cells].some(c => c.rowSpan > 1)).map(width));
    if (widths.size > 1 && !all("[rowspan]", table).length) say(`rows of ${[...widths].join(" and ")} cells`, table);
    if (!table.closest("[tabindex='0']")) say("a table that the keyboard cannot scroll", table);
  }

  // The contrast of everything that is read (4.5, and 3 for large letters), in the colours that are in force now.
  const pen = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
  const rgba = css => { pen.clearRect(0, 0, 1, 1); pen.fillStyle = css; pen.fillRect(0, 0, 1, 1); const [r, g, b, a] = pen.getImageData(0, 0, 1, 1).data; return [r, g, b, a / 255]; };
  const light = ([r, g, b]) => { const [x, y, z] = [r, g, b].map(c => (c /= 255) <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4); return 0.2126 * x + 0.7152 * y + 0.0722 * z; };
  const ratio = (a, b) => { const [x, y] = [light(a), light(b)].sort((p, q) => q - p); return (x + 0.05) / (y + 0.05); };
  const below = e => { for (let at = e; at; at = at.parentElement) { const c = rgba(getComputedStyle(at).backgroundColor); if (c[3] > 0.99) return c; } return rgba(getComputedStyle(document.body).backgroundColor); };
  const pale = new Map();
  const judge = (e, ink, paper, size, bold) => {
    const r = ratio(ink, paper), need = size >= 24 || bold && size >= 18.6 ? 3 : 4.5;
    if (r < need - 0.005) { const key = `contrast ${r.toFixed(2)} of ${need}, rgb(${ink.slice(0, 3)}) on rgb(${paper.slice(0, 3)})`; if (!pale.has(key)) pale.set(key, [e, 0]); pale.get(key)[1]++; }
  };
  const words = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = words.nextNode(); node; node = words.nextNode()) {
    const e = node.parentElement;
    if (!node.textContent.trim() || e.closest("script, style, svg, .live, .skip") || !seen(e)) continue;
    const style = getComputedStyle(e);
    judge(e, rgba(style.color), below(e), parseFloat(style.fontSize), style.fontWeight >= 600);
  }
  // Letters of a picture: on the last filled shape that was drawn below their middle, else on the paper.
  for (const svg of all("svg.fathom").filter(seen)) {
    const shapes = all("rect, path, polygon, circle", svg), drawn = all("*", svg), at = new Map(drawn.map((e, i) => [e, i]));
    const boxes = shapes.map(s => [s, s.getBoundingClientRect(), getComputedStyle(s)]).filter(([, , c]) => c.fill !== "none");
    for (const text of all("text", svg)) {
      if (!text.textContent.trim() || !seen(text)) continue;
      const style = getComputedStyle(text), box = text.getBoundingClientRect(), x = box.x + box.width / 2, y = box.y + box.height / 2;
      let paper = below(svg);
      for (const [shape, b, css] of boxes) {
        if (at.get(shape) > at.get(text) || x < b.left || x > b.right || y < b.top || y > b.bottom) continue;
        if (shape.tagName !== "rect" && !shape.isPointInFill(new DOMPoint(x, y).matrixTransform(shape.getScreenCTM().inverse()))) continue;
        const f = rgba(css.fill), a = f[3] * css.fillOpacity * css.opacity;
        paper = [0, 1, 2].map(i => Math.round(f[i] * a + paper[i] * (1 - a)));
      }
      judge(text, rgba(style.fill), paper, parseFloat(style.fontSize), style.fontWeight >= 600);
    }
    // Letters that lie outside their picture are cut off, and letters that lie on others cannot be read.
    const frame = svg.getBoundingClientRect();
    const texts = all("text", svg).filter(t => t.textContent.trim() && seen(t)).map(t => [t, t.getBoundingClientRect()]);
    for (const [t, b] of texts) if (b.left < frame.left - 1.5 || b.right > frame.right + 1.5 || b.top < frame.top - 2 || b.bottom > frame.bottom + 2) say(`cut off in "${name(svg).slice(0, 60)}"`, t);
    let covered = 0, example = "";
    if (texts.length < 260) for (let i = 0; i < texts.length; i++) for (let j = i + 1; j < texts.length; j++) {
      const [a, b] = [texts[i][1], texts[j][1]];
      const w = Math.min(a.right, b.right) - Math.max(a.left, b.left), h = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
      if (w > 3 && h > Math.min(a.height, b.height) * 0.45) { covered++; example ||= `"${texts[i][0].textContent.slice(0, 30)}" and "${texts[j][0].textContent.slice(0, 30)}"`; }
    }
    if (covered) say(`${covered} pairs of words lie on each other in "${name(svg).slice(0, 60)}": ${example}`);
  }
  for (const [key, [e, count]] of pale) say(`${key}, ${count} times`, e);

  // Nothing makes the page itself scroll sideways.
  const over = document.documentElement.scrollWidth - document.documentElement.clientWidth;
  if (over > 0) {
    const culprits = all("body *").filter(e => e.getBoundingClientRect().right > innerWidth + 1 && !e.closest(".scroll, .wide, pre, .live")).slice(0, 3).map(where);
    say(`scrolls ${over} px sideways: ${culprits.join(" | ")}`);
  }
  for (const e of all("figure:not(.wide) > .still").filter(e => seen(e) && e.scrollWidth > e.clientWidth)) say("a picture that scrolls sideways", e);
  return wrong;
}
