/* Lighthouse on the built site, as a phone on a slow network sees it: node measure.mjs SITE [PAGE…]
 *
 * The site is served compressed, as hosts do. Each page is measured three times; of performance the
 * median counts, of the others the worst. A score below its limit ends this with status 1. */
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { extname, join, normalize } from "node:path";
import { parseArgs } from "node:util";
import { gzipSync } from "node:zlib";
import { launch } from "chrome-launcher";
import lighthouse from "lighthouse";
import desktop from "lighthouse/core/config/desktop-config.js";

const PAGES = [
  "book/index.html",
  "book/02-scaled-dot-product-attention.html",
  "book/14-the-training-run.html",
  "book/16-translation.html",
];
const LEAST = { performance: 90, accessibility: 100, "best-practices": 100, seo: 100 };
const TYPES = {
  ".html": "text/html; charset=utf-8", ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml",
  ".png": "image/png", ".json": "application/json", ".woff2": "font/woff2", ".txt": "text/plain", ".xml": "text/xml",
};
const SQUEEZED = /html|text|json|svg|xml/;
const YEAR = "public, max-age=31536000";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { runs: { type: "string", default: "3" }, preset: { type: "string", default: "phone" }, faults: { type: "boolean" } },
});
const [site, ...asked] = positionals;
const runs = Number(values.runs);
if (!site || !(runs >= 1) || !["phone", "desktop"].includes(values.preset)) {
  console.error("node measure.mjs SITE [PAGE…] [--runs 3] [--preset phone|desktop] [--faults]");
  process.exit(2);
}

const squeezed = new Map();
async function answer(request, response) {
  const path = normalize(decodeURIComponent(new URL(request.url, "http://site").pathname));
  const type = TYPES[extname(path)] || "application/octet-stream";
  try {
    if (!squeezed.has(path)) {
      const body = await readFile(join(site, path));
      squeezed.set(path, SQUEEZED.test(type) ? gzipSync(body) : body);
    }
    const coding = SQUEEZED.test(type) ? { "Content-Encoding": "gzip" } : {};
    response.writeHead(200, { "Content-Type": type, "Cache-Control": YEAR, ...coding });
    response.end(squeezed.get(path));
  } catch {
    response.writeHead(404).end();
  }
}

const median = (numbers) => numbers.sort((a, b) => a - b)[Math.floor(numbers.length / 2)];
const percent = (score) => Math.round(100 * score);

function faults({ lhr }) {
  return Object.values(lhr.audits)
    .filter(({ score, scoreDisplayMode }) => score !== null && score < 0.9 && scoreDisplayMode !== "informative")
    .map(({ id, displayValue = "", details }) => {
      const items = (details?.items || []).slice(0, 4)
        .map((item) => "      " + JSON.stringify(item.node?.snippet || item.url || item).slice(0, 200));
      return [`    ${id} ${displayValue}`, ...items].join("\n");
    });
}

const server = createServer(answer).listen(0, "127.0.0.1");
await new Promise((ready) => server.once("listening", ready));
const unboxed = process.getuid?.() === 0 ? ["--no-sandbox"] : [];
const browser = await launch({ chromeFlags: ["--headless=new", "--disable-gpu", ...unboxed] });
const config = values.preset === "desktop" ? desktop : undefined; // Lighthouse's own default is a phone

let low = 0;
for (const page of asked.length ? asked : PAGES) {
  const seen = [];
  for (let run = 0; run < runs; run += 1) {
    const address = `http://127.0.0.1:${server.address().port}/${page}`;
    seen.push(await lighthouse(address, { port: browser.port, logLevel: "error", output: "json" }, config));
  }
  const scores = Object.entries(LEAST).map(([name, least]) => {
    const all = seen.map(({ lhr }) => percent(lhr.categories[name].score));
    const score = name === "performance" ? median(all) : Math.min(...all);
    low += score < least ? 1 : 0;
    return `${name} ${score}${score < least ? ` (at least ${least})` : ""}`;
  });
  const time = (id) => (median(seen.map(({ lhr }) => lhr.audits[id].numericValue)) / 1000).toFixed(1);
  const times = `first paint ${time("first-contentful-paint")} s, largest ${time("largest-contentful-paint")} s, ` +
    `blocked ${time("total-blocking-time")} s`;
  console.log(`${page}\n  ${scores.join(", ")}\n  ${times}`);
  if (values.faults) console.log(faults(seen[0]).join("\n"));
}

browser.kill();
server.close();
process.exitCode = low ? 1 : 0;
