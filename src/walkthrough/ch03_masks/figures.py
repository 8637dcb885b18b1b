"""Several boolean maps behind selectors: the masks of a batch, or who moves whom in a model."""

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
from jaxtyping import Bool
from torch import Tensor

from walkthrough.drawing.channels import menu
from walkthrough.drawing.maps import KEYS, QUERIES, check_tokens, key_axis, query_axis
from walkthrough.drawing.mask import CLOSED, OPEN
from walkthrough.drawing.style import (
    NOT_ALLOWED,
    ON_NOT_ALLOWED,
    WEIGHT,
    described,
    step,
    token_labels,
    wrapped,
)


def mask_chooser(
    masks: Mapping[str, Mapping[str, Bool[Tensor, "query_len key_len"]]],
    tokens: Mapping[str, Sequence[str]],
    *,
    title: str = "Choose a mask and a sentence: who may attend to whom?",
    axes: tuple[str, str] = (QUERIES, KEYS),
    labels: tuple[str, str] = ("mask ", "sentence "),
    words: tuple[str, str] = (OPEN, CLOSED),
    description: str | None = None,
) -> alt.LayerChart:
    """Return one square map at a time, chosen by its kind and, of several, its sentence.

    `masks` holds maps by kind and then by sentence, `tokens` the words of each sentence. The last
    kind and the last sentence are shown first. Closed cells are grey and crossed out.

    Raises:
        ValueError: there is no map, a kind lacks a sentence, or a map and its tokens do not fit.
    """
    _check(masks, tokens)
    kinds, sentences = list(masks), list(tokens)
    longest = max(tokens.values(), key=len)
    widest = max((word for row in tokens.values() for word in row), key=len)
    size = step(len(longest), [widest])
    rows = [
        {"kind": kind, "sentence": sentence, "open": masks[kind][sentence].int().tolist()}
        for kind in kinds
        for sentence in sentences
    ]
    chart = (
        alt.LayerChart(layer=_layers(rows, tokens, axes, words))
        .add_params(*_selectors(kinds, sentences, labels))
        .properties(width=alt.Step(size), height=alt.Step(size), title=wrapped(title))
        # sentences have labels of their own: without a new layout, longer ones would be cut off
        .properties(autosize=alt.AutoSizeParams(type="pad", resize=True))
    )
    return described(chart, description or _in_words(title, masks, words))


def _check(masks: Mapping[str, Mapping[str, Tensor]], tokens: Mapping[str, Sequence[str]]) -> None:
    if not masks or not tokens:
        raise ValueError(f"at least one map and one sentence are needed, got {len(masks)} kinds")
    for kind, by_sentence in masks.items():
        if by_sentence.keys() != tokens.keys():
            raise ValueError(
                "every kind of map needs the same sentences as the tokens: "
                f"{kind!r} has {list(by_sentence)}, the tokens are of {list(tokens)}"
            )
        for sentence, mask in by_sentence.items():
            check_tokens(mask.shape, tokens[sentence], tokens[sentence])


def _selectors(
    kinds: list[str], sentences: list[str], labels: tuple[str, str]
) -> list[alt.Parameter]:
    kind = menu("kind", kinds, labels[0], start=kinds[-1])
    sentence = menu("sentence", sentences, labels[1], start=sentences[-1])
    return [kind, sentence] if len(sentences) > 1 else [kind]


def _layers(
    rows: list[dict[str, Any]],
    tokens: Mapping[str, Sequence[str]],
    axes: tuple[str, str],
    words: tuple[str, str],
) -> list[alt.Chart]:
    names = [
        {
            "sentence": sentence,
            "queries": token_labels(row),
            "keys": token_labels(row),
            "rows": list(range(len(row))),
            "columns": list(range(len(row))),
        }
        for sentence, row in tokens.items()
    ]
    wanted = "datum.kind == kind" + (" && datum.sentence == sentence" if len(names) > 1 else "")
    base = (
        alt.Chart(alt.Data(values=rows))
        .transform_filter(wanted)
        .transform_lookup(
            "sentence",
            alt.LookupData(
                alt.Data(values=names), "sentence", ["queries", "keys", "rows", "columns"]
            ),
        )
        .transform_flatten(["open", "queries", "rows"], as_=["open", "query", "row"])
        .transform_flatten(["open", "keys", "columns"], as_=["open", "key", "column"])
        .transform_calculate(state=f"datum.open ? {words[0]!r} : {words[1]!r}")
        .encode(key_axis(axes[1]), query_axis(axes[0]))
    )
    scale = alt.Scale(domain=list(words), range=[WEIGHT, NOT_ALLOWED])
    tooltip = [
        alt.Tooltip("query:N", title="row"),
        alt.Tooltip("key:N", title="column"),
        alt.Tooltip("state:N", title="here"),
    ]
    cells = base.mark_rect(stroke="white", strokeWidth=1).encode(
        alt.Color("state:N", scale=scale, legend=alt.Legend(title=None, columns=1)),
        tooltip=tooltip,
    )
    crosses = (
        base.transform_filter("datum.open == 0")
        .mark_point(shape="cross", angle=45, size=60, filled=True, opacity=1)
        .encode(color=alt.value(ON_NOT_ALLOWED), tooltip=tooltip)
    )
    return [cells, crosses]


def _in_words(title: str, masks: Mapping[str, Mapping[str, Tensor]], words: tuple[str, str]) -> str:
    counts = "; ".join(
        f"{kind}, {sentence}: {int(mask.sum())} of {mask.numel()} cells"
        for kind, by_sentence in masks.items()
        for sentence, mask in by_sentence.items()
    )
    return f"{title}. Grid of cells, one map at a time. Cells marked “{words[0]}”: {counts}."
