/* Finds the place of the translator in a page, and loads it on a click: no page pays for it before. */
(function () {
  "use strict";
  const live = (globalThis.live = globalThis.live || {});
  const HERE = new URL(".", document.currentScript.src);
  const VENDOR = new URL("../vendor/", HERE);
  const MODULES = ["phrases", "loading", "text", "switches", "decoding", "engine", "tree", "drawing", "component"];

  document.addEventListener("DOMContentLoaded", async () => {
    takeAlong();
    const place = document.querySelector(".live-translator");
    if (!place) return;
    await Promise.all([script(new URL("phrases.js", HERE)), script(new URL("live/manifest.js", VENDOR)), styles()]);
    offer(place);
    if (asked()) place.scrollIntoView({ block: "center" });
  });

  /* A link of class live-try takes its own words to the translator as the sentence to try. */
  function takeAlong() {
    for (const link of document.querySelectorAll("a.live-try")) {
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
      element.onload = resolve;
      element.onerror = () => reject(new Error(`could not load ${url}`));
      document.head.append(element);
    });
  }

  function styles() {
    return new Promise((resolve) => {
      const link = document.createElement("link");
      link.rel = "stylesheet";
      link.href = new URL("live.css", HERE);
      link.onload = link.onerror = resolve;
      document.head.append(link);
    });
  }

  function offer(place) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "live-go";
    button.textContent = live.phrases.load(live.manifest.total);
    button.addEventListener("click", () => load(place));
    place.replaceChildren(button);
    place.dataset.state = "offered";
  }

  async function load(place) {
    const { phrases, manifest } = live;
    const bar = Object.assign(document.createElement("progress"), { max: manifest.total, value: 0 });
    bar.setAttribute("aria-label", phrases.loading(0, manifest.total));
    const words = document.createElement("p");
    words.setAttribute("role", "status");
    words.textContent = phrases.loading(0, manifest.total);
    place.replaceChildren(bar, words);
    place.dataset.state = "loading";
    const began = performance.now();
    try {
      for (const name of MODULES.slice(1)) await script(new URL(`${name}.js`, HERE));
      const runtime = { url: new URL("onnxruntime-web/ort.wasm.min.js", VENDOR), bytes: 0 };
      const parts = Object.entries(manifest.files).map(([file, bytes]) => ({ url: new URL(`live/${file}`, VENDOR), bytes }));
      await live.loading.scripts([runtime, ...parts], (bytes) => {
        bar.value = bytes;
        words.textContent = phrases.loading(bytes, manifest.total);
      });
      words.textContent = phrases.starting;
      const parcel = await live.loading.assemble(globalThis.ort);
      place.dataset.state = "ready";
      place.dataset.ready = Math.round(performance.now() - began);
      live.translator = new live.component.Translator(place, parcel);
      if (asked()) live.translator.input.value = asked();
      live.translator.message.textContent = phrases.ready;
      live.translator.input.focus();
    } catch (error) {
      place.dataset.state = "failed";
      words.textContent = phrases.failed(error);
      bar.remove();
      console.error(error);
    }
  }
})();
