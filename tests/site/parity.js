/* window.decodeAll: what the translator of this page makes of sentences, for Python to compare.
 * Greedy decoding of all; of every tenth also beam search, and greedy decoding by the laboratory with every switch at
 * rest. The logits of greedy decoding come step after step, as one text. */
window.decodeAll = async (texts) => {
  const { engine, words, raw, controls } = window.live.translator;
  const { decoding, switches } = window.live, special = words.special;
  const greedy = [], beam = [], laboratory = [], rows = [];

  const last = async (steps) => {
    let found;
    for await (const step of steps) found = step;
    return found;
  };
  const recorded = (reader) => ({
    start: () => reader.start(),
    step: async (state, prefixes) => {
      const result = await reader.step(state, prefixes);
      rows.push(result.logits[0]);
      return result;
    },
  });
  for (const [i, text] of texts.entries()) {
    const { ids } = words.read(text), settings = { special, limit: ids.length + raw.extraTokens };
    greedy.push((await last(decoding.greedy(recorded(engine.reader(ids)), settings))).tokens);
    if (i % 10) continue;
    const search = { ...settings, ...controls.search, beam: 4 }, [best] = (await last(decoding.beamSearch(engine.reader(ids), search))).finished;
    beam.push({ tokens: best.tokens, score: best.score });
    const asked = { ...switches.atRest(raw.sizes), asked: "for the laboratory, which rest alone is not" };
    laboratory.push((await last(decoding.greedy(engine.reader(ids, asked), settings))).tokens);
  }
  // every weight that the panel shows of the first sentence: layers × heads × queries × keys, by kind
  const rest = switches.atRest(raw.sizes), { ids } = words.read(texts[0]);
  const products = await engine.products(ids, [special.start, ...greedy[0]], rest);
  const maps = Object.fromEntries(switches.KINDS.map((kind) => [kind, products[kind].map((layer) => layer.map((head) => (
    window.live.attention.rowsOf(head, kind, rest, raw.sizes).map(({ weights }) => weights))))]));
  return { greedy, maps, beam, laboratory, written: greedy.map((ids) => words.write(ids)), logits: await asText(new Blob(rows)) };
};

function asText(blob) {
  return new Promise((resolve) => {
    const reader = new FileReader();
    reader.onload = () => resolve(reader.result.split(",")[1]);
    reader.readAsDataURL(blob);
  });
}
