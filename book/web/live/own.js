/* A model of the reader's own in the panel. Its file is read as text and never run, and nothing of it leaves the page. */
(function () {
  "use strict";
  const live = (globalThis.live = globalThis.live || {});
  const LARGEST = 60e6; // bytes
  const LINE = /^live\.receive\("([\w.-]{1,40})", (\d{1,3}), (\d{1,3}), "([A-Za-z0-9+/=]+)"\);$/;
  const WEIGHTS = /\.(pt|pth|bin|ckpt|npz|safetensors|onnx)$/i, CODE = /\.(py|ipynb)$/i;

  /* What was read of a file is no model of this panel; the message is for the reader. */
  class NoModel extends Error {}

  /* The model of a file, which has the sizes and the words of `ours`. Throws NoModel. */
  async function read(file, ours) {
    const { own: say } = live.phrases;
    if (WEIGHTS.test(file.name)) throw new NoModel(say.weights);
    if (CODE.test(file.name)) throw new NoModel(say.code);
    if (file.size > LARGEST) throw new NoModel(say.large(file.size, LARGEST));
    const bytes = await unpacked(partsOf(await file.text()));
    try {
      const found = await live.loading.modelOf(ours.engine.ort, (name) => bytes.get(name));
      if (said(found) !== said(ours)) throw new NoModel(say.sizes(said(found), said(ours)));
      await tried(found);
      return found;
    } catch (error) {
      throw error instanceof NoModel ? error : new NoModel(say.stopped(error));
    }
  }

  /* name → parts, of a text whose every line hands over one. */
  function partsOf(text) {
    const received = new Map(), { own: say } = live.phrases;
    for (const line of text.split(/\r?\n/).filter(Boolean)) {
      const [, name, number, count, part] = line.match(LINE) ?? [];
      if (!name || Number(number) >= Number(count)) throw new NoModel(received.size ? say.cut : say.noModel);
      live.loading.receive(received, name, Number(number), Number(count), part);
    }
    if (!received.size) throw new NoModel(say.noModel);
    return received;
  }

  /* name → bytes, of all that a model needs. */
  async function unpacked(received) {
    const { EXPORTED, LABORATORY } = live.engine, bytes = new Map();
    for (const name of ["words.json", "weights.f16", ...[...EXPORTED, ...LABORATORY].map((graph) => `${graph}.onnx`)]) {
      try {
        bytes.set(name, await live.loading.unpack(name, received));
      } catch {
        throw new NoModel(live.phrases.own.broken(name));
      }
    }
    return bytes;
  }

  const said = ({ words: { sizes, tokens } }) => live.phrases.own.sizesOf({ ...sizes, words: tokens?.length });

  /* One word through every graph: what comes out has the places that the panel fills. */
  async function tried({ engine, words: { tokens, special, sizes } }) {
    const { own: say } = live.phrases, reader = engine.reader([special.end]);
    const { logits: [row] } = await reader.step(await reader.start(), [{ tokens: [special.start], parent: 0 }]);
    if (row.length !== tokens.length || !row.every(Number.isFinite)) throw new NoModel(say.logits(row, tokens.length));
    const maps = Object.values(await engine.products([special.end], [special.start], live.switches.atRest(sizes)));
    const isRight = (map) => map.length === sizes.layers && map.every((layer) => layer.length === sizes.heads);
    if (!maps.every(isRight)) throw new NoModel(say.maps);
  }

  /* Says whose model the panel shows, and takes another: by a button, or dropped anywhere on the panel. */
  class Chooser {
    /* `exchange` is called with the model to show instead. */
    constructor(parcel, exchange) {
      const { make } = live.drawing, { own: say } = live.phrases;
      Object.assign(this, { parcel, exchange, say });
      const chip = (words, onclick) => make("button", { type: "button", class: "live-chip", onclick }, words);
      this.input = make("input", { type: "file", hidden: true, onchange: () => this.take(this.input.files[0]) });
      this.buttons = [chip(say.open, () => this.input.click()), make("span", { class: "live-note" }, say.drop), this.input];
      if (parcel.book) this.buttons.push(chip(say.back, () => exchange(parcel.book)));
      this.message = make("p", { class: "live-own", role: "status" }, parcel.name ? say.shown(parcel.name) : "");
    }

    async take(file) {
      if (!file) return;
      const { parcel, say } = this;
      this.input.value = ""; // the same file, mended, may come again
      this.message.textContent = say.reading(file.name);
      try {
        const found = await read(file, parcel.book ?? parcel);
        this.exchange({ ...found, name: file.name, book: parcel.book ?? parcel });
      } catch (error) {
        this.message.textContent = say.refused(file.name, error.message);
      }
    }
  }

  live.own = { Chooser, read, NoModel };
})();
