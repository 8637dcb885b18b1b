/* The beam as a tree: from the steps of decoding.beamSearch to places, and to the path of one hypothesis.
 * A place depends on what came before it only, so a tree that grows moves nothing. */
(function () {
  "use strict";
  const live = (globalThis.live = globalThis.live || {});
  const COLUMN = 104, ROW = 34, MARGIN = 14;

  /* Nodes { id, from, token, depth, logProb, finished, best, x, y }: what was kept or finished, no more. */
  function layOut(steps) {
    const nodes = [{ id: 0, from: null, token: null, depth: 0, logProb: 0, row: 0 }];
    steps.forEach(({ grown }, step) => grown.filter(({ node }) => node !== undefined).forEach((one) => {
      nodes.push({ id: one.node, from: one.from, token: one.token, depth: step + 1, logProb: one.logProb });
    }));
    const finished = new Set(steps.at(-1).finished.map(({ node }) => node));
    const onBest = new Set(steps.at(-1).finished.length ? ancestors(nodes, steps.at(-1).finished[0].node) : []);
    const used = new Map();
    for (const node of nodes) {
      const row = used.get(node.depth) ?? 0;
      used.set(node.depth, row + 1);
      Object.assign(node, {
        finished: finished.has(node.id), best: onBest.has(node.id),
        x: MARGIN + node.depth * COLUMN, y: MARGIN + row * ROW,
      });
    }
    const rows = Math.max(...used.values());
    return { nodes, width: MARGIN * 2 + (steps.length + 1) * COLUMN, height: MARGIN * 2 + rows * ROW };
  }

  function ancestors(nodes, id) {
    const byId = new Map(nodes.map((node) => [node.id, node]));
    const found = [];
    for (let at = byId.get(id); at; at = byId.get(at.from)) found.push(at.id);
    return found;
  }

  /* What led to a hypothesis: { token, probability, top } of every step. */
  function pathTo(steps, node) {
    const path = [];
    for (let step = steps.length - 1; step >= 0; step--) {
      const one = steps[step].grown.find((grown) => grown.node === node);
      if (!one) continue;
      path.unshift({ token: one.token, probability: one.probability, top: steps[step].rows[one.row].top });
      node = one.from;
    }
    return path;
  }

  /* The hypothesis to show after these steps, of greedy decoding or of a beam: { token, probability, top } of each step,
   * and what has been written. A finished one goes before those that are open. */
  function shown(steps) {
    const last = steps.at(-1);
    if (!last.grown) return { tokens: steps, ids: last.tokens };
    const best = last.finished[0] || last.open[0];
    return { tokens: pathTo(steps, best.node), ids: best.tokens };
  }

  /* The word that was written with the least probability; the end token is no word, unless it is all there is. */
  const leastSure = (tokens) => tokens.slice(0, -1).reduce((least, one) => (one.probability < least.probability ? one : least), tokens[0]);

  live.tree = { layOut, pathTo, shown, leastSure };
})();
