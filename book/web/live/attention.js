/* From products q·k to weights (§3.2.1), step by step, as the graphs compute them. */
(function () {
  "use strict";
  const live = (globalThis.live = globalThis.live || {});

  /* { products, scaled, masked, weights } of each query of a head. */
  function rowsOf(head, kind, { causal, scoreScale }, { dK }) {
    return head.map((products, query) => {
      const isClosed = (key) => kind === "decoder" && causal === 1 && key > query;
      const scaled = Array.from(products, (product) => (product * scoreScale) / Math.sqrt(dK));
      const masked = scaled.map((score, key) => (isClosed(key) ? -Infinity : score));
      return { products: Array.from(products), scaled, masked, weights: softmax(masked) };
    });
  }

  function softmax(scores) {
    const largest = Math.max(...scores), powers = scores.map((score) => Math.exp(score - largest));
    const total = powers.reduce((sum, power) => sum + power, 0);
    return powers.map((power) => power / total);
  }

  /* Weights of a layer's head, or of "mean" over its heads. */
  function weightsOf(layer, head, ...rest) {
    const all = (head === "mean" ? layer : [layer[head]]).map((one) => rowsOf(one, ...rest).map(({ weights }) => weights));
    return all[0].map((row, i) => row.map((_, j) => all.reduce((sum, one) => sum + one[i][j], 0) / all.length));
  }

  live.attention = { rowsOf, weightsOf };
})();
