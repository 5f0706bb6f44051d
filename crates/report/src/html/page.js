// Makes the surfaces turn. Everything is readable before this runs and if it never does: each figure starts as a still picture.
// The library is unpacked when the first figure comes near the window; a figure far away is put back to its still picture,
// because a browser gives a page only some sixteen WebGL contexts.
(() => {
  "use strict";
  const figures = document.querySelectorAll("figure.turning");
  const packed = document.getElementById("plotly-gz");
  if (!figures.length || !packed || !("DecompressionStream" in window) || !("IntersectionObserver" in window)) return;
  const probe = document.createElement("canvas");
  const gl = probe.getContext("webgl2") || probe.getContext("webgl");
  if (!gl) return;
  gl.getExtension("WEBGL_lose_context")?.loseContext();

  let library;
  const load = () => library ??= (async () => {
    const text = packed.textContent;
    const binary = atob(text);
    const bytes = new Uint8Array(binary.length);
    for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    const script = document.createElement("script");
    script.textContent = await new Response(stream).text();
    document.head.append(script);
    packed.remove();
    return window.Plotly;
  })();

  const colours = () => {
    const style = getComputedStyle(document.body);
    const of = name => style.getPropertyValue(name).trim();
    return { ink: of("--ink"), muted: of("--muted"), rule: of("--rule"), paper: of("--paper") };
  };
  const thin = (places, texts, most) => {
    const every = Math.ceil(places.length / most);
    const keep = list => list.filter((_, i) => i % every === 0);
    return { tickvals: keep(places), ticktext: keep(texts) };
  };

  const words = d => d.text.map((row, i) => row.map((text, j) => text &&
    `<b>${text}</b><br>file ${d.yText[i]}, record ${d.xText[j]}${d.regimes[i] ? `<br>regime: ${d.regimes[i]}` : ""}`));

  const traces = d => {
    const c = colours();
    const list = [{
      type: "surface", x: d.x, y: d.y, z: d.z, text: words(d), hoverinfo: "text", colorscale: d.colours, cmin: 0, cmax: 1,
      connectgaps: false, showscale: false, showlegend: false,
      contours: { x: { show: true, color: "#0005", width: 1, highlight: false }, y: { show: true, color: "#0005", width: 1, highlight: false } },
      lighting: { ambient: 0.85, diffuse: 0.3, specular: 0.05, roughness: 0.9 }
    }];
    d.borders.forEach((b, i) => list.push({
      type: "scatter3d", mode: "lines", name: b.name, x: d.x, y: d.x.map(() => b.y), z: b.z.map(z => z === null ? null : z + 0.01),
      line: { color: c.ink, width: 6, dash: ["solid", "dash", "dot"][i % 3] }, hoverinfo: "name", connectgaps: false
    }));
    const ends = [d.x[0], d.x[d.x.length - 1]];
    d.references.forEach(r => list.push({
      type: "scatter3d", mode: "lines+text", x: ends, y: [r.y, r.y], z: [0, 0], text: [r.name.split(" ")[0], ""], hovertext: r.name, textposition: "middle right",
      textfont: { color: c.muted, size: 10 }, line: { color: c.muted, width: 3, dash: "dash" }, hoverinfo: "text", showlegend: false
    }));
    return list;
  };
  const axis = (c, title, ticks) => ({
    title: { text: title, font: { size: 11, color: c.muted } }, tickfont: { size: 10, color: c.ink }, color: c.ink,
    gridcolor: c.rule, zerolinecolor: c.rule, showspikes: false, backgroundcolor: "rgba(0,0,0,0)", ...ticks
  });
  const layout = (d, width) => {
    const c = colours(), few = width < 420;
    return {
      autosize: true, height: few ? 340 : 430, margin: { l: 0, r: 0, t: 0, b: 0 },
      paper_bgcolor: "rgba(0,0,0,0)", font: { family: "system-ui, sans-serif", color: c.ink, size: 11 },
      showlegend: d.borders.length > 0,
      legend: { x: 0, y: 1, bgcolor: "rgba(0,0,0,0)", font: { size: 10, color: c.ink }, itemclick: false, itemdoubleclick: false },
      modebar: { orientation: "h", bgcolor: "rgba(0,0,0,0)", color: c.muted, activecolor: c.ink },
      hoverlabel: { bgcolor: c.paper, bordercolor: c.rule, font: { color: c.ink, size: 12 } },
      scene: {
        xaxis: axis(c, "record size", thin(d.x, d.xText, few ? 5 : 7)), yaxis: axis(c, "file size", thin(d.y, d.yText, few ? 5 : 8)),
        zaxis: { ...axis(c, "", { tickvals: d.zPlaces, ticktext: d.zText }), range: [0, 1.05] },
        aspectmode: "manual", aspectratio: { x: 1.15, y: 1.15, z: 0.7 }, dragmode: "turntable",
        camera: { eye: { x: few ? 1.75 : 1.5, y: few ? 1.75 : 1.5, z: 0.85 }, center: { x: 0, y: 0, z: -0.12 } }
      }
    };
  };

  const live = new Set();
  const data = figure => JSON.parse(figure.querySelector("script").textContent);
  const draw = async figure => {
    live.add(figure);
    const plotly = await load();
    if (!live.has(figure) || figure.classList.contains("drawn")) return;
    const box = figure.querySelector(".live"), d = data(figure);
    box.hidden = false;
    figure.classList.add("drawn");
    try {
      await plotly.newPlot(box, traces(d), layout(d, box.clientWidth), {
        responsive: true, displaylogo: false, scrollZoom: false, modeBarButtonsToRemove: ["zoom3d", "pan3d", "orbitRotation", "tableRotation", "resetCameraLastSave3d", "hoverClosest3d"]
      });
      // The library measures letters in a drawing of its own, which is nobody's picture.
      document.getElementById("js-plotly-tester")?.setAttribute("aria-hidden", "true");
    } catch (error) {
      rest(figure);
    }
  };
  const rest = figure => {
    live.delete(figure);
    if (!figure.classList.contains("drawn")) return;
    const box = figure.querySelector(".live");
    window.Plotly.purge(box);
    box.hidden = true;
    figure.classList.remove("drawn");
  };

  // Arrow keys turn the focused figure.
  const turn = (event, box) => {
    const steps = { ArrowLeft: [-0.15, 0], ArrowRight: [0.15, 0], ArrowUp: [0, 0.12], ArrowDown: [0, -0.12] }[event.key];
    if (!steps || !box.layout || event.target !== box) return;
    event.preventDefault();
    const camera = box._fullLayout.scene._scene.getCamera(), eye = camera.eye;
    const cos = Math.cos(steps[0]), sin = Math.sin(steps[0]);
    const turned = { x: eye.x * cos - eye.y * sin, y: eye.x * sin + eye.y * cos, z: Math.max(-0.3, Math.min(2.2, eye.z + steps[1])) };
    window.Plotly.relayout(box, { "scene.camera": { ...camera, eye: turned } });
  };

  const start = () => {
    const observer = new IntersectionObserver(entries => {
      for (const entry of entries) entry.isIntersecting ? draw(entry.target) : rest(entry.target);
    }, { rootMargin: "400px 0px" });
    figures.forEach(figure => {
      observer.observe(figure);
      const box = figure.querySelector(".live");
      box.addEventListener("keydown", event => turn(event, box));
    });
  };
  const later = window.requestIdleCallback ?? (run => setTimeout(run, 50));
  if (document.readyState === "complete") later(start); else addEventListener("load", () => later(start));

  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    for (const figure of live) {
      const box = figure.querySelector(".live");
      if (!box.layout) continue;
      const camera = box._fullLayout.scene._scene.getCamera(), next = layout(data(figure), box.clientWidth);
      next.scene.camera = camera;
      window.Plotly.react(box, traces(data(figure)), next);
    }
  });
})();
