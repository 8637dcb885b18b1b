/* A tour of the panel in a few steps: a part is lit, and a sentence says what it is. */
(function () {
  "use strict";
  const live = (globalThis.live = globalThis.live || {});

  class Tour {
    constructor(place, { tour: say }) {
      const { make } = live.drawing;
      Object.assign(this, { place, say, step: 0 });
      const button = (words, onclick) => make("button", { type: "button", onclick }, words);
      this.button = make("button", { type: "button", class: "live-chip live-start-tour", onclick: () => this.show(0) }, say.start);
      this.text = make("p", { role: "status" });
      this.back = button(say.back, () => this.show(this.step - 1));
      this.next = button(say.next, () => this.show(this.step + 1));
      this.element = make("div", { class: "live-tour", role: "region", "aria-label": say.name, hidden: true },
        this.text, make("div", { class: "live-row" }, this.back, this.next, button(say.close, () => this.end())));
      this.element.addEventListener("keydown", ({ key }) => { if (key === "Escape") this.end(); });
    }

    show(step) {
      const { say } = this, [selector, words] = say.steps[step];
      Object.assign(this, { step });
      this.element.hidden = false;
      this.text.textContent = say.of(step + 1, say.steps.length) + words;
      this.back.disabled = step === 0;
      this.next.disabled = step === say.steps.length - 1;
      this.light(selector);
      (this.next.disabled ? this.back : this.next).focus({ preventScroll: true });
    }

    light(selector) {
      this.place.querySelector(".live-lit")?.classList.remove("live-lit");
      const part = selector && this.place.querySelector(selector);
      part?.classList.add("live-lit");
      part?.scrollIntoView({ block: "center" });
    }

    end() {
      this.light(null);
      this.element.hidden = true;
      this.button.focus();
    }
  }

  live.tour = { Tour };
})();
