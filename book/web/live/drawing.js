/* Pieces of the page: elements, the map of attention, the five tokens, the tree. Text is set as text, never as HTML. */
(function () {
  "use strict";
  const live = (globalThis.live = globalThis.live || {});
  const SVG = "http://www.w3.org/2000/svg";
  const CELL = 30, LABELS = 9; // px of a cell, px of a letter of a label, nearly
  const LEAST_WRITTEN = 0.1; // smaller weights are a colour only
  const WEIGHT = "#0072b2", ON_WEIGHT = 0.93; // the book's colour of a weight; above this, white reads better on it
  const CLOSED = "#9a9a9a";

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

  /* The colour of a weight, as in Figure 21.1: the stronger, the more. */
  const colour = (weight) => `color-mix(in srgb, ${WEIGHT} ${(7 + 93 * weight).toFixed(1)}%, transparent)`;
  const ink = (weight) => (weight > ON_WEIGHT ? "white" : "currentColor");

  /* rows: one list of weights a query, undefined where the mask closes; the row at `place` is framed. */
  function attentionMap({ rows, queries, keys, place, title }, phrases) {
    const left = 12 + LABELS * Math.max(...queries.map((one) => one.length));
    const top = 12 + 0.75 * LABELS * Math.max(...keys.map((one) => one.length));
    const over = Math.max(...keys.map((key, j) => 0.75 * LABELS * key.length - (keys.length - 1 - j) * CELL));
    const width = left + keys.length * CELL + Math.max(over, 4), height = top + rows.length * CELL + 4;
    const parts = [];
    let largest = { value: -1 };
    rows.forEach((weights, i) => keys.forEach((key, j) => {
      const cell = { x: left + j * CELL, y: top + i * CELL, width: CELL - 1, height: CELL - 1 }, value = weights[j];
      if (value === undefined) return parts.push(draw("rect", { ...cell, fill: CLOSED }));
      if (value > largest.value) largest = { value, query: queries[i], key };
      parts.push(draw("rect", { ...cell, fill: colour(value) }, draw("title", {}, phrases.cell(queries[i], key, value))));
      if (value >= LEAST_WRITTEN) parts.push(draw("text", {
        x: cell.x + CELL / 2 - 0.5, y: cell.y + CELL / 2 + 4, fill: ink(value),
        "text-anchor": "middle", class: "live-small",
      }, value.toFixed(2).replace(/^0/, "")));
    }));
    queries.forEach((query, i) => parts.push(draw("text", {
      x: left - 6, y: top + i * CELL + CELL / 2 + 4, "text-anchor": "end", fill: "currentColor",
    }, query)));
    keys.forEach((key, j) => parts.push(draw("text", {
      transform: `translate(${left + j * CELL + CELL / 2 + 4} ${top - 6}) rotate(-45)`, fill: "currentColor",
    }, key)));
    parts.push(draw("rect", { class: "live-frame", x: 2, y: top + place * CELL - 2, width: left + keys.length * CELL - 1, height: CELL + 3, rx: 4 }));
    const words = phrases.mapWords({ title, queries: queries.length, keys: keys.length, ...largest });
    return draw("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": words },
      draw("g", { "aria-hidden": "true" }, ...parts));
  }

  /* One row of a map, from q·k to weights: `lines` are { name, values, weights: whether to tint }. */
  function stepsTable(caption, keys, lines, phrases) {
    const cell = ({ weights }, value) => {
      const style = weights && `background:${colour(value)};color:${ink(value)}`;
      return make("td", { style, class: value === -Infinity && "live-closed" }, phrases.score(value));
    };
    return make("table", { class: "live-steps" }, make("caption", {}, caption),
      make("thead", {}, make("tr", {}, make("td"), ...keys.map((key) => make("th", { scope: "col" }, key)))),
      make("tbody", {}, ...lines.map((line) => make("tr", {}, make("th", { scope: "row" }, line.name),
        ...line.values.map((value) => cell(line, value))))));
  }

  /* The five tokens of a step as a table; the bar is the probability again, for the eye. */
  class TopTable {
    constructor(name, phrases) {
      Object.assign(this, { name, phrases, rows: [] });
      this.caption = make("caption");
      this.body = make("tbody");
      this.element = make("table", { class: "live-top" }, this.caption,
        make("thead", {}, make("tr", {}, make("th", { scope: "col" }, phrases.token),
          make("th", { scope: "col" }, phrases.probability), make("td", { "aria-hidden": "true" }))),
        this.body);
    }

    update(top, chosen, caption) {
      this.caption.textContent = caption;
      while (this.rows.length < top.length) this.addRow();
      this.rows.forEach(({ row }, i) => { row.hidden = i >= top.length; }); // at the limit one token is left
      top.forEach(({ id, probability }, i) => {
        const { row, token, mark, number, bar } = this.rows[i];
        row.className = id === chosen ? "live-chosen" : "";
        token.data = this.name(id);
        mark.textContent = id === chosen ? ` ← ${this.phrases.chosen}` : "";
        number.textContent = this.phrases.share(probability);
        bar.style.width = `${(100 * probability).toFixed(1)}%`;
      });
    }

    addRow() {
      const token = document.createTextNode(""), mark = make("span", { class: "live-mark" });
      const number = make("td"), bar = make("span");
      const row = make("tr", {}, make("th", { scope: "row" }, token, mark), number,
        make("td", { class: "live-bar", "aria-hidden": "true" }, bar));
      this.rows.push({ row, token, mark, number, bar });
      this.body.append(row);
    }
  }

  const minus = (text) => text.replace("-", "−");

  /* The beam of tree.js: each node is drawn once, and later only marked. */
  class TreePicture {
    constructor(name, phrases) {
      Object.assign(this, { phrases, groups: new Map() });
      this.label = (node) => (node.token === null ? "<s>" : name(node.token));
      this.inside = draw("g", { "aria-hidden": "true" });
      this.element = draw("svg", { role: "img", class: "live-tree" }, this.inside);
    }

    grow({ nodes, width, height }) {
      const byId = new Map(nodes.map((node) => [node.id, node]));
      nodes.forEach((node) => {
        if (!this.groups.has(node.id)) this.add(node, byId.get(node.from));
        this.groups.get(node.id).setAttribute("class", [node.best && "live-best", node.finished && "live-finished"].filter(Boolean).join(" "));
      });
      const finished = nodes.filter((node) => node.finished).length;
      fill(this.element, { width, height, "aria-label": this.phrases.treeWords(nodes.length - 1, finished) }, []);
    }

    add(node, parent) {
      const { x, y } = node;
      const group = draw("g", {},
        draw("rect", { x: x - 4, y: y - 4, width: this.widthOf(node), height: 30, rx: 4 }),
        draw("text", { x, y: y + 9 }, this.label(node)),
        draw("text", { x, y: y + 21, class: "live-small" }, minus(node.logProb.toFixed(2))));
      if (parent) {
        const start = parent.x + this.widthOf(parent), middle = y + 10;
        group.prepend(draw("path", {
          d: `M${start} ${parent.y + 10} C${parent.x + 88} ${parent.y + 10} ${x - 22} ${middle} ${x - 6} ${middle}`,
        }));
      }
      this.groups.set(node.id, group);
      this.inside.append(group);
    }

    widthOf(node) {
      return 12 + 7.6 * Math.max(this.label(node).length, 4); // four letters: the number below is as wide
    }
  }

  live.drawing = { CELL, make, attentionMap, stepsTable, TopTable, TreePicture };
})();
