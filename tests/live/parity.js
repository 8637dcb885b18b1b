/* node parity.js REFERENCE: every sentence as torch decoded it. Prints what differs as JSON.
 * REFERENCE.json holds the sentences with greedy and beam tokens and scores, REFERENCE.f32 the logits of greedy
 * decoding, step after step. */
const { readFileSync } = require("node:fs");
const { engine } = require("./together.js");

async function last(generator, each = () => {}) {
  let found;
  for await (const step of generator) each((found = step));
  return found;
}

async function main(reference) {
  const { live, engine: model, words: raw } = await engine();
  const words = new live.text.Words(raw);
  const cases = JSON.parse(readFileSync(`${reference}.json`, "utf8"));
  const bytes = readFileSync(`${reference}.f32`);
  const logits = new Float32Array(bytes.buffer, bytes.byteOffset, bytes.byteLength / 4);
  const report = { sentences: 0, different: [], largest: 0, score: 0 };
  let place = 0;
  const compare = (row) => {
    row.forEach((value) => { report.largest = Math.max(report.largest, Math.abs(value - logits[place++])); });
  };
  const watched = (reader) => ({
    start: () => reader.start(),
    step: async (state, prefixes) => {
      const result = await reader.step(state, prefixes);
      compare(result.logits[0]);
      return result;
    },
  });
  for (const { text, greedy, beam, score, text_out: written } of cases) {
    const read = words.read(text);
    const settings = { special: words.special, limit: read.ids.length + raw.extraTokens };
    const own = await last(live.decoding.greedy(watched(model.reader(read.ids)), settings));
    const four = await last(live.decoding.beamSearch(model.reader(read.ids), { ...settings, beam: 4, alpha: 0.6 }));
    report.score = Math.max(report.score, Math.abs(four.finished[0].score - score));
    const same = JSON.stringify([own.tokens, four.finished[0].tokens]) === JSON.stringify([greedy, beam]);
    if (!same || words.write(own.tokens) !== written) report.different.push({ text, own: own.tokens, beam: four.finished[0].tokens });
    if (report.sentences++ % 10 === 0) { // the laboratory at rest is the same model
      const laboratory = model.reader(read.ids, { ...live.switches.atRest(raw.sizes), asked: "for the laboratory" });
      const other = await last(live.decoding.greedy(laboratory, settings));
      if (JSON.stringify(other.tokens) !== JSON.stringify(greedy)) report.different.push({ text, laboratory: other.tokens });
    }
  }
  report.logits = place;
  console.log(JSON.stringify(report));
}

main(process.argv[2]);
