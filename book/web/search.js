/* Search: sections, exercises, terms and claims, each with the sentence that was found.
 *
 * It serves the search page, and the dialog of every other page once a reader has opened it (page.js).
 * The index is a script (tools/site/search_index.py), so it is there for a page that is opened as a
 * file, too; MiniSearch ranks. Terms of the glossary that the query names come first. */
(function () {
  "use strict";

  const { pages, entries, stopWords, Stemmer } = window.bookSearch;
  const ROOT = new URL("../", document.currentScript.src);
  const AT_FIRST = 12; // results, before a reader asks for all of them
  const IN_THE_DIALOG = 6; // results
  const MOST_TERMS = 3; // that stand before everything else
  const LONGEST = 240; // letters of a snippet
  const KINDS = { term: "Glossary", exercise: "Exercise", claim: "Ledger" };
  const WORD = /[\p{L}\p{N}_]+(?:\.\d+)*/gu; // d_model and 3.2.1 are one word each
  const JOINED = /\p{L}+(?:-\p{L}+)+/gu; // warm-up is found as warmup, too
  const WEIGHTS = { exercise: 0.5, claim: 0.7 }; // a section explains, an exercise asks
  const AFTER = /(?:course|differences|lab-notebook|mistakes|reproduce)$/; // pages that come after the chapters
  const RECORDS = /laboratory$/; // says the same words of every experiment
  const ASKS = /^(?:why|where|how|when)\b|\b(?:why|where|how|when)$/i; // a term alone is no answer
  /* What learners type, and what the book writes. */
  const SYNONYMS = [
    [/\bdivid\w* by (?:the )?(?:sqrt|√|root of) ?d_?k\b/g, "divide d_k"],
    [/\bsqrt\b|√/g, " "],
    [/\bd_?k\b/g, "d_k"],
    [/\bd_?model\b/g, "d_model"],
    [/\bwhy not (?:an? )?rnns?\b/g, "recurrent networks sequential"],
    [/\brnns?\b/g, "recurrence"],
    [/\bflash ?attention\b/g, "memory fused"],
    [/\bcolab\b/g, "run colab"],
    [/\bmultihead\b/g, "multi-head"],
    [/\bwarm ?up\b/g, "warm-up"],
    [/\blayernorm\b/g, "layer norm"],
    [/\bkv[ -]?cache\b/g, "cache keys values"],
    [/\bbeta_?2\b/g, "β_2"],
    [/다중 헤드/g, "멀티헤드"],
  ];

  // ---- Words
  const stemmer = new Stemmer();
  const stops = new Set([...stopWords, "do", "does", "how", "i", "what", "when", "where", "which", "who", "why"]);

  function stem(word) {
    const plain = word.toLowerCase();
    const root = /^[a-z]+$/.test(plain) ? stemmer.stemWord(plain) : plain;
    return stops.has(plain) || stops.has(root) ? null : root;
  }

  const wordsOf = (text) => text.match(WORD) || [];
  const indexed = (text) => [...wordsOf(text), ...(text.match(JOINED) || []).map((word) => word.replaceAll("-", ""))];
  const meant = (query) => SYNONYMS.reduce((text, [typed, written]) => text.replace(typed, written), query.toLowerCase());
  const stems = (text) => wordsOf(text).map(stem).filter(Boolean);

  // ---- The index
  const places = entries.map(([page, anchor, title, kind, text], id) =>
    ({ id, page: pages[page][1], file: pages[page][0], anchor, title, kind, text, names: names(title, kind, text) }));

  /* What a term is called: its name, and its renderings, which stand in brackets in front. */
  function names(title, kind, text) {
    if (kind !== "term") return [];
    const renderings = /^\(([^)]*)\)/.exec(text);
    return [title, ...(renderings ? renderings[1].split(",") : [])].map(stems);
  }

  const index = new MiniSearch({
    fields: ["title", "page", "text"],
    extractField: (place, field) => (field === "title" && place.kind === "claim" ? "" : place[field]),
    tokenize: indexed,
    processTerm: stem,
    searchOptions: {
      boost: { title: 4, page: 2 },
      boostDocument: (id) => (WEIGHTS[places[id].kind] || 1) * (AFTER.test(places[id].file) ? 0.6 : RECORDS.test(places[id].file) ? 0.2 : 1),
      prefix: (term) => term.length > 2,
      weights: { prefix: 0.3, fuzzy: 0.6 },
    },
  });
  index.addAll(places);

  /* Places with every word; a word that the book has not is taken for one that is spelt alike. */
  function ranked(words) {
    const fuzzy = Object.fromEntries(words.map((word) => [stem(word), index.search(word).length ? false : 0.25]));
    const known = words.filter((word) => index.search(word, { fuzzy: fuzzy[stem(word)] }).length);
    const options = { fuzzy: (term) => fuzzy[term] };
    const found = index.search(known.join(" "), { ...options, combineWith: "AND" });
    return found.length ? found : index.search(known.join(" "), { ...options, combineWith: "OR" });
  }

  /* 2: the query is this term's name; 1: the name has all its words; 0: it is no such term. */
  function named(place, wanted) {
    const same = (name) => name.join(" ") === wanted.join(" ");
    const within = (name) => wanted.every((word) => name.includes(word));
    return place.names.some(same) ? 2 : place.names.some(within) ? 1 : 0;
  }

  /* The terms that the query names, or a term for each of its words. */
  function termsOf(found, wanted) {
    const rank = (hit) => named(hit.place, wanted);
    const terms = found.filter(rank).sort((one, other) => rank(other) - rank(one)).slice(0, MOST_TERMS);
    const each = wanted.map((word) => ({ place: places.find((place) => named(place, [word]) === 2), words: new Set([word]) }));
    return terms.length || each.some(({ place }) => !place) ? terms : each;
  }

  function search(query) {
    const words = wordsOf(meant(query)).filter(stem);
    const wanted = words.map(stem);
    if (!wanted.length) return [];
    const found = ranked(words).map((hit) => ({ place: places[hit.id], words: new Set(hit.terms) }));
    const isTerm = (hit) => hit.place.kind === "term";
    if (ASKS.test(query.trim())) return [...found.filter((hit) => !isTerm(hit)), ...found.filter(isTerm)];
    const terms = termsOf(found, wanted);
    return [...terms, ...found.filter((hit) => !terms.some((term) => term.place === hit.place))];
  }

  // ---- The sentence
  const sentencesOf = (text) => text.split(/\n|(?<=[.!?])\s+(?=[\p{Lu}“‘(])/u).filter(Boolean);
  const distinct = (text, words) => new Set(stems(text).filter((word) => words.has(word))).size;

  function snippet({ place, words }) {
    const sentences = sentencesOf(place.text);
    const scores = sentences.map((sentence) => distinct(sentence, words));
    let start = place.kind === "term" || place.kind === "claim" ? 0 : scores.indexOf(Math.max(...scores));
    let text = sentences[start] || "";
    while (text.length < LONGEST / 2 && sentences[start + 1]) {
      text += (/[.!?:]$/.test(text) ? " " : " · ") + sentences[start += 1];
    }
    return text.length > LONGEST ? cut(text, words) : text;
  }

  /* A window around the first word that was found, at the ends of words. */
  function cut(text, words) {
    const hit = [...text.matchAll(WORD)].find((match) => words.has(stem(match[0])));
    const from = Math.max(0, Math.min((hit ? hit.index : 0) - LONGEST / 3, text.length - LONGEST));
    const begin = from ? text.indexOf(" ", from) + 1 : 0;
    const rest = text.slice(begin, begin + LONGEST);
    const whole = begin + LONGEST >= text.length;
    return (begin ? "… " : "") + (whole ? rest : rest.slice(0, rest.lastIndexOf(" ")) + " …");
  }

  // ---- The page
  function element(name, attributes = {}, ...children) {
    const made = Object.assign(document.createElement(name), attributes);
    made.append(...children);
    return made;
  }

  function marked(text, words) {
    const parts = [];
    let done = 0;
    for (const match of text.matchAll(WORD)) {
      if (!words.has(stem(match[0]))) continue;
      parts.push(text.slice(done, match.index), element("mark", {}, match[0]));
      done = match.index + match[0].length;
    }
    return [...parts, text.slice(done)];
  }

  function item(hit) {
    const { place, words } = hit;
    const href = new URL(`${place.file}.html${place.anchor && "#" + encodeURIComponent(place.anchor)}`, ROOT);
    const where = element("span", { className: "where" });
    if (KINDS[place.kind]) where.append(element("span", { className: "kind" }, KINDS[place.kind]));
    if (place.anchor && place.kind !== "term" && place.kind !== "claim") where.append(place.page);
    return element("li", { className: place.kind },
      element("a", { href }, ...marked(place.anchor ? place.title : place.page, words)), where,
      element("p", {}, ...marked(snippet(hit), words)));
  }

  function say(query, found) {
    if (!query) return "";
    if (!found.length) return `Nothing found for “${query}”.`;
    return `${found.length} place${found.length === 1 ? "" : "s"} for “${query}”`;
  }

  /* ↓ and ↑ go through the results. */
  function byArrows(box, input, list) {
    box.addEventListener("keydown", (event) => {
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (!step) return;
      const line = [input, ...list.querySelectorAll("a, button")];
      const next = line[line.indexOf(document.activeElement) + step];
      if (!next) return;
      event.preventDefault();
      next.focus();
    });
  }

  /* Enter does not wait, and nothing comes after it. */
  function whenStill(input, act) {
    let waiting = 0;
    input.addEventListener("input", () => {
      clearTimeout(waiting);
      waiting = setTimeout(act, 120);
    });
    input.form.addEventListener("submit", () => clearTimeout(waiting));
  }

  /* The search page: all results, and the query in the address. */
  function onThePage(box) {
    const input = box.querySelector("input");
    const list = box.querySelector(".search-results");
    const status = box.querySelector(".search-status");

    function show() {
      const query = input.value.trim();
      const found = search(query);
      status.textContent = say(query, found);
      list.replaceChildren(...found.slice(0, AT_FIRST).map(item));
      if (found.length <= AT_FIRST) return;
      const more = element("button", { type: "button" }, `Show all ${found.length}`);
      more.addEventListener("click", () => {
        const rest = found.slice(AT_FIRST).map(item);
        more.parentElement.replaceWith(...rest);
        rest[0].querySelector("a").focus();
      });
      list.append(element("li", { className: "more" }, more));
    }

    function keep() {
      const address = new URL(location);
      address.searchParams.set("q", input.value.trim());
      try {
        history.replaceState(null, "", address);
      } catch {
        // some browsers refuse it to files
      }
    }

    input.value = new URLSearchParams(location.search).get("q") || "";
    whenStill(input, () => { show(); keep(); });
    input.form.addEventListener("submit", (event) => {
      event.preventDefault();
      show();
      keep();
    });
    byArrows(box, input, list);
    show();
    input.focus();
  }

  /* The dialog of every other page: the first results; Enter leads to the search page with all. */
  function inTheDialog(dialog) {
    const input = dialog.querySelector("input");
    const status = element("p", { className: "search-status" });
    const list = element("ol", { className: "search-results" });
    status.setAttribute("role", "status");
    dialog.append(element("div", { className: "book-found" }, status, list));

    function show() {
      const query = input.value.trim();
      const found = search(query);
      const rest = found.length > IN_THE_DIALOG ? "; Enter shows all" : "";
      status.textContent = say(query, found) + rest;
      list.replaceChildren(...found.slice(0, IN_THE_DIALOG).map(item));
    }

    whenStill(input, show);
    byArrows(dialog, input, list);
    // the place may be on this page
    list.addEventListener("click", (event) => { if (event.target.closest("a")) dialog.close(); });
    show();
  }

  function start() {
    const box = document.querySelector(".bd-search-container");
    const dialog = document.getElementById("pst-search-dialog");
    if (box) onThePage(box);
    else if (dialog) inTheDialog(dialog);
  }

  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start);
  else start();
})();
