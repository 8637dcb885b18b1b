/* Small repairs that every page needs. */
(function () {
  "use strict";

  // What scrolls inside its own box must be reachable by keyboard.
  const BOXES = ".chart, div.math, .cell_output .output, .pst-scrollable-table-container, pre";
  function reachable() {
    // look at all, then change: one layout for all of them
    const boxes = [...document.querySelectorAll(BOXES)].map((box) => [box, box.scrollWidth > box.clientWidth + 1]);
    for (const [box, scrolls] of boxes) {
      if (scrolls && !box.hasAttribute("tabindex")) {
        box.tabIndex = 0;
        box.dataset.reachable = "true";
        box.onscroll = () => box.toggleAttribute("data-end", box.scrollLeft + box.clientWidth > box.scrollWidth - 2);
      } else if (!scrolls && box.dataset.reachable) {
        box.removeAttribute("tabindex");
        delete box.dataset.reachable;
      }
    }
  }

  // An accessible name that differs from the words on a button hides those words from voice control.
  function honestNames() {
    for (const button of document.querySelectorAll(".copybtn")) button.setAttribute("aria-label", button.dataset.tooltip);
    for (const summary of document.querySelectorAll("summary[aria-label]")) summary.removeAttribute("aria-label");
    for (const button of document.querySelectorAll("button.search-button-field")) {
      button.setAttribute("aria-label", button.textContent.replace(/\s+/g, " ").trim() || "Search");
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

  // The dialog of Ctrl+K shows what it finds. The index is for readers who open it, so nobody else loads it.
  const STATIC = new URL("./", document.currentScript.src);
  const SEARCH = ["vendor/minisearch/minisearch.js", "search-sections.js", "search.js"];
  function searchInTheDialog() {
    const dialog = document.getElementById("pst-search-dialog");
    if (!dialog || document.querySelector(".bd-search-container")) return;
    dialog.addEventListener("focusin", () => {
      for (const name of SEARCH) {
        const script = document.createElement("script");
        script.src = new URL(name, STATIC);
        script.async = false; // one after the other
        document.head.append(script);
      }
    }, { once: true });
  }

  // What stands in the margin is open; where there is none it folds.
  const margin = window.matchMedia("(min-width: 1200px)");
  function openTheMargin() {
    for (const details of document.querySelectorAll("details.in-margin")) details.open = margin.matches;
  }

  // After the skip link the next Tab is in the text; the theme's own target holds the header, too.
  function skipToTheText() {
    const link = document.querySelector("#pst-skip-link a");
    const text = document.querySelector("article");
    if (!link || !text) return;
    text.id ||= "text";
    text.tabIndex = -1;
    link.hash = text.id;
  }

  const observer = new ResizeObserver(reachable);
  document.addEventListener("DOMContentLoaded", () => {
    honestNames();
    openTheMargin();
    margin.addEventListener("change", openTheMargin);
    skipToTheText();
    searchInTheDialog();
    // docutils calls the references a list, but their links back are no list items
    document.querySelectorAll(".citation-list[role='list']").forEach((list) => list.removeAttribute("role"));
    reachable();
    const article = document.querySelector("article");
    if (article) observer.observe(article);
  });
})();
