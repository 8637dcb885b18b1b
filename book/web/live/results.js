/* What a run shows: its tokens, the five that were most probable, the beam, and the attention of every head.
 *
 * A run is { read, switches, steps }: the sentence, what was broken, and what decoding.js has yielded so far. While it
 * grows only what changes is drawn; attention, by far the most to draw, waits for its end, and for its `products`. */
(function () {
  "use strict";
  const live = (globalThis.live = globalThis.live || {});

  class Results {
    constructor(words, sizes, ownName) {
      const { make } = live.drawing;
      Object.assign(this, { words, sizes, ownName, say: live.phrases, view: { kind: "cross", layer: sizes.layers - 1, head: 0, row: 0 } });
      this.name = (id) => words.name(id);
      this.chosen = null; // the place of the token to look at; null: the last
      this.tokens = make("div", { class: "live-row live-tokens", role: "group", "aria-label": this.say.tokens, lang: "en" });
      this.top = new live.drawing.TopTable(this.name, this.say);
      this.beam = this.buildBeam();
      this.attention = this.buildAttention(sizes);
      this.element = make("div", { class: "live-output", hidden: true }, this.tokens, this.top.element);
      this.below = make("div", { hidden: true }, this.beam, this.attention);
    }

    buildBeam() {
      const { make } = live.drawing, { say } = this;
      this.tree = make("div", { class: "live-scroll", tabindex: "0", role: "group", "aria-label": say.tree });
      this.finished = make("div", {});
      return make("section", {}, make("h2", { class: "live-title" }, say.tree), this.tree,
        make("p", { class: "live-note" }, say.treeKey), this.finished);
    }

    buildAttention({ layers, heads }) {
      const { make } = live.drawing, { say } = this, { select, counted } = live.controls;
      this.fields = {};
      const pick = (name, text, options) => {
        const onchange = () => this.look({ [name]: this.fields[name].value });
        const { field, label } = select(`map-${name}`, text, options, { onchange });
        this.fields[name] = field;
        return label;
      };
      const scroll = (kind, label) => make("div", { class: `live-scroll ${kind}`, tabindex: "0", role: "group", "aria-label": label });
      this.map = scroll("live-maps", say.attention);
      this.mapKey = make("p", { class: "live-note" });
      this.inside = scroll("live-inside", say.inside);
      return make("section", { class: "live-attention" }, make("h2", { class: "live-title" }, say.attention),
        make("div", { class: "live-row" },
          pick("kind", say.ofKind, live.switches.KINDS.map((kind) => [kind, say.kinds[kind]])),
          pick("layer", say.layer, counted(layers)), pick("head", say.head, [...counted(heads), ["mean", say.mean]]),
          pick("row", say.row, [])),
        this.map, this.mapKey, this.inside);
    }

    /* Shows another map or another row; a row of the decoder is a token, which is then the chosen one. */
    look(changes) {
      const asNumber = (value) => (Number.isNaN(Number(value)) ? value : Number(value));
      Object.entries(changes).forEach(([name, value]) => { this.view[name] = asNumber(value); });
      for (const name of ["kind", "layer", "head"]) this.fields[name].value = String(this.view[name]);
      if ("row" in changes && this.view.kind !== "encoder") return this.choose(this.view.row);
      this.drawAttention();
    }

    hide() {
      this.element.hidden = this.below.hidden = true;
    }

    /* The run after one more step. What stood here before stays until something takes its place. */
    grow(run) {
      if (run !== this.run) this.begin(run);
      this.path = live.tree.shown(run.steps);
      this.drawTokens();
      if (!this.picture) return;
      this.picture.grow(live.tree.layOut(run.steps));
      this.tree.scrollLeft = this.tree.scrollWidth; // where it grows
    }

    begin(run) {
      Object.assign(this, { run, chosen: null });
      const isBeam = Boolean(run.steps[0].grown);
      this.picture = isBeam ? new live.drawing.TreePicture(this.name, this.say) : null;
      this.tree.replaceChildren(...(isBeam ? [this.picture.element] : []));
      this.beam.hidden = !isBeam;
      this.element.hidden = this.below.hidden = false;
      this.element.setAttribute("aria-busy", "true");
    }

    /* At its end the token to look at is the least sure one; without the mask the first, which looks ahead farthest. */
    finish(run, view) {
      this.grow(run);
      const { tokens } = this.path;
      this.chosen = run.switches.causal ? tokens.indexOf(live.tree.leastSure(tokens)) : 0;
      this.drawTokens();
      this.look(view ?? {});
      this.drawFinished(run.steps.at(-1).finished);
      this.element.removeAttribute("aria-busy");
    }

    /* Looks at the step that chose another token. */
    choose(place) {
      this.chosen = place;
      this.drawTokens();
      this.drawAttention();
    }

    get place() {
      return this.chosen === null ? this.path.tokens.length - 1 : this.chosen;
    }

    /* What the decoder had read when it chose this token. */
    before(place) {
      return ["<s>", ...this.path.tokens.slice(0, place).map(({ token }) => this.name(token))];
    }

    drawTokens() {
      const { tokens } = this.path, row = this.tokens, { make } = live.drawing;
      while (row.childElementCount > tokens.length) row.lastElementChild.remove();
      tokens.forEach(({ token }, i) => {
        const button = row.children[i]
          || row.appendChild(make("button", { type: "button", class: "live-token", onclick: () => this.choose(i) }));
        const name = this.name(token);
        if (button.textContent !== name) button.textContent = name;
        button.setAttribute("aria-pressed", String(i === this.place));
      });
      const { top, token } = tokens[this.place];
      this.top.update(top, token, this.say.top(this.before(this.place).join(" ")));
    }

    drawFinished(finished = []) {
      const { make } = live.drawing, { say } = this;
      if (!finished.length) return this.finished.replaceChildren();
      const items = finished.map(({ tokens, score, logProb }) => make("li", {},
        make("span", { lang: "en" }, this.words.write(tokens) || say.nothing), " ",
        make("span", { class: "live-note" }, say.score(score, logProb))));
      this.finished.replaceChildren(make("p", {}, say.finished), make("ol", {}, ...items));
    }

    drawAttention() {
      const { make, attentionMap, stepsTable } = live.drawing, { view, say, run } = this;
      const { queries, keys } = this.labels(), place = view.kind === "encoder" ? Math.min(view.row, queries.length - 1) : this.place;
      const row = this.fields.row;
      row.replaceChildren(...queries.map((query, i) => make("option", { value: i, selected: i === place }, query)));
      const title = say.map(say.kinds[view.kind], view.layer + 1, view.head === "mean" ? "mean" : view.head + 1, this.ownName);
      const map = ({ products, switches }, heading) => {
        const rows = live.attention.weightsOf(products[view.kind][view.layer], view.head, view.kind, switches, this.sizes);
        if (view.kind === "decoder" && switches.causal) rows.forEach((one, i) => one.fill(undefined, i + 1));
        return make("div", {}, make("p", { class: "live-note" }, heading),
          attentionMap({ rows, queries, keys, place, title: `${title}, ${heading}` }, say));
      };
      const maps = run.trained ? [map(run, say.broken), map(run.trained, say.trained)] : [map(run, title)];
      this.map.replaceChildren(...maps);
      this.mapKey.textContent = say.mapKey;
      if (view.head === "mean") return this.inside.replaceChildren(make("p", { class: "live-note" }, say.oneHead));
      const [own, trained] = [run, run.trained].map((one) => one
        && live.attention.rowsOf(one.products[view.kind][view.layer][view.head], view.kind, one.switches, this.sizes)[place]);
      const isScaled = run.switches.scoreScale === 1, isMasked = run.switches.causal === 1;
      const lines = [
        { name: say.steps.products, values: own.products },
        { name: say.steps.scaled(isScaled, this.sizes.dK), values: own.scaled },
        { name: say.steps.masked(view.kind === "decoder", isMasked), values: own.masked },
        { name: say.steps.weights, values: own.weights, weights: true },
      ];
      if (trained) lines.push({ name: say.steps.trained, values: trained.weights, weights: true });
      this.inside.replaceChildren(stepsTable(say.stepsOf(queries[place]), keys, lines, say));
      const best = own.weights.indexOf(Math.max(...own.weights)), column = this.inside.querySelectorAll("thead th")[best];
      this.mapKey.textContent += ` ${say.largest(own.weights[best], keys[best])}`;
      this.inside.scrollLeft = column.offsetLeft + column.offsetWidth - this.inside.clientWidth; // on a phone, too
      this.map.scrollLeft = this.map.scrollWidth - this.map.clientWidth - (keys.length - 1 - best) * live.drawing.CELL;
    }

    /* The words beside the rows and above the columns. */
    labels() {
      const { tokens } = this.path, source = [...this.run.read.words, "</s>"];
      if (this.view.kind === "encoder") return { queries: source, keys: source };
      const inputs = this.before(tokens.length - 1);
      const queries = inputs.map((input, i) => this.say.read(input, this.name(tokens[i].token)));
      return { queries, keys: this.view.kind === "cross" ? source : inputs };
    }
  }

  live.results = { Results };
})();
