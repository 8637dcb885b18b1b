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
  const LEAST_HEIGHT = 355; // px: what a plot of the book takes with its title, axes and legend
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
  window.addEventListener("beforeprint", () => [...waiting.keys()].forEach(draw));

  function embed(target, spec, options) {
    const element = typeof target === "string" ? document.querySelector(target) : target;
    element.classList.add("chart");
    element.style.minHeight = reservedHeight(spec) + "px";
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
    await libraries();
    const adapted = fitted({ ...spec, config: merged(spec.config || {}, CONFIG) }, element);
    const result = await drawWithVega(element, adapted, { ...options, renderer: "svg", actions: false });
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

  /* On a narrow screen a single plot is drawn as wide as the page; what is composed of several
   * plots keeps its size and scrolls in its own box. */
  function fitted(spec, element) {
    const single = spec.mark || (spec.layer && !spec.encoding?.row && !spec.encoding?.column);
    const room = element.clientWidth;
    if (!single || typeof spec.width !== "number" || room >= spec.width + 90) return spec;
    return { ...spec, width: "container", autosize: { type: "fit-x", contains: "padding" } };
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
  function reservedHeight(spec) {
    const inputs = (spec.params || []).filter((param) => param.bind && param.bind !== "scales" && param.bind !== "legend");
    const guess = plotHeight(spec, spec.datasets || {}) + (spec.title ? 50 : 16) + inputs.length * 32;
    return Math.max(guess, LEAST_HEIGHT);
  }

  function plotHeight(spec, datasets) {
    const within = (part) => plotHeight({ data: spec.data, ...part }, datasets);
    const tallest = (parts) => Math.max(...parts.map(within));
    const titled = (part) => within(part) + (part.title ? 30 : 10);
    if (spec.vconcat) return spec.vconcat.reduce((sum, part) => sum + titled(part), 0);
    if (spec.hconcat) return tallest(spec.hconcat);
    if (spec.concat) return tallest(spec.concat) * Math.ceil(spec.concat.length / (spec.columns || spec.concat.length));
    if (spec.spec) return within(spec.spec);
    if (spec.layer && spec.height === undefined && !spec.encoding) return tallest(spec.layer);
    return innerHeight(spec, datasets) + trimmings(spec);
  }

  /* What stands around the plot: axes, a legend below, slanted labels. */
  function trimmings(spec) {
    const drawn = [spec, ...(spec.layer || [])].map((part) => part.encoding || {});
    const slanted = drawn.some((encoding) => encoding.x && encoding.x.axis && encoding.x.axis.labelAngle);
    const explained = drawn.some((encoding) =>
      ["color", "shape", "strokeDash"].some((channel) => hasLegend(encoding[channel])));
    const bare = drawn.every(({ x }) => !x || x.value !== undefined || x.axis === null);
    return (bare ? 10 : 50) + (slanted ? 35 : 0) + (explained ? 45 : 0);
  }

  function hasLegend(channel) {
    const choice = channel && channel.condition && !channel.field ? channel.condition : channel;
    return [choice].flat().some((one) => one && (one.field || one.aggregate) && one.legend !== null);
  }

  function innerHeight(spec, datasets) {
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
    return (step || 20) * (most || 5); // 5: the chart reckons them itself
  }

  /* The field of which a menu or slider shows one value at a time: "datum.step == step". */
  function chosenBy(transforms) {
    const found = transforms.map(({ filter }) => /^datum\.(\w+) ===? \w+$/.exec(filter)).find(Boolean);
    return found && found[1];
  }
})();
