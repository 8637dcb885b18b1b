/* What the reader may break, and what to look for when it is broken. */
(function () {
  "use strict";
  const live = (globalThis.live = globalThis.live || {});
  const KINDS = ["encoder", "decoder", "cross"];

  const ones = ({ layers, heads }) => Array.from({ length: layers }, () => new Array(heads).fill(1));

  /* Every switch as the model was trained. */
  function atRest(sizes) {
    return { causal: 1, positions: 1, scoreScale: 1, heads: Object.fromEntries(KINDS.map((kind) => [kind, ones(sizes)])) };
  }

  function isAtRest(switches, sizes) {
    return JSON.stringify(switches) === JSON.stringify(atRest(sizes));
  }

  /* The numbers that the graphs take, from the choices of the page:
   * { noMask, noPositions, noScale, heads: "all" | "only" | "off", head: { kind, layer, head } }.
   * "only" keeps the head of that number in every layer and kind; "off" takes one away. */
  function fromChoices(choices, sizes) {
    const found = atRest(sizes);
    if (choices.noMask) found.causal = 0;
    if (choices.noPositions) found.positions = 0;
    if (choices.noScale) found.scoreScale = Math.sqrt(sizes.dK); // the graph divides by it
    const { kind, layer, head } = choices.head || {};
    if (choices.heads === "only") {
      for (const one of KINDS) found.heads[one].forEach((gains) => gains.forEach((_, h) => { gains[h] = h === head ? 1 : 0; }));
    } else if (choices.heads === "off") found.heads[kind][layer][head] = 0;
    return found;
  }

  /* The map on which a switch is seen; where it is none in particular, the view stays. */
  function whereSeen(name, { heads, head: { kind, layer, head } }) {
    if (name === "mask") return { kind: "decoder", layer: 1, head: 2 };
    if (name === "scale") return { kind: "encoder", layer: 0, head: 0, row: 1 };
    if (heads === "off" && name.startsWith("off") || name === "heads" && heads === "off") return { kind, layer, head };
    if (heads === "only" && (name === "heads" || name === "off-head")) return { head };
    return null;
  }

  live.switches = { KINDS, whereSeen, atRest, isAtRest, fromChoices };
})();
