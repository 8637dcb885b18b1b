/* What a run shows: its tokens, the five that were most probable, the beam, and the attention of every head.
 *
 * A run is { read, switches, steps }: the sentence, what was broken, and what decoding.js has yielded so far. While it
 * grows only what changes is drawn; attention, by far the most to draw, waits for its end. */
(function () {
  "use strict";
  const live = (globalThis.live = globalThis.live || {});

  class Results {
    constructor(words, { layers, heads }) {
      const { make } = live.drawing;
      Object.assign(this, { words, say: live.phrases, view: { kind: "cross", layer: layers - 1, head: "mean" } });
      this.name = (id) => words.name(id);
      this.chosen = null; // the place of the token to look at; null: the last
      this.tokens = make("div", { class: "live-row live-tokens", role: "group", "aria-label": this.say.tokens, lang: "en" });
      this.top = new live.drawing.TopTable(this.name, this.say);
      this.beam = this.buildBeam();
      this.attention = this.buildAttention(layers, heads);
      this.element = make("div", { class: "live-output", hidden: true }, this.tokens, this.top.element, this.beam, this.attention);
    }

    buildBeam() {
      const { make } = live.drawing, { say } = this;
      this.tree = make("div", { class: "live-scroll", tabindex: "0", role: "group", "aria-label": say.tree });
      this.finished = make("div", {});
      return make("section", {}, make("p", { class: "live-title" }, say.tree), this.tree,
        make("p", { class: "live-note" }, say.treeKey), this.finished);
    }

    buildAttention(layers, heads) {
      const { make } = live.drawing, { say, view } = this, { select, counted } = live.controls;
      const pick = (name, text, options) => {
        const { field, label } = select(name, text, options, {
          onchange: () => {
            view[name] = name === "layer" ? Number(field.value) : field.value;
            this.drawAttention();
          },
        });
        field.value = String(view[name]);
        return label;
      };
      this.map = make("div", { class: "live-scroll", tabindex: "0", role: "group", "aria-label": say.attention });
      return make("section", {}, make("p", { class: "live-title" }, say.attention),
        make("div", { class: "live-row" },
          pick("kind", say.ofKind, live.switches.KINDS.map((kind) => [kind, say.kinds[kind]])),
          pick("layer", say.layer, counted(layers)), pick("head", say.head, [...counted(heads), ["mean", say.mean]])),
        this.map, make("p", { class: "live-note" }, say.mapKey));
    }

    hide() {
      this.element.hidden = true;
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
      this.element.hidden = false;
      this.element.setAttribute("aria-busy", "true");
    }

    finish(run) {
      this.grow(run);
      this.drawAttention();
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
      const { view, say } = this, { rows, queries, keys } = this.weights(this.place + 1);
      const title = say.map(say.kinds[view.kind], view.layer + 1, view.head === "mean" ? "mean" : Number(view.head) + 1);
      this.map.replaceChildren(live.drawing.attentionMap(rows, queries, keys, title, say));
    }

    /* The chosen map as far as `count` tokens, with its labels. */
    weights(count) {
      const { view } = this, { tokens, maps } = this.path, { read, switches } = this.run;
      const heads = maps[view.kind][view.layer], source = [...read.words, "</s>"];
      const rows = view.head === "mean" ? live.drawing.meanOver(heads) : heads[Number(view.head)];
      if (view.kind === "encoder") return { rows, queries: source, keys: source };
      const inputs = this.before(tokens.length - 1);
      const queries = inputs.map((input, i) => this.say.read(input, this.name(tokens[i].token)));
      if (view.kind === "cross") return { rows: rows.slice(0, count), queries: queries.slice(0, count), keys: source };
      const open = switches.causal === 0; // without the mask an early word sees later ones
      const seen = rows.map((row, i) => Array.from(row).slice(0, open ? row.length : i + 1));
      return { rows: seen.slice(0, count), queries: queries.slice(0, count), keys: open ? inputs : inputs.slice(0, count) };
    }
  }

  live.results = { Results };
})();
