/* Loads the browser's scripts into node, in the order of the page. */
const { readFileSync } = require("node:fs");
const { join, resolve } = require("node:path");
const vm = require("node:vm");

const WEB = resolve(__dirname, "..", "..", "book", "web");
const MODULES = ["loading", "text", "decoding", "switches", "engine"];
const run = (path) => vm.runInThisContext(readFileSync(path, "utf8"), { filename: path });

function modules(names = MODULES) {
  names.forEach((name) => run(join(WEB, "live", `${name}.js`)));
  return globalThis.live;
}

module.exports = { modules };
