"""Check of an exercise on alignment: the row that predicts a word tells its source (Figs. 3–5)."""

import torch
from torch import Tensor

from walkthrough.checking import Arguments, Case, Check, Mistake, arguments


def _predicted_sources(weights: Tensor, n_source: int, n_target: int) -> list[int]:
    return [int(place) for place in weights[:n_target, :n_source].argmax(dim=-1)]


def _row_that_reads(weights: Tensor, n_source: int, n_target: int) -> list[int]:
    return [int(place) for place in weights[1 : n_target + 1, :n_source].argmax(dim=-1)]


def _end_allowed(weights: Tensor, n_source: int, n_target: int) -> list[int]:
    return [int(place) for place in weights[:n_target].argmax(dim=-1)]


def _over_the_rows(weights: Tensor, n_source: int, n_target: int) -> list[int]:
    return [int(place) for place in weights[:n_target, :n_source].argmax(dim=0)]


def _end_first(weights: Tensor, n_source: int, n_target: int) -> list[int]:
    return [int(place) for place in weights[:n_target, 1 : n_source + 1].argmax(dim=-1)]


def _weights_case(label: str, n_source: int, n_target: int, padding: int = 0) -> Case:
    """Weights as the decoder gives them: a row for `bos` and each word, a column for `eos`."""

    def make(generator: torch.Generator) -> Arguments:
        scores = 2 * torch.randn(n_target + 1, n_source + 1 + padding, generator=generator)
        scores[:, n_source] += 3  # many heads rest on the end token
        scores[:, n_source + 1 :] = float("-inf")
        return arguments(scores.softmax(-1), n_source, n_target)

    return Case(label, make)


predicted_sources = Check(
    name="the source word of each target word",
    reference=_predicted_sources,
    cases=[
        _weights_case("six source and five target words", n_source=6, n_target=5),
        _weights_case("a padded source", n_source=4, n_target=7, padding=3),
        _weights_case("as many words on both sides", n_source=5, n_target=5),
    ],
    mistakes=[
        Mistake(
            "the row that reads the word",
            _row_that_reads,
            "you read one row too low. Row t + 1 has word t as its input; it predicts the next "
            "word and looks at that word's source. Word t is predicted by row t.",
        ),
        Mistake(
            "the end token allowed",
            _end_allowed,
            "some words are linked to the source's end token or to padding: they are no words. "
            "Leave their columns out before you take the maximum.",
        ),
        Mistake(
            "over the wrong axis",
            _over_the_rows,
            "your maximum runs down the columns: for each source word it names a target word. "
            "Rows are target words here; take the maximum along a row.",
        ),
        Mistake(
            "the first source word left out",
            _end_first,
            "you leave out the first source word. Only the decoder's input is shifted: the source "
            "starts with its first word and ends with the end token.",
        ),
    ],
)
