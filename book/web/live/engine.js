/* Runs the graphs. A reader is what decoding.js asks: the exported model with its cache, or the laboratory, which
 * computes every prefix anew and takes the switches. */
(function () {
  "use strict";
  const live = (globalThis.live = globalThis.live || {});
  const WEIGHTS = "weights.bin";
  const EXPORTED = ["encoder", "decoder-step"], LABORATORY = ["laboratory-encoder", "laboratory-decoder"];

  /* 16-bit numbers as 32-bit ones, exactly; the graphs point into the result. */
  function widen(bytes) {
    const { buffer, byteOffset } = bytes, count = bytes.byteLength / 2;
    if (globalThis.Float16Array) return new Uint8Array(new Float32Array(new Float16Array(buffer, byteOffset, count)).buffer);
    const halves = new Uint16Array(buffer, byteOffset, count); // a browser of before 2025 knows no such numbers
    const out = new Uint32Array(halves.length);
    const number = new DataView(new ArrayBuffer(4));
    for (let i = 0; i < halves.length; i++) {
      const sign = (halves[i] & 0x8000) << 16, exponent = (halves[i] >> 10) & 0x1f, fraction = halves[i] & 0x3ff;
      if (exponent) out[i] = sign | ((exponent === 31 ? 255 : exponent + 112) << 23) | (fraction << 13);
      else {
        number.setFloat32(0, fraction * 2 ** -24);
        out[i] = sign | number.getUint32(0);
      }
    }
    return new Uint8Array(out.buffer);
  }

  /* Starts onnxruntime with one thread, from bytes that are already here. */
  function prepare(ort, { wasm, glueUrl }) {
    ort.env.wasm.numThreads = 1;
    ort.env.wasm.proxy = false;
    ort.env.wasm.wasmBinary = wasm;
    ort.env.wasm.wasmPaths = { mjs: glueUrl };
    ort.env.logLevel = "error";
  }

  class Engine {
    /* `graphs` maps names to bytes, `weights` are the widened numbers. */
    constructor(ort, { graphs, weights, words }) {
      Object.assign(this, { ort, graphs, weights, words, sizes: words.sizes, sessions: {}, turn: Promise.resolve() });
    }

    /* One thing after another: two runs at once would share onnxruntime's stack. */
    inTurn(task) {
      const done = this.turn.then(task);
      this.turn = done.catch(() => {});
      return done;
    }

    /* Makes a graph ready to run. One that nobody asks for costs nothing. */
    start(name) {
      return this.inTurn(async () => {
        this.sessions[name] ??= await this.ort.InferenceSession.create(this.graphs[name], {
          executionProviders: ["wasm"],
          externalData: [{ path: WEIGHTS, data: this.weights }],
          graphOptimizationLevel: "basic",
        });
        return this.sessions[name];
      });
    }

    async run(name, inputs) {
      const session = this.sessions[name] || await this.start(name);
      return this.inTurn(() => session.run(inputs));
    }

    /* While the reader types: what has never run is compiled, and the laboratory started. Nothing waits for it. */
    useIdleTime() {
      const tasks = [() => this.firstStep(), ...LABORATORY.map((name) => () => this.start(name))];
      tasks.forEach((task) => globalThis.requestIdleCallback?.(() => task().catch(() => {})));
    }

    async firstStep() {
      const { start, end } = this.words.special, reader = this.reader([end]);
      await reader.step(await reader.start(), [{ tokens: [start], parent: 0 }]);
    }

    /* The products q·k of every attention, kind → layers × heads × queries × keys, when the decoder has read these. */
    async products(ids, tokens, switches) {
      const reader = new Laboratory(this, ids, switches);
      await reader.start();
      const { decoder_products, cross_products } = await reader.decode([{ tokens }]);
      return { encoder: reader.encoderProducts, decoder: nested(decoder_products), cross: nested(cross_products) };
    }

    reader(ids, switches = live.switches.atRest(this.sizes)) {
      return live.switches.isAtRest(switches, this.sizes)
        ? new Exported(this, ids) : new Laboratory(this, ids, switches);
    }

    ids(rows) {
      const flat = BigInt64Array.from(rows.flat(), BigInt);
      return new this.ort.Tensor("int64", flat, [rows.length, rows[0].length]);
    }

    numbers(values, shape) {
      return new this.ort.Tensor("float32", Float32Array.from(values), shape);
    }
  }

  /* transformer.export's two files: the encoder once, then one token a step for every row. */
  class Exported {
    constructor(engine, ids) {
      Object.assign(this, { engine, ids });
    }

    async start() {
      const { memory } = await this.engine.run("encoder", { source: this.engine.ids([this.ids]) });
      this.memory = memory;
      return { keys: null, values: null };
    }

    async step(state, prefixes) {
      const { engine } = this, { layers, heads, dK, dV } = engine.sizes, batch = prefixes.length;
      const parents = prefixes.map(({ parent }) => parent);
      const empty = (d) => engine.numbers([], [layers, batch, heads, 0, d]);
      const results = await engine.run("decoder-step", {
        source: engine.ids(prefixes.map(() => this.ids)),
        memory: repeated(engine, this.memory, batch),
        token: engine.ids(prefixes.map(({ tokens }) => tokens.slice(-1))),
        past_keys: state.keys ? selected(engine, state.keys, parents) : empty(dK),
        past_values: state.values ? selected(engine, state.values, parents) : empty(dV),
      });
      return { logits: rowsOf(results.logits), states: { keys: results.keys, values: results.values } };
    }
  }

  /* The graphs with switches: no cache, because what an early word sees may change. */
  class Laboratory {
    constructor(engine, ids, switches) {
      Object.assign(this, { engine, ids, switches });
    }

    async start() {
      const { engine, switches } = this;
      const { memory, encoder_products } = await engine.run("laboratory-encoder", {
        source: engine.ids([this.ids]),
        positions: engine.numbers([switches.positions], []),
        score_scale: engine.numbers([switches.scoreScale], []),
        encoder_heads: this.gains("encoder"),
      });
      this.memory = memory;
      this.encoderProducts = nested(encoder_products);
      return null;
    }

    gains(kind) {
      const { layers, heads } = this.engine.sizes;
      return this.engine.numbers(this.switches.heads[kind].flat(), [layers, heads]);
    }

    async step(_state, prefixes) {
      return { logits: rowsOf((await this.decode(prefixes)).logits), states: null };
    }

    decode(prefixes) {
      const { engine, switches } = this;
      return engine.run("laboratory-decoder", {
        memory: this.memory,
        target: engine.ids(prefixes.map(({ tokens }) => tokens)),
        causal: engine.numbers([switches.causal], []),
        positions: engine.numbers([switches.positions], []),
        score_scale: engine.numbers([switches.scoreScale], []),
        decoder_heads: this.gains("decoder"),
        cross_heads: this.gains("cross"),
      });
    }
  }

  function rowsOf({ data, dims: [rows, columns] }) {
    return Array.from({ length: rows }, (_, row) => data.slice(row * columns, (row + 1) * columns));
  }

  /* (layers, 1, heads, queries, keys) as layers × heads × queries × a row of keys. */
  function nested({ data, dims: [layers, , heads, queries, keys] }) {
    const range = (n, make) => Array.from({ length: n }, (_, i) => make(i));
    return range(layers, (layer) => range(heads, (head) => range(queries, (query) => {
      const start = ((layer * heads + head) * queries + query) * keys;
      return data.slice(start, start + keys);
    })));
  }

  function repeated(engine, { data, dims }, batch) {
    const out = new Float32Array(data.length * batch);
    for (let row = 0; row < batch; row++) out.set(data, row * data.length);
    return engine.numbers(out, [batch, ...dims.slice(1)]);
  }

  /* Rows of the batch, which is the second axis: kept, repeated or left out. */
  function selected(engine, { data, dims: [layers, batch, ...rest] }, rows) {
    const size = rest.reduce((product, n) => product * n, 1);
    const out = new Float32Array(layers * rows.length * size);
    for (let layer = 0; layer < layers; layer++) {
      rows.forEach((row, place) => {
        const from = (layer * batch + row) * size;
        out.set(data.subarray(from, from + size), (layer * rows.length + place) * size);
      });
    }
    return engine.numbers(out, [layers, rows.length, ...rest]);
  }

  live.engine = { Engine, EXPORTED, LABORATORY, prepare, widen };
})();
