/* The translator in the page: from a sentence and choices to one run, and what is said of it. */
(function () {
  "use strict";
  const live = (globalThis.live = globalThis.live || {});
  const NAMED = 4; // unknown words that are named; the others are counted
  const LONG = 30; // letters of an unknown word that are shown
  const PACE = 20; // ms from token to token: they are seen to come, and nobody waits
  const PATIENCE = 100; // ms without a picture at most

  class Translator {
    constructor(place, parcel, exchange) {
      const { engine, words: raw, name } = parcel;
      const { make } = live.drawing;
      Object.assign(this, { place, engine, raw, words: new live.text.Words(raw), say: live.phrases });
      this.latest = null; // the run that may still draw; older ones stop at their next step
      this.controls = new live.controls.Controls(raw, (view) => this.translate(view), name);
      this.message = make("div", { class: "live-message", id: "live-message", role: "status" });
      this.results = new live.results.Results(this.words, raw.sizes, name);
      this.tour = new live.tour.Tour(place, this.say);
      this.own = new live.own.Chooser(parcel, exchange);
      place.replaceChildren(make("div", { class: "live-row" }, this.tour.button, ...this.own.buttons), this.own.message, this.controls.sentence, this.message, this.results.element, this.controls.choices, this.results.below, this.tour.element);
    }

    /* `view` is the map to show, where a switch was thrown that is seen on one. */
    async translate(view) {
      const read = this.words.read(this.controls.text);
      const run = (this.latest = { read, steps: [], switches: this.controls.switches, search: this.controls.search });
      delete this.place.dataset.translation;
      this.controls.mark(Boolean(read.problem));
      if (read.problem) return this.refuse(read);
      try {
        await this.decode(run);
        await this.lookInside(run);
        if (run !== this.latest) return;
        this.results.finish(run, view);
        this.tell(run);
      } catch (error) {
        if (run === this.latest) this.message.replaceChildren(this.say.wentWrong(error));
      }
    }

    /* Fills in the run's steps, and draws it as it grows for a reader who likes to see things move. */
    async decode(run) {
      const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
      const began = performance.now();
      let drawn = began;
      for await (const step of this.steps(run.read, run.search, run.switches)) {
        if (run !== this.latest) return;
        run.steps.push(step);
        if (still || step.done) continue;
        const due = began + run.steps.length * PACE, now = performance.now();
        if (now > due && now - drawn < PATIENCE) continue; // a late token is drawn with the next
        this.results.grow(run);
        await new Promise((resolve) => { setTimeout(resolve, due - now); });
        drawn = performance.now();
      }
    }

    steps({ ids }, search, switches) {
      const settings = { ...search, special: this.words.special, limit: this.limit(ids) };
      const reader = this.engine.reader(ids, switches);
      return search.beam === 1 ? live.decoding.greedy(reader, settings) : live.decoding.beamSearch(reader, settings);
    }

    limit(ids) {
      return ids.length + this.raw.extraTokens;
    }

    /* Every q·k of the run; of a broken one also what the model as it was trained makes of the same words, and what it
     * would have said. */
    async lookInside(run) {
      const { read, search, switches } = run, rest = live.switches.atRest(this.raw.sizes);
      const before = [this.words.special.start, ...live.tree.shown(run.steps).tokens.slice(0, -1).map(({ token }) => token)];
      run.products = await this.engine.products(read.ids, before, switches);
      if (live.switches.isAtRest(switches, this.raw.sizes)) return;
      const steps = [];
      for await (const step of this.steps(read, { ...search, sampled: false, temperature: 1 })) steps.push(step);
      const products = await this.engine.products(read.ids, before, rest);
      run.trained = { text: this.words.write(live.tree.shown(steps).ids), products, switches: rest };
    }

    /* Never a silent wrong answer: the words that the model cannot read, each with near ones. */
    refuse({ problem, unknown, typed }) {
      const { make } = live.drawing, { problems } = this.say;
      this.results.hide();
      if (problem === "empty" || problem === "two") return this.message.replaceChildren(make("p", {}, problems[problem]));
      if (problem === "long") return this.message.replaceChildren(make("p", {}, problems.long(this.raw.maxSource)));
      const lines = unknown.slice(0, NAMED).map(({ shown, place, isEnglish, near }) => {
        const replace = (other) => { this.controls.replaceWord(typed, place, other); this.translate(); };
        const short = shown.length > LONG ? `${shown.slice(0, LONG)}…` : shown;
        return make("p", {},
          isEnglish ? problems.english(short) : problems.unknown(short), " ",
          near.length ? problems.instead : problems.nothingNear,
          ...near.flatMap((other) => [" ", make("button", { type: "button", class: "live-chip", lang: "fr", onclick: () => replace(other) }, other)]));
      });
      if (unknown.length > NAMED) lines.push(make("p", {}, problems.more(unknown.length - NAMED)));
      this.message.replaceChildren(...lines);
    }

    /* Once a run, when all of it is known: this is what a screen reader hears. */
    tell({ steps, read, trained }) {
      const { make } = live.drawing, { say } = this, { tokens, ids } = live.tree.shown(steps);
      const text = this.words.write(ids) || say.nothing;
      const lines = [make("p", {}, `${say.result}: `, make("strong", { lang: "en" }, text))];
      const known = this.controls.reference;
      if (known) lines.push(make("p", {}, say.reference(known, known.reference === text)));
      if (trained) lines.push(make("p", {}, trained.text === text ? say.sameAsTrained : say.asTrained(trained.text || say.nothing)));
      const { token, probability } = live.tree.leastSure(tokens);
      lines.push(make("p", {}, say.leastSure(this.words.name(token), probability)));
      if (steps.length >= this.limit(read.ids)) lines.push(make("p", {}, say.cutOff(this.raw.extraTokens)));
      this.message.replaceChildren(...lines);
      this.place.dataset.translation = text;
    }
  }

  live.component = { Translator };
})();
