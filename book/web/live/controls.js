/* What the reader types and chooses: the sentence, the search, and the switches that break the model. */
(function () {
  "use strict";
  const live = (globalThis.live = globalThis.live || {});
  const BEAMS = [2, 4, 8];
  const ALPHA = { min: 0, max: 2, step: 0.1, value: 0.6 };
  const TEMPERATURE = { min: 0.2, max: 3, step: 0.1, value: 1 };

  class Controls {
    /* `words` is what came with the model; `translate` is called when the reader asks for it or changes a choice. */
    constructor({ examples, sizes }, translate) {
      Object.assign(this, { sizes, say: live.phrases });
      this.sentence = this.buildSentence(examples, translate);
      this.choices = this.buildChoices(sizes);
      this.choices.addEventListener("change", () => {
        this.settle();
        translate();
      });
      this.settle();
    }

    buildSentence(examples, translate) {
      const { make } = live.drawing, { say } = this;
      this.input = make("input", {
        type: "text", id: "live-source", lang: "fr", autocomplete: "off", spellcheck: "false", value: examples[0],
      });
      const chips = examples.map((text) => make("button", {
        type: "button", class: "live-chip", lang: "fr", onclick: () => { this.input.value = text; translate(); },
      }, text));
      const onsubmit = (event) => { event.preventDefault(); translate(); };
      return make("form", { onsubmit },
        make("label", { for: "live-source" }, say.sentence),
        make("div", { class: "live-row live-sentence" }, this.input,
          make("button", { type: "submit", class: "live-go" }, say.translate)),
        make("div", { class: "live-row live-examples" }, make("span", {}, say.examples), ...chips));
    }

    buildChoices({ layers, heads }) {
      const { make } = live.drawing, { say } = this;
      this.method = select("method", say.method, [["1", say.greedy], ...BEAMS.map((width) => [String(width), say.beam(width)])]);
      this.alpha = range("alpha", say.alpha, ALPHA);
      this.temperature = range("temperature", say.temperature, TEMPERATURE);
      this.boxes = Object.fromEntries(["mask", "positions", "scale"].map((name) => [name, box(name, say[name])]));
      this.heads = select("heads", say.heads, [["all", say.allHeads], ["only", say.onlyHead], ["off", say.headOff]]);
      this.kind = select("off-kind", say.ofKind, live.switches.KINDS.map((kind) => [kind, say.kinds[kind]]));
      this.layer = select("off-layer", say.layer, counted(layers));
      this.head = select("off-head", say.head, counted(heads));
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
      if (Number(this.temperature.value) !== TEMPERATURE.value) thrown.push("temperature");
      this.looks.replaceChildren(...thrown.map((name) => make("li", {}, this.say.look[name])));
      this.looks.hidden = !thrown.length;
    }

    get text() {
      return this.input.value;
    }

    get beam() {
      return Number(this.method.value);
    }

    /* What decoding.js takes. */
    get search() {
      return { beam: this.beam, alpha: Number(this.alpha.value), temperature: Number(this.temperature.value) };
    }

    /* What the graphs take. */
    get switches() {
      const { mask, positions, scale } = this.boxes;
      return live.switches.fromChoices({
        noMask: mask.field.checked, noPositions: positions.field.checked, noScale: scale.field.checked,
        heads: this.heads.value,
        head: { kind: this.kind.value, layer: Number(this.layer.value), head: Number(this.head.value) },
      }, this.sizes);
    }

    /* Ties the sentence to the message that says what is wrong with it. */
    mark(refused) {
      this.input.setAttribute("aria-invalid", String(refused));
      if (refused) this.input.setAttribute("aria-describedby", "live-message");
      else this.input.removeAttribute("aria-describedby");
    }

    /* Puts another word in the place of one of `words`, which is how text.js has split the sentence. */
    replaceWord(words, place, other) {
      this.input.value = words.with(place, other).join(" ").replaceAll("' ", "'");
      this.input.focus();
    }
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
