/* Widened numbers, switches, and the tree. */
const test = require("node:test");
const assert = require("node:assert/strict");
const live = require("./together.js").modules(["loading", "text", "decoding", "switches", "engine", "attention", "tree", "controls"]);

const SIZES = { layers: 2, heads: 4, dK: 32 };

function widensExactly() {
  const halves = new Uint16Array([0x0000, 0x8000, 0x3c00, 0xc000, 0x7bff, 0x0001, 0x03ff, 0x0400, 0x7c00, 0x3555]);
  const found = new Float32Array(live.engine.widen(new Uint8Array(halves.buffer)).buffer);
  const wanted = [0, -0, 1, -2, 65504, 2 ** -24, 1023 * 2 ** -24, 2 ** -14, Infinity, 0.333251953125];
  wanted.forEach((value, i) => assert.ok(Object.is(found[i], value), `${found[i]} and ${value}`));
}

test("16-bit numbers are widened exactly: zeros, ones, the largest, the smallest, infinity", widensExactly);

test("so they are where the browser has no 16-bit numbers of its own", () => {
  const own = globalThis.Float16Array;
  globalThis.Float16Array = undefined;
  try {
    widensExactly();
  } finally {
    globalThis.Float16Array = own;
  }
});

test("the engine starts a graph once and runs one thing at a time, also after one that failed", async () => {
  let busy = 0, most = 0, started = 0;
  const work = async (result) => {
    most = Math.max(most, ++busy);
    await new Promise((resolve) => { setTimeout(resolve, 2); });
    busy--;
    if (result === "bad") throw new Error("bad");
    return result;
  };
  const create = () => { started++; return work({ run: work }); };
  const engine = new live.engine.Engine({ InferenceSession: { create } }, { graphs: { g: null }, words: { sizes: SIZES } });
  const runs = await Promise.allSettled(["bad", "one", "two"].map((inputs) => engine.run("g", inputs)));
  assert.deepEqual(runs.map(({ status, value }) => value ?? status), ["rejected", "one", "two"]);
  assert.deepEqual([started, most], [1, 1]);
});

test("no choice leaves every switch at rest, each one moves its own", () => {
  const { atRest, isAtRest, fromChoices } = live.switches;
  assert.ok(isAtRest(fromChoices({ heads: "all" }, SIZES), SIZES));
  assert.deepEqual(fromChoices({ noMask: true }, SIZES), { ...atRest(SIZES), causal: 0 });
  assert.deepEqual(fromChoices({ noPositions: true }, SIZES), { ...atRest(SIZES), positions: 0 });
  assert.equal(fromChoices({ noScale: true }, SIZES).scoreScale, Math.sqrt(32));
  const only = fromChoices({ heads: "only", head: { head: 2 } }, SIZES);
  live.switches.KINDS.forEach((kind) => assert.deepEqual(only.heads[kind], [[0, 0, 1, 0], [0, 0, 1, 0]]));
  const off = fromChoices({ heads: "off", head: { kind: "cross", layer: 1, head: 3 } }, SIZES);
  assert.deepEqual(off.heads, { ...atRest(SIZES).heads, cross: [[1, 1, 1, 1], [1, 1, 1, 0]] });
});

test("a switch that is seen on one map leads to it, and so does a head", () => {
  const { whereSeen } = live.switches, head = { kind: "cross", layer: 1, head: 3 };
  assert.equal(whereSeen("mask", { heads: "all", head }).kind, "decoder");
  assert.equal(whereSeen("scale", { heads: "all", head }).kind, "encoder");
  assert.deepEqual(["heads", "off-layer"].map((name) => whereSeen(name, { heads: "off", head })), [head, head]);
  assert.deepEqual(whereSeen("off-head", { heads: "only", head }), { head: 3 });
  ["positions", "alpha", "method"].forEach((name) => assert.equal(whereSeen(name, { heads: "off", head }), null));
});

test("a row is scaled, masked where the decoder looks at itself, and made into weights", () => {
  const head = [[0, 4, 8], [4, 4, 4], [0, 0, 0]], rest = { causal: 1, scoreScale: 1 }, sizes = { dK: 16 };
  const [first] = live.attention.rowsOf(head, "decoder", rest, sizes);
  assert.deepEqual([first.scaled, first.masked, first.weights], [[0, 1, 2], [0, -Infinity, -Infinity], [1, 0, 0]]);
  const [open] = live.attention.rowsOf(head, "decoder", { ...rest, causal: 0 }, sizes);
  assert.ok(Math.abs(open.weights[2] - 0.665240956) < 1e-6);
  assert.deepEqual(live.attention.rowsOf(head, "cross", { ...rest, scoreScale: 4 }, sizes)[0].scaled, [0, 4, 8]);
  const mean = live.attention.weightsOf([head, [[0, 0, 0], [0, 0, 0], [0, 0, 0]]], "mean", "cross", rest, sizes);
  mean[1].forEach((weight) => assert.ok(Math.abs(weight - 1 / 3) < 1e-9));
});

test("the tree holds each hypothesis once, and the path to the best", () => {
  const row = { top: [] };
  const steps = [
    { rows: [row], grown: [{ row: 0, token: 4, from: 0, node: 1, logProb: -1 }, { row: 0, token: 5, from: 0, node: 2, logProb: -2 }], finished: [] },
    {
      rows: [row, row],
      grown: [{ row: 1, token: 2, from: 2, node: 3, logProb: -2.5 }, { row: 0, token: 6, from: 1, node: 4, logProb: -3 }, { row: 0, token: 7, from: 1, logProb: -9 }],
      finished: [{ node: 3 }],
    },
  ];
  const { nodes } = live.tree.layOut(steps);
  assert.deepEqual(nodes.map(({ id }) => id), [0, 1, 2, 3, 4]);
  assert.deepEqual(nodes.filter(({ best }) => best).map(({ id }) => id), [0, 2, 3]);
  assert.equal(new Set(nodes.map(({ x, y }) => `${x} ${y}`)).size, nodes.length);
  assert.deepEqual(live.tree.pathTo(steps, 3).map(({ token }) => token), [5, 2]);
});

test("what is shown of a beam is the best finished one, before any the best open one, of greedy all its steps", () => {
  const { shown, leastSure } = live.tree, row = { top: [] };
  const grown = (token, from, node) => ({ row: 0, token, from, node, logProb: -1, probability: token / 10 });
  const first = { rows: [row], grown: [grown(4, 0, 1), grown(5, 0, 2)], finished: [], open: [{ node: 1, tokens: [1, 4] }] };
  const second = { ...first, rows: [row, row], grown: [{ ...grown(2, 2, 3), row: 1 }, grown(6, 1, 4)], finished: [{ node: 3, tokens: [5] }] };
  assert.deepEqual(shown([first]).tokens.map(({ token }) => token), [4]);
  const { tokens, ids } = shown([first, second]);
  assert.deepEqual([tokens.map(({ token }) => token), ids], [[5, 2], [5]]);
  assert.equal(leastSure(tokens).token, 5, "the end token is no word");
  assert.equal(leastSure(tokens.slice(1)).token, 2, "unless it is all there is");
  const greedy = [{ token: 7, tokens: [7] }, { token: 2, tokens: [7] }];
  assert.deepEqual([shown(greedy).tokens.length, shown(greedy).ids], [2, [7]]);
});

test("parts are put together in their order, and what has not arrived is an error", async () => {
  const { gzipSync } = require("node:zlib");
  const packed = gzipSync(Buffer.from("attention")).toString("base64");
  live.receive("word", 1, 2, packed.slice(10));
  await assert.rejects(live.loading.unpack("word"), /not arrived/);
  live.receive("word", 0, 2, packed.slice(0, 10));
  assert.equal(new TextDecoder().decode(await live.loading.unpack("word")), "attention");
});

test("a sentence has its reference with or without its full stop", () => {
  const { get } = Object.getOwnPropertyDescriptor(live.controls.Controls.prototype, "reference");
  const unseen = new Map([["Jane dort.", "Jane sleeps."]]);
  const found = ["Jane dort.", " Jane dort", "Jane dort .", "Jane dor"].map((text) => get.call({ text, unseen }));
  assert.deepEqual(found, ["Jane sleeps.", "Jane sleeps.", "Jane sleeps.", undefined]);
});
