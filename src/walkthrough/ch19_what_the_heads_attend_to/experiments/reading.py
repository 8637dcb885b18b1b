"""What a page asks of a translator: a translation, all its weights, and the record by rows."""

from collections.abc import Iterable, Iterator, Mapping
from statistics import mean
from typing import Any

import pandas as pd

from transformer.data.phrasebook import tokenize
from transformer.inference.translate import Decoding, translate
from transformer.model import AttentionMaps
from walkthrough.ch19_what_the_heads_attend_to.experiments.asking import Translator

Record = Mapping[str, Any]

HIDDEN = {
    "nothing": "right",
    "a neighbour": "neighbour",
    "edge": "edge",
    "cross": "cross",
    "decoder": "decoder",
    "edge and cross": "edge and cross",
    "all three": "all three",
}
"""What is hidden, as the page calls it → its name in the record."""


def translation(translator: Translator, text: str) -> str:
    """Return the greedy translation of a sentence.

    Raises:
        ValueError: the sentence is empty, or holds a word that the translator does not know.
    """
    found = translate(translator.model, translator.codec, [text], Decoding(beam=1))
    return found[0][0].text


def all_weights(translator: Translator, text: str) -> tuple[list[str], list[str], AttentionMaps]:
    """Return the words of a sentence, those of its translation, and all weights between them.

    Raises:
        ValueError: as `translation`.
    """
    source = tokenize(text, translator.codec.source_language)
    target = tokenize(translation(translator, text), translator.codec.target_language)
    return source, target, translator.maps(source, target)


def each_relation(runs: pd.DataFrame) -> Iterator[tuple[int, str, Record]]:
    """Yield seed, name of the relation, and what was measured of it, relation by relation."""
    for name in dict.fromkeys(name for extra in runs["extra"] for name in extra["relations"]):
        for seed, extra in zip(runs["seed"], runs["extra"], strict=True):
            if name in extra["relations"]:
                yield seed, name, extra["relations"][name]


def looks_rows(runs: pd.DataFrame, kind: str = "encoder") -> list[dict[str, Any]]:
    """Return, for each relation and seed, the share of its best head and of the best distance."""
    rows = []
    for seed, name, found in each_relation(runs):
        layer, head = found[kind]["best"]
        rows.append(
            {
                "relation": name,
                "seed": seed,
                "head": found[kind]["shares"][layer][head],
                "which": f"{layer + 1}.{head + 1}",
                "offset": found["offset_share"],
            }
        )
    return rows


def hidden_rows(runs: pd.DataFrame) -> list[dict[str, Any]]:
    """Return how often the right word is ahead, for each relation, seed and thing hidden."""
    return [
        {
            "relation": name,
            "seed": seed,
            "hidden": label,
            "right": found["right"] if key == "right" else found["hidden"][key],
        }
        for seed, name, found in each_relation(runs)
        for label, key in HIDDEN.items()
    ]


def ablation_rows(runs: pd.DataFrame) -> list[dict[str, Any]]:
    """Return, for each relation and seed, the share of right words with fewer heads.

    "without encoder" and "without cross": without the one head of that kind that costs most.
    "one encoder" and "one cross": the mean over the heads of a layer, each alone in it, in the
    layer that suffers more.
    """
    rows = []
    for seed, name, found in each_relation(runs):
        row = {"relation": name, "seed": seed, "whole": found["right"]}
        for kind in ("encoder", "cross"):
            row[f"without {kind}"] = min(map(min, found["without"]["one"][kind]))
            row[f"one {kind}"] = min(map(mean, found["without"]["all but one"][kind]))
        rows.append(row)
    return rows


def roles(runs: pd.DataFrame) -> dict[str, dict[str, float]]:
    """Return, for each relation, the share of every encoder head of every seed."""
    found: dict[str, dict[str, float]] = {}
    for seed, name, measured in each_relation(runs):
        for layer, heads in enumerate(measured["encoder"]["shares"]):
            for head, share in enumerate(heads):
                found.setdefault(name, {})[f"seed {seed}, {layer + 1}.{head + 1}"] = share
    return found


LANGUAGES = {"en": "English", "fr": "French"}


def tree_rows(runs: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the F1 of the trees of every run, and of the trees that look at nothing."""
    rows = []
    for source, extra in zip(runs["source"], runs["extra"], strict=True):
        scores = extra["trees"]
        made = {
            "best trained head": _of_best(scores["trained"]),
            "best untrained head": _of_best(scores["untrained"]),
            **{name: scores[name] for name in ("right-branching", "left-branching", "random")},
        }
        language = LANGUAGES[source]
        rows += [{"language": language, "of": name, "f1": f1} for name, f1 in made.items()]
    return rows


def _of_best(scores: Record) -> float:
    layer, head = scores["best"]
    return float(scores["f1"][layer][head])


def span(values: list[float]) -> str:
    """Return the smallest and the largest of several seeds, as `0.79–0.85`."""
    low, high = f"{min(values):.2f}", f"{max(values):.2f}"
    return low if low == high else f"{low}–{high}"


CAPTION_KINDS = {"encoder": "encoder", "decoder": "decoder", "cross": "encoder–decoder"}


def caption_rows(runs: Iterable[Record]) -> list[dict[str, Any]]:
    """Return, layer by layer, the points that next words lose with fewer heads, over all seeds.

    "one out" and "one left" hold a number for each head of each seed, "none left" one for each
    seed. The last row of a kind is without any head in all layers. Below 0 is a gain.
    """
    words, rows = [run["next_word"] for run in runs], []
    for kind, name in CAPTION_KINDS.items():
        for layer in range(len(words[0]["layer"][kind])):
            rows.append(
                {
                    "layer": f"{name} {layer + 1}",
                    "one out": [lost for run in words for lost in _lost(run, "one", kind, layer)],
                    "one left": [
                        lost for run in words for lost in _lost(run, "all but one", kind, layer)
                    ],
                    "none left": [
                        lost for run in words for lost in _lost(run, "layer", kind, layer)
                    ],
                }
            )
        every = [lost for run in words for lost in _lost(run, "kind", kind)]
        rows.append({"layer": f"{name}, all", "one out": [], "one left": [], "none left": every})
    return rows


def _lost(run: Record, fewer: str, kind: str, layer: int | None = None) -> list[float]:
    scores = run[fewer][kind] if layer is None else run[fewer][kind][layer]
    each = scores if isinstance(scores, list) else [scores]
    return [100 * (run["nothing"] - score) for score in each]


def points(lost: list[float]) -> str:
    """Return the smallest and the largest number of points, as `−0.2 to 0.9`; "" for none."""
    if not lost:
        return ""
    low, high = (f"{value:z.1f}".replace("-", "−") for value in (min(lost), max(lost)))
    return low if low == high else f"{low} to {high}"


def steadiest(runs: Iterable[Record]) -> list[tuple[str, int, float]]:
    """Return, seed by seed, which encoder head keeps its distance most, the distance, how often."""
    found = []
    for run in runs:
        shares, offsets = run["steady"]["shares"], run["steady"]["offsets"]
        places = [(layer, head) for layer, row in enumerate(shares) for head in range(len(row))]
        layer, head = max(places, key=lambda place: shares[place[0]][place[1]])
        found.append((f"{layer + 1}.{head + 1}", offsets[layer][head], shares[layer][head]))
    return found
