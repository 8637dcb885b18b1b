/* What `browsing.py` asks a page, from inside the page. */
(() => {
  const pause = (ms) => new Promise((done) => setTimeout(done, ms));
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const INPUTS = ".vega-bindings input, .vega-bindings select";
  const CHART = ".chart, .vega-embed";
  const GUIDES = ["axis", "legend", "title", "column-header", "row-header"]
    .map((role) => `.role-${role} text`).join(", ");

  // Charts are drawn when a frame shows them near the screen. Now and then Chromium has no frames
  // for a minute. The charts that scrolling left are then asked for as printing asks for them;
  // that scrolling draws them has a test of its own.
  const frame = () => new Promise((done) => requestAnimationFrame(done));
  const frames = async () => { await frame(); await frame(); };
  async function scrollThrough() {
    for (let y = 0; y < document.body.scrollHeight; y += 600) {
      window.scrollTo({ top: y, behavior: "instant" });
      await Promise.race([frames(), pause(100)]);
    }
  }

  const print = () => window.dispatchEvent(new Event("beforeprint"));
  const drawn = () => all(".chart[data-drawn]").map((chart) => chart.id);
  const toTheTop = () => window.scrollTo({ top: 0, behavior: "instant" });
  const allDrawn = () => all(".chart").every((chart) => chart.dataset.drawn);
  const undrawn = () => all("[id^='altair-viz'], .chart")
    .filter((box) => !box.querySelector("svg.marks")).map((box) => box.id);

  function overflowing() {
    const root = document.documentElement;
    const cut = all("svg.still").filter((svg) => {
      const box = svg.closest(".output, figure, body");
      return svg.getBoundingClientRect().right > box.getBoundingClientRect().right + 1;
    });
    const pictures = cut.map((svg) => "picture cut: " + svg.getAttribute("aria-label").slice(0, 60));
    if (root.scrollWidth <= root.clientWidth) return pictures;
    const wide = all("body *").filter((element) => {
      const box = element.getBoundingClientRect();
      return box.width && box.right > root.clientWidth + 1;
    });
    const names = wide.slice(0, 6).map((e) => `${e.tagName}.${e.className?.baseVal ?? e.className}`);
    return [`page is ${root.scrollWidth} px wide at ${root.clientWidth} px`, ...names, ...pictures];
  }

  const cutFormulas = () => all("div.math").filter((box) => {
    const places = all("math *", box).map((part) => part.getBoundingClientRect()).filter((part) => part.width);
    const here = box.getBoundingClientRect();
    const [first, last] = [Math.min(...places.map((part) => part.left)), Math.max(...places.map((part) => part.right))];
    if (first < here.left - 1) return true;
    if (last <= here.right + 1) return false;
    const scrolls = ["auto", "scroll"].includes(getComputedStyle(box).overflowX);
    return !scrolls || box.tabIndex < 0 || last - here.left > box.scrollWidth + 1;
  }).map((box) => box.textContent.trim().slice(0, 60));

  function nameless() {
    const pictures = all("article img").filter((image) => !image.alt.trim());
    const charts = all(".chart svg.marks").filter((svg) => {
      const label = svg.getAttribute("aria-label");
      return !label || label === "Chart";
    });
    return [
      ...pictures.map((image) => "image without alt text: " + image.src.slice(-80)),
      ...charts.map((svg) => "chart without description: " + svg.closest(".chart").id),
    ];
  }

  const values = () => all(INPUTS).map((input) =>
    input.type === "radio" || input.type === "checkbox" ? String(input.checked) : input.value);

  const pictures = () => all(".chart svg.marks").map((svg) => svg.outerHTML);

  const nameOf = (input) => `${input.type} ${input.name || input.id} in ${input.closest(CHART).id}`;

  function choose(input, attempt) {
    const send = (...names) => names.forEach((name) =>
      input.dispatchEvent(new Event(name, { bubbles: true })));
    if (input.tagName === "SELECT") {
      const others = [...input.options].map((_, i) => i).filter((i) => i !== input.selectedIndex);
      if (others.length) input.selectedIndex = others[attempt % others.length];
      send("input", "change");
    } else if (input.type === "radio" && input.checked) {
      // the one that is chosen proves itself by giving way
      const group = all(`input[name="${input.name}"]`, input.closest(CHART));
      group.filter((other) => other !== input)[attempt]?.click();
    } else if (input.type === "radio" || input.type === "checkbox") {
      input.click();
    } else {
      const [low, high] = [Number(input.min || 0), Number(input.max || 100)];
      input.value = [high, low, (low + high) / 2][attempt];
      send("input", "change");
    }
  }

  async function isDead(input) {
    const picture = () => input.closest(CHART).querySelector("svg.marks, canvas")?.outerHTML;
    for (const attempt of [0, 1, 2]) {
      const before = picture();
      choose(input, attempt);
      for (let wait = 0; wait < 40; wait += 1) {
        await pause(20);
        if (picture() !== before) return false;
      }
    }
    return true;
  }

  async function dead() {
    const found = [];
    for (const input of all(INPUTS)) if (await isDead(input)) found.push(nameOf(input));
    return found;
  }

  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  function rgba(colour) {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data];
  }

  function luminance(colour) {
    const linear = rgba(colour).slice(0, 3).map((c) => c / 255)
      .map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2];
  }

  function groundOf(element) {
    for (let e = element; e; e = e.parentElement) {
      const colour = getComputedStyle(e).backgroundColor;
      if (rgba(colour)[3] > 250) return colour;
    }
    return "#ffffff";
  }

  function contrast(one, other) {
    const [low, high] = [luminance(one), luminance(other)].sort((a, b) => a - b);
    return (high + 0.05) / (low + 0.05);
  }

  function faint(least) {
    const faults = [];
    for (const svg of all(".chart svg.marks")) {
      const ground = groundOf(svg);
      for (const text of all(GUIDES, svg).filter((t) => t.textContent.trim())) {
        const ratio = contrast(getComputedStyle(text).fill, ground);
        if (ratio < least) faults.push(`${text.textContent}: ${ratio.toFixed(2)}`);
      }
    }
    return faults;
  }

  const onLightGround = () => all(".chart")
    .filter((chart) => luminance(groundOf(chart)) > 0.5).map((chart) => chart.id);

  const theme = () => document.documentElement.dataset.mode;
  const pressThemeButton = () => document.querySelector(".theme-switch-button").click();

  /* What paper would cut: words and pictures to the right of the column, pictures taller than a page. */
  function cutOff(tallest) {
    const column = document.querySelector("article").getBoundingClientRect();
    const unseen = "span.math, .math :not(math), svg *, style, script";
    return all("article *").filter((element) => !element.matches(unseen)).flatMap((element) => {
      const box = element.getBoundingClientRect();
      const name = `${element.tagName}.${element.className?.baseVal ?? element.className}`;
      const scrolls = getComputedStyle(element).overflowX !== "visible" && element.scrollWidth > element.clientWidth + 1;
      const words = element.textContent.trim().slice(0, 40);
      if (box.width && box.right > column.right + 1) return [`${name} is cut at the right: ${words}`];
      if (scrolls && element.clientWidth > 1) return [`${name} scrolls: ${words}`];
      if (element.matches("svg, img") && box.height > tallest) return [`${name} is taller than a page`];
      return [];
    });
  }

  /* The longest lines of code and of its output, as they must stand on paper. */
  const longLines = () => all("article pre").filter((pre) => pre.offsetHeight)
    .flatMap((pre) => pre.innerText.split("\n")).map((line) => line.trim())
    .sort((one, other) => other.length - one.length).slice(0, 20);

  /* Of each figure that closes cells, one that is closed: `bring` shows it and says where it stands. */
  const CELLS = ".shut, .no, .cells:not(.weights) span";
  const isClosed = (cell) => cell.getClientRects().length && ![...cell.querySelectorAll("i")].some((i) => getComputedStyle(i).opacity > 0);
  const closed = () => all("figure.scene").map((figure) => all(CELLS, figure).find(isClosed)).filter(Boolean);
  async function bring(n) {
    const cell = closed()[n];
    cell.scrollIntoView({ block: "center", behavior: "instant" });
    await Promise.race([frames(), pause(200)]);
    const { x, y, width, height } = cell.getBoundingClientRect();
    return { x, y, width, height, figure: cell.closest("figure.scene").id };
  }

  /* A formula in a line that was broken over two, or that is higher than a line may become. */
  const brokenFormulas = () => all("article math:not(.tml-display)")
    .filter((math) => math.getClientRects().length > 1 || math.getBoundingClientRect().height > 44)
    .map((math) => `formula over two lines: ${math.textContent}`);

  const wideScenes = () => all(".cell_output .output:has(figure.scene)")
    .filter((box) => box.scrollWidth > box.clientWidth + 1)
    .map((box) => `${box.querySelector("figure").id} is ${box.scrollWidth} px wide in ${box.clientWidth} px`);

  async function drawnAtLast() {
    for (let wait = 0; wait < 600 && !allDrawn(); wait += 1) await pause(100);
    return undrawn();
  }

  window.probes = {
    cutOff, longLines, closed, bring, brokenFormulas, wideScenes, drawnAtLast,
    scrollThrough, print, toTheTop, drawn, allDrawn, undrawn, overflowing, cutFormulas, nameless, values, pictures,
    dead, faint, onLightGround, theme, pressThemeButton,
  };
})();
