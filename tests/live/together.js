/* Loads the browser's scripts into node, in the order of the page. */
const { readFileSync, readdirSync } = require("node:fs");
const { join, resolve } = require("node:path");
const { pathToFileURL } = require("node:url");
const vm = require("node:vm");

const WEB = resolve(__dirname, "..", "..", "book", "web");
const MODULES = ["loading", "text", "decoding", "switches", "engine"];
const run = (path) => vm.runInThisContext(readFileSync(path, "utf8"), { filename: path });

function modules(names = MODULES) {
  names.forEach((name) => run(join(WEB, "live", `${name}.js`)));
  return globalThis.live;
}

/* The engine from the very scripts that the page loads. */
async function engine() {
  const live = modules(), vendor = join(WEB, "vendor", "live");
  readdirSync(vendor).filter((file) => file.endsWith(".js")).forEach((file) => run(join(vendor, file)));
  const dist = join(WEB, "node_modules", "onnxruntime-web", "dist");
  const ort = require(join(dist, "ort.wasm.min.js"));
  const glueUrl = pathToFileURL(join(dist, "ort-wasm-simd-threaded.mjs")).href;
  return { live, ...(await live.loading.assemble(ort, { glueUrl })) };
}

module.exports = { modules, engine, WEB };
