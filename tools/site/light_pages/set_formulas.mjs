/* Reads formulas, one JSON line each, and answers each with a line: { mathml } or { error }. */
import { createRequire } from "node:module";
import { createInterface } from "node:readline";

const temml = createRequire(new URL("../../../book/web/package.json", import.meta.url))("temml");

const THIN = '<mspace width="0.1667em"></mspace>';
const NAMED_AFTER_SCRIPT = /(<\/m(?:sub|sup|subsup)>)(<mrow><mi>[a-z]{2,}<\/mi><mo>\u2061)/g;
const SPACE_AT_THE_END = new RegExp(THIN + "((?:</mrow>)+</math>)$");
const ACCENT = /<mover>(?=((?!<\/?mover>).)*<mo [^>]*(math-depth:0|tml-vec)[^>]*>[^<]*<\/mo><\/mover>)/g;
const SPACE_TAKEN_BACK = /\\!\s*(?=\\left\b)/g;

/* Around a formula in a line Temml puts a row that `<math>` is by itself. */
function withoutOuterRow(html) {
  const inside = html.match(/^<math><mrow>([\s\S]*)<\/mrow><\/math>$/)?.[1];
  if (inside === undefined) return html;
  let depth = 0;
  for (const [tag] of inside.matchAll(/<\/?mrow[^>]*>/g)) {
    depth += tag.startsWith("</") ? -1 : 1;
    if (depth < 0) return html; // the first row ends before the last begins
  }
  return `<math>${inside}</math>`;
}

function answer({ tex, display }) {
  try {
    // Where Temml's spaces are not TeX's: `\left` has none that a `\!` could take back, a function
    // after an exponent or an index stands apart, and nothing follows a function at the end. It leaves to the
    // browser to guess that a hat is an accent, which Firefox calls deprecated.
    const html = temml.renderToString(tex.replace(SPACE_TAKEN_BACK, ""), { displayMode: display, throwOnError: true });
    const spaced = html.replace(NAMED_AFTER_SCRIPT, `$1${THIN}$2`).replace(SPACE_AT_THE_END, "$1").replace(ACCENT, '<mover accent="true">');
    return { mathml: withoutOuterRow(spaced) };
  } catch (error) {
    return { error: error.message.normalize("NFD").replace(/\p{M}/gu, "") }; // marks underline the place
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  process.stdout.write(JSON.stringify(answer(JSON.parse(line))) + "\n");
}
