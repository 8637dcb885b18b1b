/* The switch above a page: the code that teaches (as the book folds it), all code, or none. The choice is
   kept in this browser. It stands in the root's `data-code` before anything is drawn (see book.css). */
(function () {
  "use strict";

  const KEY = "code";
  const STATES = {
    some: { pressed: "mixed", words: "Code: what teaches is shown, the rest is folded" },
    all: { pressed: "true", words: "Code: all of it is shown" },
    none: { pressed: "false", words: "Code: none is shown" },
  };
  const NAMES = Object.keys(STATES);
  const FOLDS = "div.cell > details.hide.above-input";
  const ICON = `<svg aria-hidden="true" viewBox="0 0 24 24" width="24" height="24" fill="none" stroke="currentColor"
    stroke-width="2.6" stroke-linecap="round" stroke-linejoin="round"><path d="M7.5 6 2 12l5.5 6M16.5 6 22 12l-5.5 6"/>
    <path class="code-all" d="M14 5l-4 14"/><path class="code-none" d="M3.5 3.5l17 17"/></svg>`;
  const root = document.documentElement;

  function remembered() {
    try {
      const name = localStorage.getItem(KEY);
      return NAMES.includes(name) ? name : "some";
    } catch {
      return "some"; // no storage: the switch works all the same, for this page
    }
  }

  function keep(name) {
    try {
      localStorage.setItem(KEY, name);
    } catch {
      // private windows may refuse
    }
  }

  const openFolds = (open) => document.querySelectorAll(FOLDS).forEach((fold) => { fold.open = open; });

  root.dataset.code = remembered();
  const early = new MutationObserver(() => openFolds(true)); // while the page arrives: nothing jumps later
  if (root.dataset.code === "all") early.observe(root, { childList: true, subtree: true });

  function show(button, name) {
    root.dataset.code = name;
    button.setAttribute("aria-pressed", STATES[name].pressed);
    button.title = STATES[name].words;
  }

  function addSwitch() {
    early.disconnect();
    if (root.dataset.code === "all") openFolds(true);
    const header = document.querySelector(".article-header-buttons");
    if (!header || !document.querySelector("div.cell_input")) return;
    const button = document.createElement("button");
    button.type = "button";
    button.className = "btn btn-sm code-switch";
    button.setAttribute("aria-label", "Code");
    button.innerHTML = ICON;
    button.addEventListener("click", () => {
      const next = NAMES[(NAMES.indexOf(root.dataset.code) + 1) % NAMES.length];
      keep(next);
      openFolds(next === "all");
      show(button, next);
    });
    show(button, root.dataset.code);
    header.prepend(button);
  }

  document.addEventListener("DOMContentLoaded", addSwitch);
})();
