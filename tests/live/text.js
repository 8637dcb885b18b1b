/* node text.js QUESTIONS.json: prints what text.js makes of each, for Python to compare. */
const { readFileSync } = require("node:fs");
const { text } = require("./together.js").modules(["text"]);

const { words: raw, split, read, near, write } = JSON.parse(readFileSync(process.argv[2], "utf8"));
const words = new text.Words(raw);
console.log(JSON.stringify({
  split: split.map((one) => words.split(one)),
  read: read.map((one) => words.read(one)),
  near: near.map((one) => words.near(one)),
  write: write.map((one) => words.write(one)),
}));
