/* The translator in the page: what the reader chose, one run after another, and what they show. */
(function () {
  "use strict";
  const live = (globalThis.live = globalThis.live || {});
  const PACE = 160; // ms between two tokens, so that an eye can follow
  const BEAMS = [2, 4, 8];
  const ALPHA = { min: 0, max: 2, step: 0.1, value: 0.6 };
  const TEMPERATURE = { min: 0.2, max: 3, step: 0.1, value: 1 };

  class Translator {
    constructor(place, { engine, words: raw }) {
      Object.assign(this, { place, engine, raw, words: new live.text.Words(raw), say: live.phrases });
      this.run = 0; // the number of the last run; older ones stop
      this.view = { kind: "cross", layer: raw.sizes.layers - 1, head: "mean" };
      this.steps = [];
      this.build();
    }

    // ---- The controls ------------------------------------------------------------------------------------

    build() {
      const { make } = live.drawing, { say } = this, id = (name) => `live-${name}`;
      this.input = make("input", { type: "text", id: id("source"), lang: "fr", autocomplete: "off", spellcheck: "false", value: this.raw.examples[0] });
      const examples = this.raw.examples.map((text) => make("button", {
        type: "button", class: "live-chip", lang: "fr", onclick: () => { this.input.value = text; this.translate(); },
      }, text));
      this.method = this.select("method", say.method, [["1", say.greedy], ...BEAMS.map((width) => [String(width), say.beam(width)])]);
      this.alpha = this.range("alpha", say.alpha, ALPHA);
      this.temperature = this.range("temperature", say.temperature, TEMPERATURE);
      this.boxes = Object.fromEntries(["mask", "positions", "scale"].map((name) => [name, this.box(name, say[name])]));
      this.heads = this.select("heads", say.heads, [["all", say.allHeads], ["only", say.onlyHead], ["off", say.headOff]]);
      const { layers, heads } = this.raw.sizes;
      this.kindOff = this.select("off-kind", say.ofKind, live.switches.KINDS.map((kind) => [kind, say.kinds[kind]]));
      this.layerOff = this.select("off-layer", say.layer, counted(layers));
      this.headOff = this.select("off-head", say.head, counted(heads));
      this.looks = make("ul", { class: "live-looks" });
      this.message = make("div", { class: "live-message", role: "status", "aria-live": "polite" });
      this.output = make("div", { class: "live-output" });
      const form = make("form", { class: "live-form", onsubmit: (event) => { event.preventDefault(); this.translate(); } },
        make("div", { class: "live-row live-sentence" }, make("label", { for: id("source") }, say.sentence), this.input,
          make("button", { type: "submit", class: "live-go" }, say.translate)),
        make("div", { class: "live-row" }, make("span", {}, say.examples), ...examples),
        make("fieldset", {}, make("legend", {}, say.decoding), make("div", { class: "live-row" },
          this.method.label, this.alpha.label, this.temperature.label)),
        make("fieldset", {}, make("legend", {}, say.breakIt),
          make("div", { class: "live-row" }, ...Object.values(this.boxes).map((box) => box.label)),
          make("div", { class: "live-row" }, this.heads.label, this.kindOff.label, this.layerOff.label, this.headOff.label),
          this.looks));
      form.addEventListener("change", (event) => { if (event.target !== this.input) { this.settle(); this.translate(); } });
      this.place.replaceChildren(form, this.message, this.output);
      this.settle();
    }

    select(name, text, options) {
      const { make } = live.drawing;
      const field = make("select", { name }, ...options.map(([value, shown]) => make("option", { value }, shown)));
      return { field, label: make("label", {}, `${text} `, field), get value() { return field.value; } };
    }

    range(name, text, limits) {
      const { make } = live.drawing;
      const shown = make("output", {}, limits.value.toFixed(1));
      const field = make("input", { type: "range", name, ...limits, oninput: () => { shown.textContent = Number(field.value).toFixed(1); } });
      return { field, label: make("label", {}, `${text} `, field, shown), get value() { return Number(field.value); } };
    }

    box(name, text) {
      const { make } = live.drawing;
      const field = make("input", { type: "checkbox", name });
      return { field, label: make("label", {}, field, ` ${text}`), get value() { return field.checked; } };
    }

    /* Shows the choices that matter now, and what to look for. */
    settle() {
      const { make } = live.drawing, { say } = this;
      this.alpha.label.hidden = this.method.value === "1";
      this.kindOff.label.hidden = this.layerOff.label.hidden = this.heads.value !== "off";
      this.headOff.label.hidden = this.heads.value === "all";
      const thrown = Object.keys(this.boxes).filter((name) => this.boxes[name].value);
      if (this.heads.value !== "all") thrown.push(this.heads.value);
      if (this.temperature.value !== TEMPERATURE.value) thrown.push("temperature");
      this.looks.replaceChildren(...thrown.map((name) => make("li", {}, say.look[name])));
      this.looks.hidden = !thrown.length;
    }

    switches() {
      const { mask, positions, scale } = this.boxes;
      return live.switches.fromChoices({
        noMask: mask.value, noPositions: positions.value, noScale: scale.value, heads: this.heads.value,
        head: { kind: this.kindOff.value, layer: Number(this.layerOff.value), head: Number(this.headOff.value) },
      }, this.raw.sizes);
    }

    // ---- A run ---------------------------------------------------------------------------------------------

    async translate() {
      const run = ++this.run, read = this.words.read(this.input.value);
      delete this.place.dataset.translation;
      if (read.problem) return this.refuse(read);
      const switches = this.switches(), settings = this.settings(read);
      this.read = read;
      this.steps = [];
      this.chosen = null; // the token to look at; null: the last
      this.message.replaceChildren();
      try {
        const began = performance.now();
        for await (const step of this.search(this.engine.reader(read.ids, switches), settings)) {
          if (run !== this.run) return;
          this.steps.push(step);
          this.show({ growing: !step.done });
          if (!step.done) await this.pause();
        }
        this.elapsed = performance.now() - began;
        const trained = live.switches.isAtRest(switches, this.raw.sizes) ? null : await this.trained(read, settings);
        if (run === this.run) this.tell(trained);
      } catch (error) {
        if (run !== this.run) return;
        this.message.replaceChildren(this.say.wentWrong(error));
      }
    }

    settings({ ids }) {
      return {
        special: this.words.special, limit: ids.length + this.raw.extraTokens, temperature: this.temperature.value,
        beam: Number(this.method.value), alpha: this.alpha.value,
      };
    }

    search(reader, settings) {
      return settings.beam === 1 ? live.decoding.greedy(reader, settings) : live.decoding.beamSearch(reader, settings);
    }

    async trained(read, settings) {
      let last;
      for await (const step of this.search(this.engine.reader(read.ids), { ...settings, temperature: 1 })) last = step;
      return this.words.write(last.finished ? last.finished[0].tokens : last.tokens);
    }

    pause() {
      const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
      return new Promise((resolve) => setTimeout(resolve, still ? 0 : PACE));
    }

    /* Never a silent wrong answer: the words that the model cannot read, each with near ones. */
    refuse({ problem, unknown }) {
      const { make } = live.drawing, { problems } = this.say;
      this.output.replaceChildren();
      if (problem !== "unknown") {
        const words = problem === "long" ? problems.long(this.raw.maxSource) : problems.empty;
        return this.message.replaceChildren(make("p", {}, words));
      }
      this.message.replaceChildren(...unknown.map(({ word, place, isEnglish, near }) => make("p", {},
        isEnglish ? problems.english(word) : problems.unknown(word), " ",
        near.length ? problems.instead : problems.nothingNear, " ",
        ...near.map((other) => make("button", {
          type: "button", class: "live-chip", lang: "fr", onclick: () => this.replaceWord(place, other),
        }, other)))));
    }

    replaceWord(place, other) {
      const words = this.words.split(this.input.value);
      words[place] = other;
      this.input.value = words.join(" ").replaceAll("' ", "'");
      this.input.focus();
      this.translate();
    }

    tell(trained) {
      const { make } = live.drawing, { say } = this, text = this.written() || say.nothing;
      const lines = [make("p", {}, `${say.result}: `, make("strong", { lang: "en" }, text))];
      if (trained !== null) lines.push(make("p", {}, trained === text ? say.sameAsTrained : say.asTrained(trained || say.nothing)));
      if (this.steps.length >= this.settings(this.read).limit) lines.push(make("p", {}, say.cutOff));
      this.message.replaceChildren(...lines);
      this.place.dataset.translation = text;
      this.place.dataset.elapsed = Math.round(this.elapsed);
    }

    // ---- What a run shows ------------------------------------------------------------------------------------

    /* The hypothesis that is shown: { token, top } of each step, and its maps. */
    path() {
      const last = this.steps.at(-1);
      if (!last.grown) return { tokens: this.steps.map(({ token, top }) => ({ token, top })), maps: last.maps[0] };
      const node = last.finished.length ? last.finished[0].node : last.open[0].node;
      const tokens = live.tree.pathTo(this.steps, node), end = tokens.at(-1);
      return { tokens, maps: this.steps[end.step].maps[end.row] };
    }

    written() {
      const last = this.steps.at(-1);
      return this.words.write(last.finished ? last.finished[0].tokens : last.tokens);
    }

    show({ growing = false } = {}) {
      const { make } = live.drawing, path = this.path(), name = (id) => this.words.name(id);
      const at = growing || this.chosen === null ? path.tokens.length - 1 : Math.min(this.chosen, path.tokens.length - 1);
      const tokens = path.tokens.map(({ token }, i) => make("button", {
        type: "button", class: "live-token", "aria-pressed": String(i === at), onclick: () => this.choose(i, ".live-token", i),
      }, name(token)));
      const before = ["<s>", ...path.tokens.map(({ token }) => name(token))].slice(0, at + 1);
      const parts = [
        make("div", { class: "live-row live-tokens", role: "group", "aria-label": this.say.step, lang: "en" }, ...tokens),
        live.drawing.topTable(path.tokens[at].top, path.tokens[at].token, name, this.say.top(before.join(" ")), this.say),
      ];
      if (this.steps[0].grown) parts.push(this.beam());
      parts.push(this.attention(path, before));
      const scrolled = [...this.output.querySelectorAll(".live-scroll")].map((box) => box.scrollLeft);
      this.output.replaceChildren(...parts);
      this.output.querySelectorAll(".live-scroll").forEach((box, i) => { box.scrollLeft = scrolled[i] || 0; });
    }

    /* Looks at another token, and keeps the keyboard where it was. */
    choose(place, kind, index) {
      this.chosen = place;
      this.show();
      this.output.querySelectorAll(kind)[index].focus();
    }

    beam() {
      const { make } = live.drawing, { say } = this, { finished } = this.steps.at(-1);
      const list = finished.map(({ tokens, score, logProb }) => make("li", {},
        make("span", { lang: "en" }, this.words.write(tokens) || say.nothing), ` (${say.score(score, logProb)})`));
      return make("section", {}, make("h4", {}, say.tree),
        make("div", { class: "live-scroll", tabindex: "0", role: "group", "aria-label": say.tree },
          live.drawing.treePicture(live.tree.layOut(this.steps), (id) => this.words.name(id), say)),
        make("p", { class: "live-note" }, say.treeKey),
        ...(list.length ? [make("p", {}, `${say.finished}:`), make("ol", {}, ...list)] : []));
    }

    attention({ tokens, maps }, before) {
      const { make } = live.drawing, { say, view } = this, { layers, heads } = this.raw.sizes;
      const pick = (name, text, options) => {
        const choice = this.select(name, text, options);
        choice.field.value = String(view[name]);
        choice.field.addEventListener("change", () => {
          view[name] = name === "layer" ? Number(choice.field.value) : choice.field.value;
          this.show();
          this.output.querySelector(`select[name=${name}]`).focus();
        });
        return choice.label;
      };
      const { rows, queries, keys } = this.map(tokens, maps, before.length);
      const title = say.map(say.kinds[view.kind], view.layer + 1, view.head === "mean" ? "mean" : Number(view.head) + 1);
      return make("section", {}, make("h4", {}, say.attention),
        make("div", { class: "live-row" }, pick("kind", say.ofKind, live.switches.KINDS.map((kind) => [kind, say.kinds[kind]])),
          pick("layer", say.layer, counted(layers)), pick("head", say.head, [...counted(heads), ["mean", say.mean]])),
        make("div", { class: "live-scroll", tabindex: "0", role: "group", "aria-label": title },
          live.drawing.attentionMap(rows, queries, keys, title, say)),
        make("p", { class: "live-note" }, say.mapKey));
    }

    /* The rows of the chosen map as far as the chosen token, with their labels. */
    map(tokens, maps, count) {
      const { view } = this, heads = maps[view.kind][view.layer];
      const source = [...this.read.words, "</s>"];
      const rows = view.head === "mean" ? live.drawing.meanOver(heads) : heads[Number(view.head)];
      if (view.kind === "encoder") return { rows, queries: source, keys: source };
      const inputs = ["<s>", ...tokens.map(({ token }) => this.words.name(token))].slice(0, rows.length);
      const queries = inputs.map((input, i) => this.say.read(input, this.words.name(tokens[i].token)));
      if (view.kind === "cross") return { rows: rows.slice(0, count), queries: queries.slice(0, count), keys: source };
      const open = this.switches().causal === 0;
      const seen = rows.map((row, i) => Array.from(row).slice(0, open ? row.length : i + 1));
      return { rows: seen.slice(0, count), queries: queries.slice(0, count), keys: open ? inputs : inputs.slice(0, count) };
    }
  }

  const counted = (n) => Array.from({ length: n }, (_, i) => [String(i), String(i + 1)]);

  live.component = { Translator };
})();
