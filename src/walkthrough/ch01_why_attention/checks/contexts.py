"""The check of chapter 01 on the step from Bahdanau's attention to q, k and v (§2, §3.2)."""

from collections.abc import Callable

import torch
from torch import Tensor

from walkthrough.checking.base import Arguments, Check, Mistake, Symptom, drawn


def _contexts(decoder_states: Tensor, encoder_states: Tensor) -> Tensor:
    return (decoder_states @ encoder_states.T).softmax(-1) @ encoder_states


def _weighted(weigh: Callable[[Tensor], Tensor]) -> Callable[[Tensor, Tensor], Tensor]:
    def contexts(decoder_states: Tensor, encoder_states: Tensor) -> Tensor:
        return weigh(decoder_states @ encoder_states.T) @ encoder_states

    return contexts


def _values_from_decoder(decoder_states: Tensor, encoder_states: Tensor) -> Tensor:
    return (decoder_states @ encoder_states.T).softmax(-1) @ decoder_states


def _sides_exchanged(decoder_states: Tensor, encoder_states: Tensor) -> Tensor:
    return (encoder_states @ decoder_states.T).softmax(-1) @ decoder_states


def _all_weights(decoder_states: Tensor, encoder_states: Tensor) -> Tensor:
    return (decoder_states @ encoder_states.T).softmax(-1)


def _scaled(decoder_states: Tensor, encoder_states: Tensor) -> Tensor:
    scores = decoder_states @ encoder_states.T / decoder_states.shape[-1] ** 0.5
    return scores.softmax(-1) @ encoder_states


def _hard(scores: Tensor) -> Tensor:
    return torch.nn.functional.one_hot(scores.argmax(-1), scores.shape[-1]).float()


def _row_per_source_word(result: Tensor, expected: Tensor, given: Arguments) -> bool:
    encoder_states = given.positional[1]
    return result.shape == encoder_states.shape != expected.shape


contexts = Check(
    name="contexts",
    reference=_contexts,
    cases=[
        drawn("4 target words, 4 source words", (4, 3), (4, 3)),
        drawn("3 target words, 5 source words", (3, 4), (5, 4)),
        drawn("one target word, 6 source words", (1, 2), (6, 2)),
    ],
    mistakes=[
        Mistake(
            "scaled",
            _scaled,
            "the scores are divided by √d. That is the Transformer's attention, the next chapter; "
            "here the dot product is used as it is.",
        ),
        Mistake(
            "softmax over the target words",
            _weighted(lambda scores: scores.softmax(0)),
            "softmax runs over the target words: they compete for each source word. For one target "
            "word the weights of all *source* words sum to 1, `dim=-1`.",
        ),
        Mistake(
            "no softmax",
            _weighted(lambda scores: scores),
            "the scores are used as weights. They can be negative and need not sum to 1: softmax "
            "is missing.",
        ),
        Mistake(
            "divided by their sum",
            _weighted(lambda scores: scores / scores.sum(-1, keepdim=True)),
            "the scores are divided by their sum, without the exponential. Negative scores then "
            "give negative weights, and a sum near 0 gives huge ones.",
        ),
        Mistake(
            "only the best word",
            _weighted(_hard),
            "each target word takes the one source word with the largest score. That choice has no "
            "gradient. Take the mixture that softmax gives.",
        ),
        Mistake(
            "sigmoid",
            _weighted(torch.sigmoid),
            "sigmoid looks at each score alone, so the weights of one target word do not sum to 1.",
        ),
        Mistake(
            "plain mean",
            _weighted(lambda scores: torch.full_like(scores, 1 / scores.shape[-1])),
            "every target word gets the mean of all source words, whatever it asks for: the scores "
            "are not used.",
        ),
        Mistake(
            "weights returned",
            _all_weights,
            "these are the weights. The contexts are the weights times the encoder states.",
        ),
        Mistake(
            "values from the decoder",
            _values_from_decoder,
            "the weights are right, but they mix the states of the *decoder*. What is handed over "
            "comes from the encoder.",
        ),
        Mistake(
            "sides exchanged",
            _sides_exchanged,
            "the source words ask and the target words answer. The decoder asks: its states are "
            "the queries, one row of the result for each.",
        ),
    ],
    symptoms=[
        Symptom(
            "one row a source word",
            _row_per_source_word,
            "the result has one row for each *source* word. The decoder asks, so there is one row "
            "for each target word.",
        ),
    ],
)
