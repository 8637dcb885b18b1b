/* From a typed sentence to ids and back: the rules of phrasebook.orthography and
 * transformer.data.vocabulary, letter by letter. A test asks both the same questions. */
(function () {
  "use strict";
  const live = (globalThis.live = globalThis.live || {});

  // what Python calls a space, which is not quite what JavaScript does
  const SPACE = "\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000";
  const SPACES = new RegExp(`[${SPACE}]+`, "u");
  const FINAL = new RegExp(`[.!?…${SPACE}]+$`, "u");
  const ENDED = /[.!?…]$/u; // within a sentence: another one follows
  const AFTER_APOSTROPHE = /(?<=')(?=[\p{L}\p{N}_])/u; // l'Afrique → l' Afrique
  const SUGGESTIONS = 3;
  const LIKE_ENOUGH = 0.6;

  class Words {
    constructor({ tokens, french, proper, special, maxSource }) {
      this.tokens = tokens;
      this.special = special;
      this.maxSource = maxSource;
      this.proper = new Map(Object.entries(proper));
      this.french = new Set(french);
      this.ids = new Map(tokens.map((token, id) => [token, id]));
      this.byLower = new Map();
      for (const token of french) {
        if (!this.byLower.has(token.toLowerCase())) this.byLower.set(token.toLowerCase(), token);
      }
    }

    /* A sentence without its end, and cut into pieces as they were typed. */
    pieces(text) {
      const plain = text.normalize("NFC").replace(/[\u2019\u02bc]/g, "'").replace(FINAL, "");
      return plain.split(SPACES).filter(Boolean).flatMap((word) => word.split(AFTER_APOSTROPHE));
    }

    /* The words of a French sentence; none for an empty one. */
    split(text) {
      const words = this.pieces(text);
      if (!words.length) return [];
      const [first, ...rest] = [...words[0]]; // by code points, as Python counts
      words[0] = first.toLowerCase() + rest.join("");
      return words.map((word) => this.proper.get(word.toLowerCase()) ?? word);
    }

    /* Either { ids, words } of a sentence the model can read, or { typed, unknown, problem }. Capitals do not matter:
     * the package would refuse some, and nobody who types is helped by that. */
    read(text) {
      const typed = this.pieces(text);
      const words = this.split(text).map((word) => (this.french.has(word) ? word : this.byLower.get(word.toLowerCase()) ?? word));
      if (!words.length) return { words, unknown: [], problem: "empty" };
      if (typed.some((piece) => ENDED.test(piece))) return { words, unknown: [], problem: "two" };
      if (words.length > this.maxSource) return { words, unknown: [], problem: "long" };
      const unknown = words
        .map((word, place) => ({ word, place, shown: typed[place] }))
        .filter(({ word }) => !this.french.has(word))
        .map((one) => ({ ...one, isEnglish: this.ids.has(one.word), near: this.near(one.word) }));
      if (unknown.length) return { typed, unknown, problem: "unknown" };
      return { words, ids: [...words.map((word) => this.ids.get(word)), this.special.end] };
    }

    /* The French words closest to this one, closest first. */
    near(word) {
      return closeMatches(word.toLowerCase(), [...this.byLower.keys()]).map((one) => this.byLower.get(one));
    }

    /* Ids as an English sentence, up to the end token. */
    write(ids) {
      const end = ids.indexOf(this.special.end);
      const kept = (end < 0 ? ids : ids.slice(0, end)).filter((id) => id !== this.special.start && id !== this.special.pad);
      if (!kept.length) return "";
      const text = kept.map((id) => this.tokens[id]).join(" ").replaceAll(" 's", "'s");
      const [first, ...rest] = [...text];
      return first.toUpperCase() + rest.join("") + ".";
    }

    name(id) {
      return this.tokens[id];
    }
  }

  /* Python's difflib.get_close_matches: at most three, of ratio 0.6 and more, the best first. */
  function closeMatches(word, candidates) {
    const letters = [...word].length;
    const possible = candidates.filter((candidate) => highestRatio([...candidate].length, letters) >= LIKE_ENOUGH);
    const scored = possible.map((candidate) => ({ candidate, score: ratio(candidate, word) }));
    const enough = scored.filter(({ score }) => score >= LIKE_ENOUGH);
    enough.sort((a, b) => b.score - a.score || compare(b.candidate, a.candidate));
    return enough.slice(0, SUGGESTIONS).map(({ candidate }) => candidate);
  }

  function compare(a, b) {
    const left = [...a].map((c) => c.codePointAt(0)), right = [...b].map((c) => c.codePointAt(0));
    for (let i = 0; i < Math.min(left.length, right.length); i++) {
      if (left[i] !== right[i]) return left[i] - right[i];
    }
    return left.length - right.length;
  }

  /* What two words of these lengths can reach: a word of a thousand letters is not worth comparing. */
  function highestRatio(a, b) {
    return (2 * Math.min(a, b)) / Math.max(a + b, 1);
  }

  /* Twice the letters in common, by longest common blocks, over all letters (Ratcliff, Obershelp). */
  function ratio(a, b) {
    const left = [...a], right = [...b];
    if (!left.length && !right.length) return 1;
    return (2 * lettersInCommon(left, right)) / (left.length + right.length);
  }

  function lettersInCommon(a, b) {
    let size = 0, inA = 0, inB = 0;
    let before = new Array(b.length).fill(0);
    for (let i = 0; i < a.length; i++) {
      const now = new Array(b.length).fill(0);
      for (let j = 0; j < b.length; j++) {
        if (a[i] !== b[j]) continue;
        now[j] = (j ? before[j - 1] : 0) + 1;
        if (now[j] > size) [size, inA, inB] = [now[j], i - now[j] + 1, j - now[j] + 1];
      }
      before = now;
    }
    if (!size) return 0;
    const left = lettersInCommon(a.slice(0, inA), b.slice(0, inB));
    return size + left + lettersInCommon(a.slice(inA + size), b.slice(inB + size));
  }

  live.text = { Words, closeMatches, ratio };
})();
