/* Finds the place of the translator in a page, and loads it on a click: no page pays for it before. */
(function () {
  "use strict";
  const live = (globalThis.live = globalThis.live || {});
  const HERE = new URL(".", document.currentScript.src);
  const VENDOR = new URL("../vendor/", HERE);
  const MODULES = ["loading", "text", "switches", "decoding", "engine", "attention", "tree", "drawing", "controls", "results", "tour", "own", "component"];

  document.addEventListener("DOMContentLoaded", async () => {
    takeAlong();
    const place = document.querySelector(".live-translator");
    if (!place) return;
    try {
      await Promise.all([script(new URL("phrases.js", HERE)), script(new URL("live/manifest.js", VENDOR)), styles()]);
    } catch (error) {
      place.textContent = error.message;
      return;
    }
    offer(place);
    takeDrops(place);
    if (asked()) place.scrollIntoView({ block: "center" });
  });

  /* A link to this chapter whose words are in italics takes them along as the sentence to try. */
  function takeAlong() {
    for (const link of document.querySelectorAll('a[href*="translate-in-your-browser"]:has(> em:only-child, > span > em:only-child)')) {
      link.search = new URLSearchParams({ sentence: link.textContent.trim() });
    }
  }

  function asked() {
    return new URLSearchParams(location.search).get("sentence");
  }

  function script(url) {
    return new Promise((resolve, reject) => {
      const element = document.createElement("script");
      element.src = url;
      element.onload = () => resolve(element.remove());
      element.onerror = () => reject(new Error(live.phrases?.missing(fileOf(url)) ?? fileOf(url)));
      document.head.append(element);
    });
  }

  const fileOf = (url) => url.pathname.split("/").pop();

  function styles() {
    return new Promise((resolve) => {
      const link = document.createElement("link");
      link.rel = "stylesheet";
      link.href = new URL("live.css", HERE);
      link.onload = link.onerror = resolve;
      document.head.append(link);
    });
  }

  function element(tag, properties) {
    return Object.assign(document.createElement(tag), properties);
  }

  function offer(place) {
    const { phrases, manifest } = live;
    const row = element("div", { className: "live-row" });
    row.append(button(phrases.load(manifest.total), () => load(place)), element("span", { textContent: phrases.offer }));
    place.replaceChildren(row);
    place.dataset.state = "offered";
  }

  /* A file that is dropped on the panel is a model of the reader's own; the panel loads first where it has not. */
  function takeDrops(place) {
    const over = (is) => (event) => {
      event.preventDefault(); // or the browser leaves the page for the file
      place.classList.toggle("live-over", is);
    };
    place.addEventListener("dragover", over(true));
    place.addEventListener("dragleave", over(false));
    place.addEventListener("drop", (event) => {
      over(false)(event);
      const [file] = event.dataTransfer.files, { state } = place.dataset;
      if (!file || state === "loading") return;
      if (state === "ready") live.translator.own.take(file);
      else load(place, file);
    });
  }

  function button(words, onclick) {
    return element("button", { type: "button", className: "live-go", textContent: words, onclick });
  }

  async function load(place, file) {
    const { phrases } = live;
    const bar = element("progress", { max: live.manifest.total, value: 0, ariaLabel: phrases.wait });
    // two lines: the bytes are for the eye, and a screen reader hears what is said once
    const count = element("p", { textContent: phrases.loading(0, live.manifest.total), ariaHidden: "true" });
    const said = element("p", { role: "status" });
    place.replaceChildren(bar, count, said);
    place.dataset.state = "loading";
    try {
      if (!globalThis.WebAssembly || !globalThis.DecompressionStream) throw new Error(phrases.tooOld);
      await fetchAll((bytes) => {
        bar.value = bytes;
        count.textContent = phrases.loading(bytes, live.manifest.total);
      });
      said.textContent = phrases.starting;
      show(place, await live.loading.assemble(globalThis.ort));
      if (file) live.translator.own.take(file);
    } catch (error) {
      place.dataset.state = "failed";
      bar.remove();
      count.remove();
      said.textContent = phrases.failed(error);
      place.append(button(phrases.retry, () => load(place)));
      console.error(error);
    }
  }

  /* The modules, which know what to do with what comes; then all that comes, side by side. */
  async function fetchAll(arrived) {
    await Promise.all(MODULES.map((name) => script(new URL(`${name}.js`, HERE))));
    const parts = Object.entries(live.manifest.files).map(([file, bytes]) => ({ url: new URL(`live/${file}`, VENDOR), bytes }));
    const runtime = { url: new URL("onnxruntime-web/ort.wasm.min.js", VENDOR), bytes: 0 };
    let bytes = 0;
    await Promise.all([runtime, ...parts].map((one) => script(one.url).then(() => arrived((bytes += one.bytes)))));
  }

  /* `parcel` holds a model; with another one the reader's sentence stays. */
  function show(place, parcel, sentence = asked()) {
    const wasHere = document.activeElement === document.body || place.contains(document.activeElement);
    if (live.translator) live.translator.latest = null; // it stops at its next step
    const exchange = (other) => show(place, other, live.translator.controls.text);
    live.translator = new live.component.Translator(place, parcel, exchange);
    if (sentence) live.translator.controls.input.value = sentence;
    place.dataset.state = "ready";
    live.translator.translate(); // a reader arrives at something to see
    parcel.engine.useIdleTime();
    // a reader who has gone on to read is not called back
    if (wasHere) live.translator.controls.input.focus({ preventScroll: true });
  }
})();
