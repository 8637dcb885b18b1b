/* What the reader types and chooses: the sentence, the search, and the switches that break the model. */
(function () {
  "use strict";
  const live = (globalThis.live = globalThis.live || {});
  const BEAMS = [2, 4, 8];
  const ALPHA = { min: 0, max: 2, step: 0.1, value: 0.6 };
  const TEMPERATURE = { min: 0.2, max: 3, step: 0.1, value: 1 };

  class Controls {
    /* `words` is what came with the model; `translate` is called when the reader asks for it or changes a choice. */
    constructor({ examples, unseen, kinds, sizes }, translate, ownName) {
      Object.assign(this, { sizes, ownName, say: live.phrases });
      this.unseen = new Map(Object.entries(unseen).flatMap(([split, pairs]) => pairs.map(([text, reference]) => [text, { split, reference }])));
      this.sentence = this.buildSentence(examples, kinds, translate);
      this.choices = this.buildChoices(sizes);
      this.choices.addEventListener("change", ({ target }) => {
        this.settle();
        const back = target.type === "checkbox" && !target.checked;
        translate(back ? null : live.switches.whereSeen(target.name, this.chosen));
      });
      this.settle();
    }

    buildSentence(examples, kinds, translate) {
      const { make } = live.drawing, { say } = this;
      this.input = make("input", {
        type: "text", id: "live-source", lang: "fr", autocomplete: "off", spellcheck: "false", value: examples[1], // on it every switch shows
      });
      const set = (text) => { this.input.value = text; translate(); };
      const chips = examples.map((text) => make("button", { type: "button", class: "live-chip", lang: "fr", onclick: () => set(text) }, text));
      const all = [...this.unseen.keys()];
      const another = make("button", {
        type: "button", class: "live-chip live-another", onclick: () => set(all[Math.floor(Math.random() * all.length)]),
      }, say.another(all.length));
      const onsubmit = (event) => { event.preventDefault(); translate(); };
      return make("form", { onsubmit },
        make("label", { for: "live-source" }, say.sentence),
        make("div", { class: "live-row live-sentence" }, this.input,
          make("button", { type: "submit", class: "live-go" }, say.translate)),
        make("div", { class: "live-row live-examples" }, make("span", {}, say.examples), ...chips, another),
        wordList(kinds, say));
    }

    buildChoices({ layers, heads }) {
      const { make } = live.drawing, { say } = this;
      this.method = select("method", say.method, [["1", say.greedy], ["sampled", say.sampled], ...BEAMS.map((width) => [String(width), say.beam(width)])]);
      this.alpha = range("alpha", say.alpha, ALPHA);
      this.temperature = range("temperature", say.temperature, TEMPERATURE);
      this.boxes = Object.fromEntries(["mask", "positions", "scale"].map((name) => [name, box(name, say[name])]));
      this.heads = select("heads", say.heads, [["all", say.allHeads], ["only", say.onlyHead], ["off", say.headOff]]);
      this.kind = select("off-kind", say.offKind, live.switches.KINDS.map((kind) => [kind, say.kinds[kind]]));
      this.layer = select("off-layer", say.offLayer, counted(layers));
      this.head = select("off-head", say.offHead, counted(heads));
      [this.kind.field.value, this.head.field.value] = ["cross", "2"]; // a head whose loss shows on that sentence
      this.looks = make("ul", { class: "live-looks" });
      return make("div", { class: "live-choices" },
        make("fieldset", {}, make("legend", {}, say.decoding),
          make("div", { class: "live-row" }, this.method.label, this.alpha.label, this.temperature.label)),
        make("fieldset", {}, make("legend", {}, say.breakIt),
          make("div", { class: "live-row" }, ...Object.values(this.boxes).map(({ label }) => label), this.heads.label,
            this.head.label, this.kind.label, this.layer.label),
          this.looks));
    }

    /* Shows the choices that matter now, and what to look for. */
    settle() {
      const { make } = live.drawing;
      this.alpha.label.hidden = this.beam === 1;
      this.head.label.hidden = this.heads.value === "all";
      this.kind.label.hidden = this.layer.label.hidden = this.heads.value !== "off";
      const thrown = Object.keys(this.boxes).filter((name) => this.boxes[name].field.checked);
      if (this.heads.value !== "all") thrown.push(this.heads.value);
      this.temperature.label.hidden = this.method.value !== "sampled";
      this.looks.replaceChildren(...thrown.map((name) => make("li", {}, this.ownName ? this.say.own.measured : "", this.say.look[name])));
      this.looks.hidden = !thrown.length;
    }

    get text() {
      return this.input.value;
    }

    /* The reference of a sentence that has one, with or without its full stop. */
    get reference() {
      return this.unseen.get(this.text.trim().replace(/\s*\.?$/, "."));
    }

    get beam() {
      return Number(this.method.value) || 1;
    }

    /* What decoding.js takes. */
    get search() {
      const sampled = this.method.value === "sampled";
      return { beam: this.beam, alpha: Number(this.alpha.value), sampled, temperature: sampled ? Number(this.temperature.value) : 1 };
    }

    get chosen() {
      const { mask, positions, scale } = this.boxes;
      return {
        noMask: mask.field.checked, noPositions: positions.field.checked, noScale: scale.field.checked,
        heads: this.heads.value,
        head: { kind: this.kind.value, layer: Number(this.layer.value), head: Number(this.head.value) },
      };
    }

    /* What the graphs take. */
    get switches() {
      return live.switches.fromChoices(this.chosen, this.sizes);
    }

    /* Ties the sentence to the message that says what is wrong with it. */
    mark(refused) {
      this.input.setAttribute("aria-invalid", String(refused));
      if (refused) this.input.setAttribute("aria-describedby", "live-message");
      else this.input.removeAttribute("aria-describedby");
    }

    /* Puts another word in the place of one of `typed`, which is how text.js has split the sentence. */
    replaceWord(typed, place, other) {
      this.input.value = typed.with(place, other).join(" ").replaceAll("' ", "'");
      this.input.focus();
    }
  }

  /* The words that it knows, folded, by kind. */
  function wordList(kinds, say) {
    const { make } = live.drawing;
    const sorted = (words) => [...words].sort((a, b) => a.localeCompare(b, "fr")).join(", ");
    const count = new Set(Object.values(kinds).flat()).size;
    return make("details", { class: "live-words" }, make("summary", {}, say.words(count)), make("dl", {},
      ...Object.entries(kinds).flatMap(([kind, words]) => [make("dt", {}, kind), make("dd", { lang: "fr" }, sorted(words))])));
  }

  // ---- Fields, each with its label ---------------------------------------------------------------------------

  function select(name, text, options, attributes = {}) {
    const { make } = live.drawing;
    const field = make("select", { name, ...attributes }, ...options.map(([value, shown]) => make("option", { value }, shown)));
    return { field, label: make("label", {}, text, field), get value() { return field.value; } };
  }

  function range(name, text, limits) {
    const { make } = live.drawing;
    const shown = make("output", {}, limits.value.toFixed(1));
    const oninput = () => { shown.textContent = Number(field.value).toFixed(1); };
    const field = make("input", { type: "range", name, ...limits, oninput });
    return { field, label: make("label", { class: "live-range" }, text, field, shown), get value() { return field.value; } };
  }

  function box(name, text) {
    const { make } = live.drawing;
    const field = make("input", { type: "checkbox", name });
    return { field, label: make("label", {}, field, text) };
  }

  const counted = (n) => Array.from({ length: n }, (_, i) => [String(i), String(i + 1)]);

  live.controls = { Controls, select, counted };
})();
