"""What heads look at: how often the largest weight lies on the answer, and how often by chance."""

from collections import Counter
from collections.abc import Sequence

import torch
from jaxtyping import Float
from torch import Tensor

from phrasebook.questions import Question
from walkthrough.ch19_what_the_heads_attend_to.experiments.asking import Translator


@torch.no_grad()
def looks(
    translator: Translator, asked: Sequence[Question], kind: str = "encoder"
) -> Float[Tensor, "layers heads questions"]:
    """Return 1 where a head's largest weight lies on the answer, else 0, for every question.

    In the encoder that is the row of the word that is asked about; in the decoder the row that
    *predicts* its translation, and in its self-attention the answer's translation, if that is
    written. Start and end token count as places to look at.
    """
    batch = translator.batch([(question.source, question.target) for question in asked])
    weights = getattr(translator.model.attention(batch.source, batch.target_in), kind)
    found = torch.zeros(*weights.shape[:1], weights.shape[2], len(asked))
    for number, question in enumerate(asked):
        row = question.query if kind == "encoder" else question.predicted
        # the decoder reads the start token first: word j stands at place j + 1
        keys = [j + 1 for j in question.written] if kind == "decoder" else question.answers
        places = weights[:, number, :, row].argmax(-1)  # layers, heads
        found[:, :, number] = torch.isin(places, torch.tensor(keys)).float()
    return found


def offset_share(asked: Sequence[Question], offset: int) -> float:
    """Return how often the answer stands at this distance from the word that is asked about."""
    return sum(question.query + offset in question.answers for question in asked) / len(asked)


def best_offset(asked: Sequence[Question]) -> int:
    """Return the distance at which the answer stands most often."""
    distances = Counter(
        answer - question.query for question in asked for answer in question.answers
    )
    return max(distances, key=lambda offset: (distances[offset], -abs(offset)))


def best_head(shares: Float[Tensor, "layers heads"]) -> tuple[int, int]:
    """Return layer and head of the largest share, from 0."""
    layer, head = divmod(int(shares.argmax()), shares.shape[1])
    return layer, head
