/* Small repairs that every page needs. */
(function () {
  "use strict";

  // Result summaries are fetched, which a page opened from a file may not do; titles are enough there.
  if (location.protocol === "file:" && typeof DOCUMENTATION_OPTIONS !== "undefined") {
    DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;
  }

  // What scrolls inside its own box must be reachable by keyboard.
  const BOXES = ".chart, div.math, .cell_output .output, .pst-scrollable-table-container, pre";
  function reachable() {
    // look at all, then change: one layout for all of them
    const boxes = [...document.querySelectorAll(BOXES)].map((box) => [box, box.scrollWidth > box.clientWidth + 1]);
    for (const [box, scrolls] of boxes) {
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
    for (const button of document.querySelectorAll(".copybtn")) button.setAttribute("aria-label", button.dataset.tooltip);
    for (const summary of document.querySelectorAll("summary[aria-label]")) summary.removeAttribute("aria-label");
    for (const button of document.querySelectorAll("button.search-button-field")) {
      button.setAttribute("aria-label", button.innerText.replace(/\s+/g, " ").trim() || "Search");
    }
  }

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
