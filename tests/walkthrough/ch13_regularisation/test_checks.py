"""The checks of chapter 13 accept right answers and name every mistake they list."""

import pytest
import torch
import torch.nn.functional as F
from soundness import assert_check_is_sound

from walkthrough.ch13_regularisation import checks

ALL = [checks.drop, checks.where, checks.smoothed_loss]


@pytest.mark.parametrize("check", ALL, ids=lambda check: check.name)
def test_check_rejects_and_names_each_mistake(check):
    assert_check_is_sound(check)


def test_pytorchs_loss_is_the_one_asked_for_and_not_accepted():
    def loss(logits, target, smoothing, pad_id):
        return F.cross_entropy(logits, target, ignore_index=pad_id, label_smoothing=smoothing)

    verdict = checks.smoothed_loss(loss)
    assert verdict.mistake == "forbidden"
    assert "the result is right, but your function calls `cross_entropy`" in verdict.message


def test_other_right_ways_are_accepted():
    def loss(logits, target, smoothing, pad_id):
        real = target != pad_id
        log_p = logits[real] - logits[real].logsumexp(dim=1, keepdim=True)
        wanted = torch.full_like(log_p, smoothing / log_p.shape[1])
        wanted[range(len(log_p)), target[real]] += 1 - smoothing
        return -(wanted * log_p).sum() / real.sum()

    def where(connection):
        seen = []

        def drop(y):
            seen.append(float(y))
            return y

        connection(torch.tensor(1.0), lambda y: 10 * y, drop, lambda y: y + 100)
        if not seen:
            return "nowhere"
        named = {10: "branch", 11: "sum", 111: "result"}
        if seen[0] in named:
            return named[seen[0]]
        out = connection(torch.tensor(1.0), lambda y: 10 * y, lambda y: 2 * y, lambda y: y)
        return "stream" if out == 12 else "input"

    def drop(x, keep, p, training):
        return torch.where(keep, x / (1 - p), 0.0) if training else x

    assert checks.smoothed_loss(loss).status == "right"
    assert checks.drop(drop).status == "right"
    assert checks.where(where).status == "right"


def test_the_loss_of_older_implementations_is_named():
    """`KLDivLoss`, as many repositories have it: the gradient is right, the number is not."""

    def loss(logits, target, smoothing, pad_id):
        logits, target = logits[target != pad_id], target[target != pad_id]
        vocab_size = logits.shape[-1]
        wanted = (1 - smoothing) * F.one_hot(target, vocab_size) + smoothing / vocab_size
        return F.kl_div(logits.log_softmax(-1), wanted, reduction="batchmean")

    assert checks.smoothed_loss(loss).mistake == "divergence"


def test_a_place_found_by_chance_is_not_found():
    def where(connection):
        given = torch.ones(1), lambda y: 10 * y + 5, torch.nn.Dropout(0.5), lambda y: y + 100
        found = {100.0: "sum", 115.0: "stream", 101.0: "branch", 106.0: "input", 0.0: "result"}
        return found.get(float(connection(*given)), "nowhere")

    assert "wrong for connection" in checks.where(where).message


@pytest.mark.parametrize(
    ("check", "answer", "said"),
    [
        (checks.drop, lambda x, k, p, training: x if training else x * k / (1 - p), "other way"),
        (checks.smoothed_loss, lambda *given: loss_of(*given, mean=torch.sum), "this is the sum"),
        (
            checks.smoothed_loss,
            lambda logits, target, e, pad: loss_of(logits, target, 1 - e, pad),
            "weights are exchanged",
        ),
    ],
)
def test_common_slips_are_named(check, answer, said):
    assert said in check(answer).message


def loss_of(logits, target, smoothing, pad_id, mean=torch.mean):
    log_p = logits.log_softmax(-1)
    gold = log_p[range(len(target)), target]
    each = (1 - smoothing) * gold + smoothing * log_p.mean(-1)
    return -mean(each[target != pad_id])
