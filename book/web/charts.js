/* Draws the book's Altair charts from local files.
 *
 * Altair's own HTML output asks a CDN for Vega unless window.VEGA_DEBUG already holds the versions it
 * wants, and then calls window.vegaEmbed. This script answers both: it claims the versions (a test compares
 * them with Altair's) and gives a vegaEmbed that fetches vendor/vega* when a chart comes near the
 * viewport. Text, axes and rules are drawn in `currentColor`, so a chart follows light and dark by
 * CSS alone and its sliders keep their values. */
(function () {
  "use strict";

  window.VEGA_DEBUG = { vega_version: "6", vegalite_version: "6.4.1", vegaembed_version: "7" };

  const HERE = new URL(".", document.currentScript.src);
  const LIBRARIES = ["vega/vega.min.js", "vega-lite/vega-lite.min.js", "vega-embed/vega-embed.min.js"];
  const NEAR = "600px";
  const LEAST_HEIGHT = 100; // px
  const WIDE = 560; // px: from here on a column has room for larger letters, and for larger maps
  const LARGEST = { cell: 64, map: 640, figure: 900, growth: 1.6 }; // px, px, px, times
  const FONT = "14px 'Source Sans 3'";
  const LETTER = 14; // px, of axes and legends on a wide column
  const TITLE = 16; // px: a title is the caption of its figure
  const INK = "currentColor";
  const GUIDE = { labelColor: INK, titleColor: INK, subtitleColor: INK };
  const AXIS = { ...GUIDE, domainColor: INK, tickColor: INK, gridColor: INK, gridOpacity: 0.14 };
  const CONFIG = {
    background: "transparent",
    aria: false, // the chart has one description; a label on each of 800 cells is noise
    view: { stroke: null },
    axis: AXIS,
    legend: GUIDE,
    header: GUIDE,
    title: { color: INK, subtitleColor: INK },
    text: { color: INK },
    rule: { color: INK },
  };

  let drawWithVega = null; // the real vega-embed, once loaded
  Object.defineProperty(window, "vegaEmbed", {
    configurable: true,
    get: () => embed,
    set: (loaded) => { drawWithVega = loaded; },
  });

  const waiting = new Map(); // element → the function that draws it
  const watcher = new IntersectionObserver(
    (entries) => entries.filter((entry) => entry.isIntersecting).forEach((entry) => draw(entry.target)),
    { rootMargin: NEAR + " 0px" },
  );
  window.addEventListener("beforeprint", () => {
    document.querySelectorAll(".chart:not([data-drawn])").forEach(showStill); // paper does not wait for the drawing
    [...waiting.keys()].forEach(draw);
  });

  function showStill(element) {
    const still = element.nextElementSibling;
    if (still?.matches("noscript")) still.outerHTML = still.textContent;
  }

  function embed(target, spec, options) {
    const element = typeof target === "string" ? document.querySelector(target) : target;
    element.classList.add("chart");
    element.style.minHeight = reservedHeight(spec, element.clientWidth) + "px";
    return new Promise((resolve, reject) => {
      waiting.set(element, () => drawNow(element, spec, options).then(resolve, reject));
      watcher.observe(element);
    });
  }

  function draw(element) {
    const start = waiting.get(element);
    waiting.delete(element);
    watcher.unobserve(element);
    if (start) start();
  }

  async function drawNow(element, spec, options) {
    await Promise.all([libraries(), document.fonts.load(FONT)]); // Vega measures words before it draws them
    const inked = { ...spec, config: merged(spec.config || {}, CONFIG) };
    const adapted = fitted(lettered(inked, element.clientWidth), element);
    const result = await drawWithVega(element, adapted, { ...options, renderer: "svg", actions: false });
    const parts = spec.vconcat || spec.hconcat;
    if ((parts || [spec]).some(isMap)) await fillRoom(element, result.view, parts ? LARGEST.figure : LARGEST.map);
    describe(element, spec.description || titleOf(spec));
    element.style.minHeight = "";
    element.dataset.drawn = "true";
    return result;
  }

  let loading = null;
  function libraries() {
    loading = loading || LIBRARIES.reduce((before, file) => before.then(() => load(file)), Promise.resolve());
    return loading;
  }

  function load(file) {
    return new Promise((resolve, reject) => {
      const script = document.createElement("script");
      script.src = new URL("vendor/" + file, HERE);
      script.onload = resolve;
      script.onerror = () => reject(new Error("could not load " + script.src));
      document.head.append(script);
    });
  }

  function merged(base, over) {
    const out = { ...base };
    for (const [key, value] of Object.entries(over)) {
      const deep = value && typeof value === "object" && !Array.isArray(value);
      out[key] = deep ? merged(out[key] || {}, value) : value;
    }
    return out;
  }

  /* On a narrow screen a single plot is drawn as wide as the page, on a wide one up to 1.6 times its size;
   * what is composed of several plots keeps its size and scrolls in its own box. */
  function fitted(spec, element) {
    const single = spec.mark || (spec.layer && !spec.encoding?.row && !spec.encoding?.column);
    const room = element.clientWidth;
    if (!single || typeof spec.width !== "number") return spec;
    if (room < spec.width + 90) return { ...spec, width: "container", autosize: { type: "fit-x", contains: "padding" } };
    const growth = room < WIDE || typeof spec.height !== "number" ? 1 : Math.min(LARGEST.growth, (room - 130) / spec.width);
    return { ...spec, width: spec.width * growth, height: growth === 1 ? spec.height : spec.height * growth };
  }

  /* Letters for a wide column: larger, titles in lines as long as the column, and no word cut off for it.
   * What is written into the cells of a map grows with them. */
  function lettered(spec, room) {
    const maps = (spec.vconcat || spec.hconcat || []).some(isMap);
    if (room < WIDE || !(spec.mark || spec.layer || maps)) return rewrapped(spec, room, spec.config.title);
    const guide = { labelFontSize: LETTER, titleFontSize: LETTER };
    const title = { fontSize: TITLE, subtitleFontSize: LETTER };
    const pinned = spec.width?.step && !isMap(spec); // it does not grow, nor do its letters
    const sizes = pinned ? { title } : { axis: guide, legend: { ...guide, labelLimit: 300 }, header: guide, title };
    const larger = { ...withLargerText(spec, isMap(spec) && "x_step"), config: merged(spec.config, sizes) };
    for (const parts of ["vconcat", "hconcat"]) {
      if (spec[parts]) larger[parts] = spec[parts].map((part, n) => withLargerText(part, isMap(part) && `concat_${n}_x_step`));
    }
    if (maps || isMap(spec)) larger.autosize = { type: "pad", resize: true }; // its labels are measured again as it grows
    return rewrapped(larger, room, title);
  }

  /* Cells of a given size, and nothing that stands at a given pixel: that would not grow with them. */
  function isMap(spec) {
    const pinned = (part) => [part.encoding?.x, part.encoding?.y].some((channel) => channel?.value > 0);
    return Boolean(spec.width?.step && spec.height?.step && ![spec, ...(spec.layer || [])].some(pinned));
  }


  /* `step` names the signal of a cell's width, where there are cells. */
  function withLargerText(part, step) {
    if (Array.isArray(part)) return part.map((one) => withLargerText(one, step));
    if (!part || typeof part !== "object") return part;
    const out = { ...part };
    if (step && part.type === "text" && part.fontSize < LETTER) {
      out.fontSize = { expr: `${step} < 40 ? ${part.fontSize} : ${LETTER}` };
    }
    for (const key of ["layer", "mark", "encoding", "x", "y", "axis"]) {
      if (part[key]) out[key] = withLargerText(part[key], step);
    }
    if (typeof part.labelLimit === "number") out.labelLimit = part.labelLimit * 1.4;
    return out;
  }

  /* The title in lines as long as the column; what is no plain text is reckoned by the chart and stays. */
  function rewrapped(spec, room, { fontSize = 13, subtitleFontSize = 12 }) {
    const lines = (text, size) => {
      const parts = [text || []].flat();
      const plain = parts.length && parts.every((part) => typeof part === "string");
      return plain ? broken(parts.join(" "), Math.floor(room / (0.52 * size))) : text;
    };
    const { title } = spec;
    if (!title) return spec;
    if (typeof title === "string" || Array.isArray(title)) return { ...spec, title: lines(title, fontSize) };
    return { ...spec, title: { ...title, text: lines(title.text, fontSize), subtitle: lines(title.subtitle, subtitleFontSize) } };
  }

  function broken(text, longest) {
    const out = [""];
    for (const word of text.split(/(?<!\d)\s+|\s+(?!\d{3}\b)/)) { // 4 000 is one word
      const line = out[out.length - 1];
      if (line && line.length + 1 + word.length > longest) out.push(word);
      else out[out.length - 1] = `${line} ${word}`.trim();
    }
    return out;
  }

  /* A map takes the width that it is given, as long as it fits a window: its cells grow, up to 64 px, or
   * shrink a little where the last column would be cut off. Vega-Lite keeps their size in signals. */
  async function fillRoom(element, view, highest) {
    const isStep = (name) => /(^|_)[xy]_step$/.test(name);
    const steps = view.getState({ signals: isStep, data: () => false }).signals;
    const names = Object.keys(steps);
    const scaleBy = (growth) => {
      names.forEach((name) => view.signal(name, Math.max(1, Math.floor(steps[name] * growth))));
      return view.runAsync();
    };
    async function fill() {
      await scaleBy(1);
      const [width, height] = extent(element);
      await scaleBy(1.5);
      const [wider, higher] = extent(element);
      const most = Math.min(
        element.clientWidth < WIDE ? 1 : LARGEST.cell / Math.max(...names.map((name) => steps[name])),
        1 + (0.5 * (element.clientWidth - 2 - width)) / Math.max(1, wider - width),
        Math.max(1, 1 + (0.5 * (highest - height)) / Math.max(1, higher - height)),
      );
      await scaleBy(most < 0.8 ? 1 : most); // smaller than that is no better than scrolling
    }
    await fill();
    whenWidthChanges(element, fill);
  }

  /* A window that is drawn wider, a phone that is turned. */
  function whenWidthChanges(element, act) {
    let width = element.clientWidth;
    let waiting = 0;
    new ResizeObserver(() => {
      if (Math.abs(element.clientWidth - width) < 8) return;
      width = element.clientWidth;
      clearTimeout(waiting);
      waiting = setTimeout(act, 150);
    }).observe(element);
  }

  /* Width and height of plots and axes; a title may be wider. */
  function extent(element) {
    const box = element.querySelector("svg.marks").getBoundingClientRect();
    const parts = [...element.querySelectorAll("svg.marks :is(.role-axis, path.background)")];
    const edges = parts.map((part) => part.getBoundingClientRect());
    return [Math.max(...edges.map((edge) => edge.right)) - box.left, Math.max(...edges.map((edge) => edge.bottom)) - box.top];
  }

  function describe(element, text) {
    const picture = element.querySelector("svg.marks");
    if (!picture) return;
    // Vega puts the description on the box that also holds the sliders; it belongs to the picture.
    const holder = picture.closest("[aria-roledescription]");
    if (holder) ["role", "aria-roledescription", "aria-label"].forEach((name) => holder.removeAttribute(name));
    picture.setAttribute("role", "img");
    picture.firstElementChild.setAttribute("aria-hidden", "true"); // its parts have no names of their own
    picture.setAttribute("aria-label", text || "Chart");
  }

  function titleOf(spec) {
    const title = spec.title && (spec.title.text || spec.title);
    return Array.isArray(title) ? title.join(" ") : title;
  }

  /* A close guess at the height, so that text below does not move when the chart appears. */
  function reservedHeight(spec, room) {
    const inputs = (spec.params || []).filter((param) => param.bind && param.bind !== "scales" && param.bind !== "legend");
    const guess = plotHeight(spec, spec.datasets || {}, room) + (spec.title ? 50 : 16) + inputs.length * 32;
    return Math.max(guess, LEAST_HEIGHT);
  }

  function plotHeight(spec, datasets, room) {
    const within = (part) => plotHeight({ data: spec.data, ...part }, datasets, room);
    const tallest = (parts) => Math.max(...parts.map(within));
    const titled = (part) => within(part) + (part.title ? 30 : 10);
    if (spec.vconcat) return spec.vconcat.reduce((sum, part) => sum + titled(part), 0);
    if (spec.hconcat) return tallest(spec.hconcat);
    if (spec.concat) return tallest(spec.concat) * Math.ceil(spec.concat.length / (spec.columns || spec.concat.length));
    if (spec.spec) return within(spec.spec);
    if (spec.layer && spec.height === undefined && !spec.encoding) return tallest(spec.layer);
    return Math.max(innerHeight(spec, datasets, room) + trimmings(spec), lowest(spec));
  }

  /* Where words end that stand at a given place, below the plot as a rule. */
  function lowest(spec) {
    const places = [spec, ...(spec.layer || [])].map((part) => part.encoding?.y?.value);
    return Math.max(0, ...places.filter((place) => place > 0)) + 80;
  }

  /* What stands around the plot: axes, a legend below, slanted labels. */
  function trimmings(spec) {
    const drawn = [spec, ...(spec.layer || [])].map((part) => part.encoding || {});
    const slanted = drawn.some((encoding) => encoding.x && encoding.x.axis && encoding.x.axis.labelAngle);
    const explained = drawn.some((encoding) =>
      ["color", "shape", "strokeDash"].some((channel) => hasLegend(encoding[channel])));
    const bare = drawn.every(({ x }) => !x || x.value !== undefined || x.axis === null);
    return (bare ? 10 : 50) + (slanted ? 35 : 0) + (explained ? 45 : 0) + listed(drawn);
  }

  /* What a legend with one name a line takes beyond its first two. */
  function listed(drawn) {
    const lines = drawn.map(({ color }) => (color?.legend?.columns === 1 && color.scale?.domain?.length) || 0);
    return Math.max(0, Math.max(...lines) - 2) * 17;
  }

  function hasLegend(channel) {
    const choice = channel && channel.condition && !channel.field ? channel.condition : channel;
    return [choice].flat().some((one) => one && (one.field || one.aggregate) && one.legend !== null);
  }

  function innerHeight(spec, datasets, room) {
    if (typeof spec.height === "number") return spec.height;
    const part = [spec, ...(spec.layer || [])].find((unit) => unit.encoding && unit.encoding.y) || {};
    const y = (part.encoding || {}).y || {};
    const step = spec.height && spec.height.step;
    if (!step && y.type !== "nominal" && y.type !== "ordinal") return 200;
    const data = part.data || spec.data || {};
    const rows = data.values || datasets[data.name] || [];
    const chosen = chosenBy([...(spec.transform || []), ...(part.transform || [])]);
    const places = new Map(); // of each choice
    for (const row of rows) {
      const group = chosen && row[chosen];
      if (row[y.field] !== undefined) places.set(group, (places.get(group) || new Set()).add(row[y.field]));
    }
    const most = Math.max(0, ...[...places.values()].map((group) => group.size));
    const matrix = rows[0] && Array.isArray(rows[0].weight) ? rows[0].weight.length : 0;
    const count = most || matrix || 5; // 5: the chart reckons them itself
    if (!isMap(spec) || room < WIDE) return (step || 20) * count;
    return count * Math.max(step, Math.min(LARGEST.cell, (room - 170) / count, LARGEST.map / count));
  }

  /* The field of which a menu or slider shows one value at a time: "datum.step == step". */
  function chosenBy(transforms) {
    const found = transforms.map(({ filter }) => /^datum\.(\w+) ===? \w+$/.exec(filter)).find(Boolean);
    return found && found[1];
  }
})();
