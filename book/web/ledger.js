/* The ledger: a square a claim and filters above its table, heads that sort it, and marks in the chapters
   that lead back to its rows. */
(function () {
  "use strict";

  const PAGE = new URL("../book/ledger.html", document.currentScript.src);
  const CLAIM = /^claim-([\d.]+)-(.+)$/; // the anchor of a row: section and words
  const ALL = "all";

  function element(name, attributes = {}, ...children) {
    const made = Object.assign(document.createElement(name), attributes);
    made.append(...children);
    return made;
  }

  // ---- In a chapter: a link below the last cell that tests a claim.
  function claimsOf(cell) {
    return [...cell.classList].filter((name) => name.startsWith("tag_claim-")).map((name) => name.slice(4));
  }

  function link(claim) {
    const [, section, words] = claim.match(CLAIM);
    const textContent = `claim of §${section}, tested: ${words.replaceAll("-", " ")}`;
    return element("a", { href: `${PAGE}#${claim}`, textContent });
  }

  function markCells() {
    const marked = new Set();
    for (const cell of [...document.querySelectorAll("div.cell[class*='tag_claim-']")].reverse()) {
      const claims = claimsOf(cell).filter((claim) => !marked.has(claim));
      claims.forEach((claim) => marked.add(claim));
      if (claims.length) cell.append(element("p", { className: "claim-marks" }, ...claims.map(link)));
    }
  }

  // ---- On the page itself: four selects, a box for more columns, and a count.
  function choice(label, values) {
    // a browser that restores a form would choose behind the reader's back
    const select = element("select", { autocomplete: "off" }, ...[ALL, ...new Set(values)].map((value) => new Option(value)));
    return { select, label: element("label", {}, label, select) };
  }

  // On a phone rows become blocks (book.css), which must not cost them their meaning.
  function keepRoles(table) {
    const roles = { thead: "rowgroup", tbody: "rowgroup", tr: "row", th: "columnheader", td: "cell" };
    table.setAttribute("role", "table");
    for (const [name, role] of Object.entries(roles)) {
      table.querySelectorAll(name).forEach((part) => part.setAttribute("role", role));
    }
  }

  // A row has an anchor; rows without one below it are its further comparisons and go where it goes. What
  // they leave empty becomes part of the cell above.
  function rowsOf(table) {
    const found = [];
    for (const row of table.tBodies[0].rows) {
      const anchor = row.querySelector("[id^='claim-']");
      if (anchor) {
        const [kind, verdict] = [...row.cells].slice(-2).map((cell) => cell.textContent.trim());
        const [chapter] = row.cells[2].textContent.trim().match(/^\d+[a-z]?(?=:)/) ?? ["none"];
        found.push({ row, all: [row], id: anchor.id, section: anchor.id.match(CLAIM)[1], chapter, kind, verdict });
      } else {
        found[found.length - 1].all.push(row);
      }
    }
    for (const { row, all } of found.filter((one) => one.all.length > 1)) {
      const empty = [...all[1].cells].map((cell) => !cell.textContent.trim());
      [...row.cells].filter((_, column) => empty[column]).forEach((cell) => (cell.rowSpan = all.length));
      all.slice(1).forEach((more) => [...more.cells].forEach((cell, column) => (cell.hidden = empty[column])));
    }
    return found;
  }

  // The list above the table says what each verdict means, from the best to what has none. It folds: the key
  // to the squares says their names and counts; what is no experiment is a lower square and not counted.
  function addSquares(rows) {
    const list = document.querySelector("article section > ul:has(> li em)");
    const counts = [...document.querySelectorAll("article section > p")].find((p) => /^\d+ experiments:/.test(p.textContent));
    if (!list || !counts) return;
    const verdicts = [...list.querySelectorAll("li em:first-child")].map((name) => name.textContent);
    const colour = (verdict) => `verdict-${verdicts.indexOf(verdict)}`;
    const squares = element("div", { className: "claim-squares", ariaHidden: "true" });
    let part = "";
    for (const { row, id, section, kind, verdict } of rows) {
      if (section[0] !== part) squares.append(element("span", { textContent: `§${section[0]}` }));
      part = section[0];
      const title = `${row.cells[1].textContent.trim()} – ${verdict}`;
      const className = `${colour(verdict)} kind-${kind}`;
      squares.append(element("a", { className, href: `#${id}`, title, tabIndex: -1 }));
      const last = row.cells[row.cells.length - 1];
      last.replaceChildren(element("span", { className: `claim-chip ${colour(verdict)}`, textContent: verdict }));
    }
    const tried = rows.filter(({ kind }) => kind === "experiment");
    const key = verdicts.flatMap((name) => {
      const textContent = tried.filter(({ verdict }) => verdict === name).length;
      const mark = element("i", { className: colour(name) });
      return textContent ? [element("li", {}, mark, element("b", { textContent }), ` ${name}`)] : [];
    });
    counts.querySelector("strong").replaceWith("Lower squares are no experiments: ");
    counts.before(squares, element("ul", { className: "claim-key" }, ...key));
    const fold = element("details", {}, element("summary", { textContent: "What each verdict means" }));
    list.replaceWith(fold);
    fold.append(list);
    counts.after(fold);
  }

  // Heads become buttons. A second press turns the order; rows that are equal keep the paper's.
  function addSorting(table, rows) {
    const valueOf = (one, column) => {
      const text = one.row.cells[column].textContent.trim();
      return /^(\d+ of )?(\d+|–)$/.test(text) ? Number.parseInt(text.split(" ").pop(), 10) || 0 : text;
    };
    const compare = (a, b) => (typeof a === "number" ? a - b : a.localeCompare(b));
    const heads = [...table.tHead.rows[0].cells];
    for (const head of heads.filter(({ textContent }) => /Section|Pairs|Kind|Verdict/.test(textContent))) {
      const column = heads.indexOf(head);
      const button = element("button", { type: "button", textContent: head.textContent });
      head.replaceChildren(button);
      button.addEventListener("click", () => {
        const way = head.getAttribute("aria-sort") === "ascending" ? -1 : 1;
        heads.forEach((other) => other.removeAttribute("aria-sort"));
        head.setAttribute("aria-sort", way > 0 ? "ascending" : "descending");
        const order = column ? (a, b) => compare(valueOf(a, column), valueOf(b, column)) : (a, b) => rows.indexOf(a) - rows.indexOf(b);
        table.tBodies[0].append(...[...rows].sort((a, b) => way * order(a, b)).flatMap(({ all }) => all));
      });
    }
  }

  function addFilters(table, rows) {
    const section = choice("Section", rows.map((one) => one.section));
    const chapter = choice("Chapter", rows.map((one) => one.chapter).sort());
    const kind = choice("Kind", rows.map((one) => one.kind));
    const verdict = choice("Verdict", rows.map((one) => one.verdict));
    const choices = Object.entries({ section, chapter, kind, verdict });
    const count = element("output");
    const whole = element("input", { type: "checkbox", autocomplete: "off" }); // columns that few come for
    const fits = (one) => choices.every(([name, { select }]) => [ALL, one[name]].includes(select.value));

    function apply() {
      table.classList.toggle("ledger-short", !whole.checked);
      for (const one of rows) {
        one.all.forEach((row) => (row.hidden = !fits(one)));
      }
      count.textContent = `${rows.filter((one) => !one.row.hidden).length} of ${rows.length} claims`;
    }

    function showTarget() {
      const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
      if (!target?.closest("tr[hidden]")) return;
      choices.forEach(([, { select }]) => (select.value = ALL));
      apply();
      target.scrollIntoView();
    }

    const form = element("form", { className: "ledger-filters" }, section.label, chapter.label, kind.label, verdict.label,
      element("label", {}, whole, "more: rates, lengths, rivals"), count);
    form.addEventListener("change", apply);
    form.addEventListener("submit", (event) => event.preventDefault());
    window.addEventListener("hashchange", showTarget);
    apply();
    (table.closest(".pst-scrollable-table-container") || table).before(form);
  }

  document.addEventListener("DOMContentLoaded", () => {
    markCells();
    const table = document.querySelector("td [id^='claim-']")?.closest("table");
    if (!table) return;
    const rows = rowsOf(table);
    keepRoles(table);
    addSquares(rows);
    addSorting(table, rows);
    addFilters(table, rows);
  });
})();
