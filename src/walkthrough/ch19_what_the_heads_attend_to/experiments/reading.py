"""The record of heads by rows, as the page shows it, and a translation."""

from collections.abc import Iterable, Mapping
from itertools import chain
from typing import Any

import pandas as pd

from transformer.inference.translate import Decoding, translate
from walkthrough.ch19_what_the_heads_attend_to.experiments import measuring
from walkthrough.ch19_what_the_heads_attend_to.experiments.asking import Translator

Record = Mapping[str, Any]
LOOKS = {
    "encoder": "encoder",
    "cross": "decoder, at the source",
    "decoder": "decoder, at what is written",
}
"""Kind of attention → what the page calls its look."""
HEADS = [f"{layer}.{head}" for layer in (1, 2) for head in (1, 2, 3, 4)]


def translation(translator: Translator, text: str) -> str:
    """Return the greedy translation of a sentence.

    Raises:
        ValueError: the sentence is empty, or holds a word that the translator does not know.
    """
    found = translate(translator.model, translator.codec, [text], Decoding(beam=1))
    return found[0][0].text


def looks(runs: pd.DataFrame) -> list[dict[str, Any]]:
    """Return how often each head, and the best distance, finds the answer: by word, look, seed."""
    trained = runs[runs["arm"] == "trained"]
    return [
        {
            "word": name,
            "look": LOOKS[kind],
            "seed": seed,
            "values": [*chain(*found[kind]["shares"]), found["offset_share"]],
            "best": best_head(found[kind]),
        }
        for seed, extra in zip(trained["seed"], trained["extra"], strict=True)
        for kind in LOOKS
        for name, found in extra["relations"].items()
    ]


def best_head(found: Record) -> float:
    """Return how often the head finds answers that found most of them in other sentences."""
    layer, head = found["best"]
    return float(found["shares"][layer][head])


def right(runs: pd.DataFrame, name: str) -> pd.DataFrame:
    """Return the share of right words of a relation: a row a seed, a column an arm."""
    figure = f"{measuring.SPLITS[name]}/forced/accuracy"
    asked = runs[runs["arm"].isin(measuring.CLOSED)]
    return asked.pivot(index="seed", columns="arm", values=figure)


def closings(runs: pd.DataFrame, arms: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return the shares of right words under these arms, by word and seed."""
    return [
        {"word": name, "seed": seed, "values": [row[arm] for arm in arms.values()]}
        for name in measuring.SPLITS
        for seed, row in right(runs, name).iterrows()
    ]


def sets(runs: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the shares of *makes* that are right while the look is closed in each set of heads."""
    trained = runs[runs["arm"] == "trained"]
    names = {
        "encoder": "the encoder",
        "cross": "the decoder",
        "encoder, cross closed": "the encoder, the decoder's closed",
    }
    return [
        {"look": name, "seed": seed, "shares": extra["sets"][key]}
        for key, name in names.items()
        for seed, extra in zip(trained["seed"], trained["extra"], strict=True)
    ]


def smallest_sets(shares: list[float], below: float = 0.5) -> list[list[str]]:
    """Return the smallest sets of heads without which fewer than `below` are right; [] for none."""
    found = [
        [head for bit, head in enumerate(HEADS) if number >> bit & 1]
        for number, share in enumerate(shares)
        if share < below
    ]
    least = min(map(len, found), default=0)
    return [heads for heads in found if len(heads) == least]


def span(values: list[float]) -> str:
    """Return the smallest and the largest of several seeds, as `0.79–0.85`."""
    low, high = f"{min(values):.2f}", f"{max(values):.2f}"
    return low if low == high else f"{low}–{high}"


CAPTION_KINDS = {"encoder": "encoder", "decoder": "decoder", "cross": "encoder–decoder"}


def caption_rows(runs: Iterable[Record]) -> list[dict[str, Any]]:
    """Return, layer by layer, the points that next words lose with fewer heads, over all seeds.

    "one out" and "one left" hold a number for each head of each seed, "none left" one for each
    seed. Below 0 is a gain.
    """
    words = [run["next_word"] for run in runs]
    fewer = {"one out": "one", "one left": "all but one", "none left": "layer"}
    return [
        {"layer": f"{name} {layer + 1}"}
        | {
            said: [lost for run in words for lost in _lost(run, measured, kind, layer)]
            for said, measured in fewer.items()
        }
        for kind, name in CAPTION_KINDS.items()
        for layer in range(len(words[0]["layer"][kind]))
    ]


def _lost(run: Record, fewer: str, kind: str, layer: int) -> list[float]:
    scores = run[fewer][kind][layer]
    each = scores if isinstance(scores, list) else [scores]
    return [100 * (run["nothing"] - score) for score in each]
