/* Small repairs that every page needs. */
(function () {
  "use strict";

  // Text appears once its mathematics is set (see book.css), and mathematics is set once its fonts are
  // there: lines that are broken twice make the page jump.
  const root = document.documentElement;
  const FONTS = new URL("vendor/mathjax/output/chtml/fonts/woff-v2/", document.currentScript.src);
  const FACES = { "MJXTEX": "Main-Regular", "MJXTEX-I": "Math-Italic", "MJXTEX-S1": "Size1-Regular" };
  const mathIsSet = () => root.classList.remove("math-pending");
  root.classList.add("math-pending");

  function mathFonts() {
    const faces = Object.entries(FACES).map(([family, file]) =>
      new FontFace(family, `url(${new URL(`MathJax_${file}.woff`, FONTS)})`).load());
    return Promise.all(faces).then((loaded) => loaded.forEach((face) => document.fonts.add(face)), () => {});
  }

  document.addEventListener("readystatechange", () => {
    if (document.readyState !== "interactive") return; // MathJax is deferred: it has not run yet
    if (!document.querySelector("script[src*='mathjax']")) return mathIsSet();
    const fonts = mathFonts();
    window.MathJax = window.MathJax || {};
    window.MathJax.startup = {
      ...window.MathJax.startup,
      pageReady: () => fonts.then(() => window.MathJax.startup.defaultPageReady()).then(mathIsSet, mathIsSet),
    };
  });

  // What scrolls inside its own box must be reachable by keyboard.
  const BOXES = ".chart, mjx-container[display='true'], .cell_output .output, .pst-scrollable-table-container, pre";
  function reachable() {
    for (const box of document.querySelectorAll(BOXES)) {
      const scrolls = box.scrollWidth > box.clientWidth + 1;
      if (scrolls && !box.hasAttribute("tabindex")) {
        box.tabIndex = 0;
        box.dataset.reachable = "true";
      } else if (!scrolls && box.dataset.reachable) {
        box.removeAttribute("tabindex");
        delete box.dataset.reachable;
      }
    }
  }

  // An accessible name that differs from the words on a button hides those words from voice control.
  function honestNames() {
    for (const summary of document.querySelectorAll("summary[aria-label]")) summary.removeAttribute("aria-label");
    for (const button of document.querySelectorAll("button.search-button-field")) {
      button.setAttribute("aria-label", button.innerText.replace(/\s+/g, " ").trim() || "Search");
    }
  }

  // Paper is light, and nothing on it can be opened: hints, solutions and answers stand open. Folded code
  // stays folded; predictions keep their answers to themselves, and figures what they were left with.
  const FOLDED = "article details:not([open], .hide, .cell_output *)";
  const page = document.documentElement;
  let onScreen = null;
  window.addEventListener("beforeprint", () => {
    const folded = [...document.querySelectorAll(FOLDED)];
    onScreen = onScreen || { theme: page.dataset.theme, folded };
    page.dataset.theme = "light";
    folded.forEach((details) => { details.open = true; });
  });
  window.addEventListener("afterprint", () => {
    if (!onScreen) return;
    page.dataset.theme = onScreen.theme;
    onScreen.folded.forEach((details) => { details.open = false; });
    onScreen = null;
  });

  const observer = new ResizeObserver(reachable);
  document.addEventListener("DOMContentLoaded", () => {
    honestNames();
    // docutils calls the references a list, but their links back are no list items
    document.querySelectorAll(".citation-list[role='list']").forEach((list) => list.removeAttribute("role"));
    reachable();
    const article = document.querySelector("article");
    if (article) observer.observe(article);
  });
})();
