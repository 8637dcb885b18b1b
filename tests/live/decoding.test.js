/* The searches on made-up models: ties, limits, forbidden tokens, the length penalty. */
const test = require("node:test");
const assert = require("node:assert/strict");
const { decoding } = require("./together.js").modules();

const SPECIAL = { pad: 0, start: 1, end: 2, unknown: 3 };
const close = (a, b) => assert.ok(Math.abs(a - b) < 1e-9, `${a} and ${b}`);

/* A model that looks at the prefix: `next` returns probabilities by id, 0 for what it leaves out. */
function reader(next, size = 8) {
  return {
    start: async () => null,
    step: async (_, prefixes) => ({
      states: null,
      logits: prefixes.map(({ tokens }) => {
        const given = next(tokens.slice(1));
        return Float64Array.from({ length: size }, (_, id) => Math.log(given[id] ?? 1e-30));
      }),
    }),
  };
}

async function all(generator) {
  const steps = [];
  for await (const step of generator) steps.push(step);
  return steps;
}

test("greedy takes the lower id of equal ones and stops at the end token", async () => {
  const model = reader((prefix) => (prefix.length < 2 ? { 5: 0.4, 4: 0.4, 2: 0.2 } : { 2: 1 }));
  const steps = await all(decoding.greedy(model, { special: SPECIAL, limit: 9 }));
  assert.deepEqual(steps.at(-1).tokens, [4, 4]);
  assert.equal(steps.length, 3);
  assert.deepEqual(steps[0].top.slice(0, 3).map(({ id }) => id), [4, 5, 2]);
  close(steps.at(-1).logProb, 2 * Math.log(0.4));
});

test("the token that reaches the limit is the end token's place", async () => {
  const steps = await all(decoding.greedy(reader(() => ({ 4: 1 })), { special: SPECIAL, limit: 3 }));
  assert.deepEqual(steps.at(-1).tokens, [4, 4]);
});

test("padding and a second start token are impossible and keep their share", async () => {
  const model = reader((prefix) => (prefix.length ? { 2: 1 } : { 0: 0.5, 1: 0.3, 6: 0.2 }));
  const [first] = await all(decoding.greedy(model, { special: SPECIAL, limit: 5 }));
  assert.equal(first.token, 6);
  close(first.top[0].probability, 0.2);
});

test("a beam finds what greedy decoding misses", async () => {
  const model = reader((prefix) => {
    if (!prefix.length) return { 4: 0.6, 5: 0.4 };
    if (prefix.length === 1) return prefix[0] === 4 ? { 6: 0.5, 7: 0.5 } : { 6: 1 };
    return { 2: 1 };
  });
  const settings = { special: SPECIAL, limit: 6, beam: 2, alpha: 0 };
  const greedy = await all(decoding.greedy(model, settings));
  const beam = await all(decoding.beamSearch(model, settings));
  assert.deepEqual(greedy.at(-1).tokens, [4, 6]);
  assert.deepEqual(beam.at(-1).finished[0].tokens, [5, 6]);
  close(beam.at(-1).finished[0].logProb, Math.log(0.4));
});

test("a beam goes on while something open can win, unless it is asked to end early", async () => {
  // [] and [4] end at once, of low probability; the rest goes to a path of four words
  const model = reader((prefix) => {
    if (!prefix.length) return { 4: 0.9, 2: 0.1 };
    if (prefix.length === 1) return { 5: 0.9, 2: 0.1 };
    return prefix.length < 4 ? { 6: 1 } : { 2: 1 };
  });
  const settings = { special: SPECIAL, limit: 8, beam: 2 };
  const late = await all(decoding.beamSearch(model, settings));
  const early = await all(decoding.beamSearch(model, { ...settings, earlyStopping: true }));
  assert.deepEqual(late.at(-1).finished[0].tokens, [4, 5, 6, 6]);
  assert.ok(early.at(-1).finished[0].score < late.at(-1).finished[0].score);
});

test("the length penalty prefers a longer one, and counts the end token", async () => {
  const model = reader((prefix) => (prefix.length ? { 4: 0.5, 2: 0.5 } : { 4: 0.55, 2: 0.45 }));
  const settings = { special: SPECIAL, limit: 2, beam: 2 };
  const short = await all(decoding.beamSearch(model, { ...settings, alpha: 0 }));
  const long = await all(decoding.beamSearch(model, { ...settings, alpha: 6 }));
  assert.deepEqual(short.at(-1).finished[0].tokens, []);
  assert.deepEqual(long.at(-1).finished[0].tokens, [4]);
  close(short.at(-1).finished[0].logProb, Math.log(0.45));
  close(long.at(-1).finished[0].score, Math.log(0.55 * 0.5) / (7 / 6) ** 6);
});

test("at the limit every hypothesis must end", async () => {
  const model = reader(() => ({ 4: 0.9, 2: 0.1 }));
  const steps = await all(decoding.beamSearch(model, { special: SPECIAL, limit: 3, beam: 2, alpha: 0 }));
  assert.ok(steps.at(-1).done && steps.length <= 3);
  steps.at(-1).finished.forEach(({ tokens }) => assert.ok(tokens.length <= 2));
});

test("a temperature changes probabilities and not their order", () => {
  const logits = [-9, -9, 0, 1, 2, 3];
  const cold = decoding.logProbabilities(logits, SPECIAL, { temperature: 0.5 });
  const warm = decoding.logProbabilities(logits, SPECIAL, { temperature: 2 });
  assert.deepEqual(decoding.best(cold, 4), decoding.best(warm, 4));
  assert.ok(cold[5] > warm[5]);
});

test("a sampled token is drawn by its probability, and a forbidden one never", () => {
  const shares = decoding.logProbabilities([9, 9, 0, Math.log(3), -Infinity], SPECIAL);
  const at = (share) => decoding.drawn(shares, () => share);
  assert.deepEqual([0, 0.24, 0.26, 0.999999].map(at), [2, 2, 3, 3]);
});

test("logits that are no numbers are an error, not an answer", async () => {
  const broken = { start: async () => null, step: async () => ({ logits: [new Float32Array(8).fill(NaN)] }) };
  await assert.rejects(all(decoding.greedy(broken, { special: SPECIAL, limit: 3 })), /not numbers/);
  await assert.rejects(all(decoding.beamSearch(broken, { special: SPECIAL, limit: 3 })), /not numbers/);
});
