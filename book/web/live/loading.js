/* What arrives, made into bytes again: scripts that call live.receive, because a page opened from a file may load
 * scripts and fetch nothing. */
(function () {
  "use strict";
  const live = (globalThis.live = globalThis.live || {});
  const arrived = new Map(); // name → parts, in their order

  live.receive = (...part) => receive(arrived, ...part);

  function receive(received, name, number, count, text) {
    if (!received.has(name)) received.set(name, new Array(count).fill(null));
    received.get(name)[number] = text;
  }

  /* The bytes that arrived under this name; they are handed out once. */
  async function unpack(name, received = arrived) {
    const parts = received.get(name);
    if (!parts || parts.includes(null)) throw new Error(`${name} has not arrived`);
    received.delete(name);
    const packed = new Blob([fromBase64(parts.join(""))]);
    const plain = packed.stream().pipeThrough(new DecompressionStream("gzip"));
    return new Uint8Array(await new Response(plain).arrayBuffer());
  }

  function fromBase64(text) {
    if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
    const letters = atob(text), bytes = new Uint8Array(letters.length);
    for (let i = 0; i < letters.length; i++) bytes[i] = letters.charCodeAt(i);
    return bytes;
  }

  /* The engine, from what has arrived. */
  async function assemble(ort, { glueUrl } = {}) {
    const glue = glueUrl || URL.createObjectURL(new Blob([await unpack("runtime.mjs")], { type: "text/javascript" }));
    live.engine.prepare(ort, { wasm: (await unpack("runtime.wasm")).buffer, glueUrl: glue });
    return modelOf(ort, unpack);
  }

  /* A model, from the bytes of each of its parts: its words, and an engine that has its graphs and its weights. */
  async function modelOf(ort, bytesOf) {
    const words = JSON.parse(new TextDecoder().decode(await bytesOf("words.json")));
    const weights = live.engine.widen(await bytesOf("weights.f16"));
    const { EXPORTED, LABORATORY } = live.engine, graphs = {};
    for (const name of [...EXPORTED, ...LABORATORY]) graphs[name] = await bytesOf(`${name}.onnx`);
    const engine = new live.engine.Engine(ort, { graphs, weights, words });
    for (const name of EXPORTED) await engine.start(name);
    return { words, engine };
  }

  live.loading = { receive, unpack, assemble, modelOf };
})();
