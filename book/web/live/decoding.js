/* Greedy decoding and beam search (§6.1): the rules of transformer.inference, one sentence at a time.
 *
 * A reader (engine.js has two) answers two calls:
 *   reader.start()               → the state before the first step
 *   reader.step(state, prefixes) → { logits: one row of numbers a prefix, states }
 * where `prefixes` are { tokens, parent }: the ids so far with the start token, and the row of the state that
 * each goes on from. Both searches yield after every step, so a page can show them grow. */
(function () {
  "use strict";
  const live = (globalThis.live = globalThis.live || {});
  const TOP = 5;

  const lengthPenalty = (length, alpha) => ((5 + length) / 6) ** alpha;

  /* log(Σ exp) over a row of logits divided by the temperature. */
  function logSumExp(logits, temperature = 1) {
    let largest = -Infinity, total = 0;
    for (const logit of logits) if (logit > largest) largest = logit;
    for (const logit of logits) total += Math.exp((logit - largest) / temperature);
    return largest / temperature + Math.log(total);
  }

  /* Log probabilities of a row: padding and a second start token are impossible, and at the limit all but the
   * end token. The sum is over all tokens, as in the package, so what is forbidden keeps its share. */
  function logProbabilities(logits, special, { temperature = 1, mustEnd = false } = {}) {
    const total = logSumExp(logits, temperature);
    if (!Number.isFinite(total)) throw new Error("the model's probabilities are not numbers");
    const found = Float64Array.from(logits, (logit) => logit / temperature - total);
    found[special.pad] = found[special.start] = -Infinity;
    if (mustEnd) found.forEach((_, id) => { if (id !== special.end) found[id] = -Infinity; });
    return found;
  }

  /* The `count` best ids, best first; of equal ones the lower id. */
  function best(logProbs, count = TOP) {
    const ids = [];
    for (let id = 0; id < logProbs.length; id++) {
      if (logProbs[id] === -Infinity) continue;
      if (ids.length === count && logProbs[id] <= logProbs[ids[count - 1]]) continue;
      let place = ids.length;
      while (place > 0 && logProbs[ids[place - 1]] < logProbs[id]) place--;
      ids.splice(place, 0, id);
      if (ids.length > count) ids.pop();
    }
    return ids;
  }

  const topFive = (logProbs) => best(logProbs).map((id) => ({ id, probability: Math.exp(logProbs[id]) }));

  /* An id drawn by its probability; what is forbidden has none. */
  function drawn(logProbs, random = Math.random) {
    const shares = Array.from(logProbs, Math.exp);
    let left = random() * shares.reduce((sum, share) => sum + share, 0);
    const id = shares.findIndex((share) => (left -= share) < 0);
    return id < 0 ? best(logProbs, 1)[0] : id;
  }

  /* Yields { tokens, token, logProb, top, done } after each token; with `sampled` each one is drawn. */
  async function* greedy(reader, { special, limit, temperature = 1, sampled = false }) {
    let state = await reader.start(), tokens = [special.start], logProb = 0;
    for (let length = 1; length <= limit; length++) {
      const { logits, states } = await reader.step(state, [{ tokens, parent: 0 }]);
      const logProbs = logProbabilities(logits[0], special, { temperature });
      const token = sampled ? drawn(logProbs) : best(logProbs, 1)[0];
      const done = token === special.end || length === limit;
      logProb += logProbs[token];
      // the token that reaches the limit is the end token's place
      if (!done) tokens = [...tokens, token];
      yield { length, read: tokens.slice(0, length), tokens: tokens.slice(1), token, logProb, top: topFive(logProbs), probability: Math.exp(logProbs[token]), done };
      if (done) return;
      state = states;
    }
  }

  /* Yields { length, rows, grown, open, finished, done } after each step. A row is a hypothesis that was read;
   * `grown` are its continuations that were looked at, in the order of their log probabilities. */
  async function* beamSearch(reader, { special, limit, beam = 4, alpha = 0.6, nBest = 1, earlyStopping = false }) {
    let state = await reader.start();
    let open = [{ tokens: [special.start], parent: 0, logProb: 0, node: 0 }];
    let nodes = 1;
    const finished = [];
    for (let length = 1; ; length++) {
      const { logits, states } = await reader.step(state, open);
      const mustEnd = length === limit;
      const rows = open.map((hypothesis, row) => {
        const logProbs = logProbabilities(logits[row], special, { mustEnd });
        return { ...hypothesis, logProbs, top: topFive(logProbs) };
      });
      // at most one continuation of a row ends it: beam + 1 of each row hold `beam` that go on
      const grown = rows.flatMap((hypothesis, row) => best(hypothesis.logProbs, beam + 1).map((token) => (
        { row, token, from: hypothesis.node, logProb: hypothesis.logProb + hypothesis.logProbs[token], probability: Math.exp(hypothesis.logProbs[token]) })));
      grown.sort((a, b) => b.logProb - a.logProb); // stable: of equal ones the earlier row
      grown.slice(0, beam).filter(({ token }) => token === special.end).forEach((one) => {
        one.node = nodes++;
        const score = one.logProb / lengthPenalty(length, alpha);
        finished.push({ tokens: rows[one.row].tokens.slice(1), logProb: one.logProb, score, node: one.node });
      });
      const kept = grown.filter(({ token }) => token !== special.end).slice(0, beam);
      kept.forEach((one) => { one.node = nodes++; });
      open = kept.map(({ row, token, logProb, node }) => (
        { tokens: [...rows[row].tokens, token], parent: row, logProb, node }));
      const done = isDone(finished, open, { length, limit, beam, alpha, nBest, earlyStopping });
      yield { length, rows, grown, open, finished: ranked(finished), done };
      if (done) return;
      state = states;
    }
  }

  const ranked = (finished) => [...finished].sort((a, b) => b.score - a.score);

  function isDone(finished, open, { length, limit, beam, alpha, nBest, earlyStopping }) {
    if (length >= limit || !open.length) return true;
    if (finished.length < nBest) return false;
    if (earlyStopping && finished.length >= beam) return true;
    // log probabilities only fall and the penalty only grows, so no continuation scores higher
    const reachable = open[0].logProb / lengthPenalty(limit, alpha);
    return ranked(finished)[nBest - 1].score >= reachable;
  }

  live.decoding = { greedy, beamSearch, lengthPenalty, logProbabilities, best, drawn };
})();
