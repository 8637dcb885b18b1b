/* Pieces of the page: elements, the map of attention, the five tokens, the tree. Text is set as text, never as HTML. */
(function () {
  "use strict";
  const live = (globalThis.live = globalThis.live || {});
  const SVG = "http://www.w3.org/2000/svg";
  const CELL = 30, LABELS = 9; // px of a cell, px of a letter of a label, nearly
  const VIRIDIS = ["#440154", "#482878", "#3e4989", "#31688e", "#26828e", "#1f9e89", "#35b779", "#6ece58", "#b5de2b", "#fde725"];

  /* make("button", { type: "button", onclick }, "Translate", …) */
  function make(tag, attributes = {}, ...children) {
    return fill(document.createElement(tag), attributes, children);
  }

  function draw(tag, attributes = {}, ...children) {
    return fill(document.createElementNS(SVG, tag), attributes, children);
  }

  function fill(element, attributes, children) {
    for (const [name, value] of Object.entries(attributes)) {
      if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
      else if (value === true) element.setAttribute(name, "");
      else if (value !== false && value != null) element.setAttribute(name, value);
    }
    element.append(...children);
    return element;
  }

  /* The colour of a weight, as in the book's other maps. */
  function colour(weight) {
    const place = Math.min(Math.max(weight, 0), 1) * (VIRIDIS.length - 1), low = Math.floor(place);
    const [a, b] = [VIRIDIS[low], VIRIDIS[Math.min(low + 1, VIRIDIS.length - 1)]].map((hex) =>
      [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16)));
    return `rgb(${a.map((channel, i) => Math.round(channel + (b[i] - channel) * (place - low))).join(",")})`;
  }

  /* rows: one list of weights a query; shorter than the keys where the mask closes the rest. */
  function attentionMap(rows, queries, keys, title, phrases) {
    const left = 12 + LABELS * Math.max(...queries.map((one) => one.length));
    const top = 12 + 0.75 * LABELS * Math.max(...keys.map((one) => one.length));
    const over = Math.max(...keys.map((key, j) => 0.75 * LABELS * key.length - (keys.length - 1 - j) * CELL));
    const width = left + keys.length * CELL + Math.max(over, 4), height = top + rows.length * CELL + 4;
    const parts = [];
    let largest = { value: -1 };
    rows.forEach((weights, i) => keys.forEach((key, j) => {
      const value = weights[j], closed = value === undefined || value === null;
      if (!closed && value > largest.value) largest = { value, query: queries[i], key };
      const cell = { x: left + j * CELL, y: top + i * CELL, width: CELL - 1, height: CELL - 1 };
      const words = closed ? "" : phrases.cell(queries[i], key, value);
      parts.push(draw("rect", { ...cell, fill: closed ? "#9a9a9a" : colour(value) }, draw("title", {}, words)));
      if (!closed && value >= 0.1) {
        const ink = value > 0.6 ? "black" : "white";
        parts.push(draw("text", {
          x: cell.x + CELL / 2 - 0.5, y: cell.y + CELL / 2 + 4, fill: ink, "text-anchor": "middle", class: "live-small",
        }, value.toFixed(2).replace(/^0/, "")));
      }
    }));
    queries.forEach((query, i) => parts.push(draw("text", {
      x: left - 6, y: top + i * CELL + CELL / 2 + 4, "text-anchor": "end", fill: "currentColor",
    }, query)));
    keys.forEach((key, j) => parts.push(draw("text", {
      transform: `translate(${left + j * CELL + CELL / 2 + 4} ${top - 6}) rotate(-45)`, fill: "currentColor",
    }, key)));
    const words = phrases.mapWords({ title, queries: queries.length, keys: keys.length, ...largest });
    return draw("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": words },
      draw("g", { "aria-hidden": "true" }, ...parts));
  }

  function meanOver(heads) {
    return heads[0].map((row, i) => Array.from(row, (_, j) => heads.reduce((sum, head) => sum + head[i][j], 0) / heads.length));
  }

  /* The five tokens of a step as a table; the bar is the probability again, for the eye. */
  function topTable(top, chosen, name, caption, phrases) {
    const row = ({ id, probability }) => make("tr", id === chosen ? { class: "live-chosen" } : {},
      make("th", { scope: "row" }, name(id), id === chosen ? make("span", { class: "live-mark" }, ` ← ${phrases.chosen}`) : ""),
      make("td", {}, probability >= 0.001 ? probability.toFixed(3) : probability.toExponential(0)),
      make("td", { class: "live-bar", "aria-hidden": "true" },
        make("span", { style: `width:${(100 * probability).toFixed(1)}%` })));
    return make("table", { class: "live-top" }, make("caption", {}, caption),
      make("thead", {}, make("tr", {}, make("th", { scope: "col" }, phrases.token),
        make("th", { scope: "col" }, phrases.probability), make("td", { "aria-hidden": "true" }))),
      make("tbody", {}, ...top.map(row)));
  }

  const minus = (text) => text.replace("-", "−");
  const labelOf = (node, name) => (node.token === null ? "<s>" : name(node.token));
  const labelWidth = (node, name) => 8 + 7.6 * Math.max(labelOf(node, name).length, 4);

  function treePicture({ nodes, width, height }, name, phrases) {
    const byId = new Map(nodes.map((node) => [node.id, node]));
    const lines = nodes.filter(({ from }) => from !== null).map((node) => {
      const parent = byId.get(node.from);
      const start = parent.x + labelWidth(parent, name);
      return draw("path", {
        d: `M${start} ${parent.y + 10} C${parent.x + 88} ${parent.y + 10} ${node.x - 22} ${node.y + 10} ${node.x} ${node.y + 10}`,
        class: node.best ? "live-line live-best" : "live-line",
      });
    });
    const labels = nodes.flatMap((node) => {
      const token = labelOf(node, name), width = labelWidth(node, name);
      const box = node.finished ? [draw("rect", { x: node.x - 3, y: node.y - 3, width, height: 28, rx: 4, class: "live-box" })] : [];
      return [...box,
        draw("text", { x: node.x, y: node.y + 9, fill: "currentColor", class: node.best ? "live-best" : "" }, token),
        draw("text", { x: node.x, y: node.y + 21, fill: "currentColor", class: "live-small" }, minus(node.logProb.toFixed(2)))];
    });
    const finished = nodes.filter((node) => node.finished).length;
    return draw("svg", {
      width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": phrases.treeWords(nodes.length - 1, finished),
    }, draw("g", { "aria-hidden": "true" }, ...lines, ...labels));
  }

  live.drawing = { make, attentionMap, meanOver, topTable, treePicture, colour };
})();
