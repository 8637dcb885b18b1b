"""Sentences to translations: this package, HuggingFace's Marian and CTranslate2, same weights.

Marian and CTranslate2 get what `python -m transformer export` writes; CTranslate2 also computes
with weights of 8 bits. All get the same sentences in the same batches, longest together; α is 0,
since each has a length penalty of its own. The small model is the book's translator of the
phrasebook. The larger has random weights, 8 000 words, and writes 24 tokens a sentence. A ratio is
their median over ours of runs that take turns. Left out, with a line, is what is not installed.

JoeyNMT (2.3.0) cannot be a column: its layer norms add 1e-6 to the variance, without a setting,
where ours add 1e-5, so that the same weights are another model; and its search keeps no keys and
values, so that each step computes the whole sentence again.

    python benchmarks/translate_stream.py [--threads 1] [--rounds 3] [--lines 200]
"""

import argparse
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch
from peers import clock_for, compare

from phrasebook.codec import PhrasebookCodec
from phrasebook.corpus import phrasebook_corpus
from transformer import Transformer, Translator
from transformer.config import BOS_ID, EOS_ID, PAD_ID
from transformer.data.codec import TextCodec
from transformer.data.vocabulary import Vocabulary
from transformer.engines import CTranslate2
from transformer.marian import export_marian

RESULTS = Path(__file__).parent.parent / "results"
PEERS = {"Marian": "transformers", "CTranslate2": "ctranslate2"}
INT8 = "CTranslate2, int8"


def small() -> tuple[Translator, int]:
    """The book's translator; no sentence of the phrasebook comes near 60 tokens."""
    return Translator.load(RESULTS / "phrasebook-translator.safetensors"), 60


def larger(words: int = 8000) -> tuple[Translator, int]:
    """Random weights: it writes to the limit."""
    trained = small()[0]
    tokens = trained.codec.vocabulary.to_list()  # type: ignore[attr-defined]
    tokens += [f"x{number}" for number in range(len(tokens), words)]
    torch.manual_seed(0)
    config = trained.model.config.replace(
        vocab_size=words, d_model=256, n_heads=4, d_k=64, d_v=64, n_layers=3, d_ff=1024
    )
    return Translator(Transformer(config).eval(), PhrasebookCodec(Vocabulary(tokens))), 25


class Marian:
    """Marian's own search over the files that `export_marian` writes."""

    def __init__(self, translator: Translator) -> None:
        from transformers import MarianMTModel

        with TemporaryDirectory() as folder:
            export_marian(translator.model, translator.codec, folder)
            self.model = MarianMTModel.from_pretrained(folder)
        self.model.generation_config.max_length = None  # each call says its own, else it is warned

    @torch.no_grad()
    def translate(
        self, codec: TextCodec, lines: list[str], *, beam: int, batch: int, max_len: int
    ) -> list[str]:
        """Translate in batches of that many, longest together."""
        sources = [torch.tensor([*codec.encode(line), EOS_ID]) for line in lines]
        order = sorted(range(len(sources)), key=lambda index: len(sources[index]))
        found = [""] * len(lines)
        for start in range(0, len(order), batch):
            indices = order[start : start + batch]
            rows = [sources[index] for index in indices]
            source = torch.nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=PAD_ID)
            output = self.model.generate(
                input_ids=source,
                attention_mask=(source != PAD_ID).long(),
                num_beams=beam,
                do_sample=False,
                **({"length_penalty": 0.0, "early_stopping": False} if beam > 1 else {}),
                max_new_tokens=max_len - 1,  # ours counts the end token
            )
            for index, ids in zip(indices, output.tolist(), strict=True):
                found[index] = codec.decode([i for i in ids if i not in (PAD_ID, BOS_ID, EOS_ID)])
        return found


def contenders(
    translator: Translator, max_len: int
) -> dict[str, Callable[[list[str], int, int], list[str]]]:
    """Return a function of lines, beam and batch for everybody who is installed; ours first."""

    def through(one: Translator) -> Callable[[list[str], int, int], list[str]]:
        return lambda lines, beam, batch: one.translate(
            lines, beam=beam, alpha=0.0, max_len=max_len, batch_sentences=batch, batch_tokens=10**6
        )

    found = {"this package": through(translator)}
    if find_spec(PEERS["Marian"]):
        peer = Marian(translator)
        found["Marian"] = lambda lines, beam, batch: peer.translate(
            translator.codec, lines, beam=beam, batch=batch, max_len=max_len
        )
    if find_spec(PEERS["CTranslate2"]):
        model, codec = translator.model, translator.codec
        for name, kind in (("CTranslate2", "float32"), (INT8, "int8")):
            search = CTranslate2(model, codec, compute_type=kind)
            found[name] = through(Translator(model, codec, search=search))
    return found


def rows_of(args: argparse.Namespace, size: str, made: tuple[Translator, int]) -> Iterator[Any]:
    """Yield what a row of the table says: case, our milliseconds, ratios, shares of equal lines."""
    translator, max_len = made
    sentences = list(phrasebook_corpus("test_sentences").source[: args.lines])
    everybody = contenders(translator, max_len)
    for beam in (1, 4):
        for batch in (1, 100):
            lines = sentences[: args.alone_lines] if batch == 1 else sentences
            runs = {
                name: lambda run=run, lines=lines, beam=beam, batch=batch: run(lines, beam, batch)
                for name, run in everybody.items()
            }
            outputs = {name: run() for name, run in runs.items()}
            ours = outputs.pop("this package")
            same = {
                name: sum(map(str.__eq__, ours, theirs)) / len(lines)
                for name, theirs in outputs.items()
            }
            seconds = compare(runs, rounds=args.rounds, clock=clock_for(args.threads))
            own = seconds.pop("this package")
            case = f"{size}, {'greedy' if beam == 1 else f'beam {beam}'}, batch {batch}"
            ratios = {name: value / own for name, value in seconds.items()}
            yield case, 1000 * own / len(lines), ratios, same


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--lines", type=int, default=200, help="of batches of 100")
    parser.add_argument("--alone-lines", type=int, default=20, help="of batches of 1")
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    for name, package in PEERS.items():
        if find_spec(package) is None:
            print(f"{name} is not installed and left out: pip install {package}")
    lowest: dict[str, float] = {}
    for size, made in (("2 layers of 128", small()), ("3 layers of 256", larger())):
        for case, own, ratios, same in rows_of(args, size, made):
            if not lowest:
                columns = ["", "this package", *ratios, *(f"equal to {name}" for name in same)]
                print(f"\n| {' | '.join(columns)} |\n|{'---|' * len(columns)}")
            cells = [case, f"{own:.1f} ms", *(f"{ratio:.2f}" for ratio in ratios.values())]
            cells += [f"{100 * share:.0f} %" for share in same.values()]
            print(f"| {' | '.join(cells)} |", flush=True)
            for name, ratio in ratios.items():
                lowest[name] = min(ratio, lowest.get(name, ratio))
    for name, ratio in lowest.items():
        print(f"ratio {name} / this package, at least: {ratio:.2f}")


if __name__ == "__main__":
    main()
