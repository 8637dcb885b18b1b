"""What a page warns of is recognised in its own exercises, by name, and the verdict leads there."""

import json
import math
import re
from pathlib import Path

import pytest
import torch

from walkthrough.ch01_why_attention import checks as ch01
from walkthrough.ch02_scaled_dot_product_attention import checks as ch02
from walkthrough.ch03_masks import checks as ch03
from walkthrough.ch04_multi_head_attention import checks as ch04
from walkthrough.ch05_feed_forward import checks as ch05
from walkthrough.ch06_embeddings_and_softmax import checks as ch06
from walkthrough.ch07_positional_encoding import checks as ch07
from walkthrough.ch08_residuals_and_layer_norm import checks as ch08
from walkthrough.ch09_encoder_and_decoder import checks as ch09
from walkthrough.ch09_encoder_and_decoder.checks.broken import WARNED
from walkthrough.ch10_why_self_attention import checks as ch10
from walkthrough.ch11_subwords_and_batches import checks as ch11
from walkthrough.ch12_optimiser_and_schedule import checks as ch12
from walkthrough.checking import Case, Check, Mistake, arguments
from walkthrough.checking.verdict import Verdict

BOOK = Path(__file__).parents[3] / "book"
ROOMS = dict(enumerate((ch01, ch02, ch03, ch04, ch05, ch06, ch07, ch08, ch09, ch10, ch11, ch12), 1))
CHECKS = {  # those with mistakes; `faults` and `sparse_mask` ask experiments
    chapter: [one for one in vars(room).values() if isinstance(one, Check)]
    for chapter, room in ROOMS.items()
}
CANNOT_OCCUR = {
    "The last state of a padded sentence": "no exercise of 01 has a batch",
    "Dividing by √d_model": "no exercise of 02 is given d_model; 04 names it",
    "The ReLU in the wrong place": "05 hands a network over, and asks for its weights",
    "Words taken for channels": "no exercise of 05 has a convolution of the reader's",
    "Another start": "no exercise of 06 makes a matrix",
    "A tie that loading undoes": "no exercise of 06 loads one",
    "O(1) steps, and still one word after another": "no exercise of 10 is about writing",
    "Padding with the end token": "no exercise of 11 has a loss",
    "A warm-up longer than the run": "the check of 12 chooses the warm-up",
}


def headings(chapter):
    """The headings of a page, and those under “What goes wrong”."""
    (path,) = BOOK.glob(f"{chapter:02}-*.ipynb")
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    text = "\n".join("".join(c["source"]) for c in cells if c["cell_type"] == "markdown")
    wrong = text.partition("\n## What goes wrong\n")[2].partition("\n## ")[0]
    return set(re.findall(r"^#+ (.+)$", text, re.M)), set(re.findall(r"^### (.+)$", wrong, re.M))


def named(chapter):
    """Headings that the verdicts of a chapter lead to."""
    found = {
        one.where
        for check in CHECKS[chapter]
        for one in (*check.mistakes, *check.symptoms, *check.cases)
        if one.where
    }
    return found | (set(WARNED.values()) if chapter == 9 else set())


@pytest.mark.parametrize("chapter", ROOMS)
def test_every_warning_is_recognised_and_every_verdict_leads_somewhere(chapter):
    every, warnings = headings(chapter)
    assert warnings
    assert named(chapter) <= every
    assert warnings - set(CANNOT_OCCUR) <= named(chapter)


def test_what_cannot_occur_stands_on_a_page_and_no_verdict_leads_there():
    warnings = set().union(*(headings(chapter)[1] for chapter in ROOMS))
    assert set(CANNOT_OCCUR) <= warnings
    assert not set(CANNOT_OCCUR) & set().union(*map(named, ROOMS))


def softmax_over_columns(scores):
    powers = (scores - scores.max(dim=0).values).exp()
    return powers / powers.sum(dim=0)


def from_the_second_state(w, states):
    return math.prod(w * (1 - h**2) for h in states[1:])


def masked_over(dim):
    def attend(query, key, value, attend_mask):
        scores = query @ key.mT / math.sqrt(query.shape[-1])
        return scores.masked_fill(~attend_mask, -math.inf).softmax(dim) @ value

    return attend


def multi(keys="key", values="value", *, matrices="w_k", size=lambda q: q.shape[-1], mean=False):
    def multi_head(query, key, value, w_q, w_k, w_v, w_o):
        given = {"query": query, "key": key, "value": value, "w_q": w_q, "w_k": w_k}
        q, k, v = query @ w_q, given[keys] @ given[matrices], given[values] @ w_v
        w = (q @ k.mT / math.sqrt(size(q))).softmax(-1)
        w = w.mean(0) if mean else w
        return (w @ v).transpose(0, 1).flatten(1) @ w_o

    return multi_head


def encode(length, d_model, base=10000.0):
    angles = torch.arange(length)[:, None] / base ** (torch.arange(0, d_model, 2) / d_model)
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)


def turned(x, base=10000.0):
    sines, cosines = (encode(*x.shape, base)[:, n::2] for n in (0, 1))
    a, b = x[:, 0::2], x[:, 1::2]
    return torch.stack([a * cosines - b * sines, a * sines + b * cosines], dim=-1).flatten(1)


def rotate(k, d_model, base=10000.0):
    angles = [torch.tensor(k / base ** (i / d_model)) for i in range(0, d_model, 2)]
    blocks = [torch.stack([a.cos(), a.sin(), -a.sin(), a.cos()]).view(2, 2) for a in angles]
    return torch.block_diag(*blocks)


def as_on_the_page(x, gain, bias, eps):  # the page's `normalise`, which has neither
    centred = x - x.mean(dim=-1, keepdim=True)
    return centred / (x.var(dim=-1, correction=0, keepdim=True) + eps).sqrt()


def copied(x, gain, bias, eps):
    return gain * (x - x.mean(-1, keepdim=True)) / (x.std(-1, keepdim=True) + eps) + bias


def reads_what_came_in(z, memory, look_back, look_across, feed, norms):
    first = norms[0](z)
    z_1 = z + look_back(first, first)
    z_2 = z_1 + look_across(norms[1](z), memory)
    return z_2 + feed(norms[2](z))


def reaches_k(n, k, dilated):
    n_layers, seen = 0, 1
    while seen < n:
        seen += k * (k**n_layers if dilated else 1)
        n_layers += 1
    return n_layers


def adamw(decayed):
    def step(w, g, m, v, t, rate, decay):
        m, v = 0.9 * m + 0.1 * g, 0.98 * v + 0.02 * g**2
        towards = m / (1 - 0.9**t) / ((v / (1 - 0.98**t)).sqrt() + 1e-9)
        return w - rate * towards - decayed(w, rate, decay), m, v

    return step


def at_batch(update, times=1.0):
    def rate(batch, accumulate, d_model, warmup):
        t = update(batch, accumulate)
        return times * d_model**-0.5 * min(t**-0.5, t * warmup**-1.5)

    return rate


def from_the_right(word, merges):
    parts = list(word)
    for pair in merges:
        for at in reversed(range(len(parts) - 1)):
            if tuple(parts[at : at + 2]) == pair:
                parts[at : at + 2] = ["".join(pair)]
    return parts


def one_address(model):
    return model.embedding.weight.data_ptr() == model.head.weight.data_ptr()


SLIPS = [
    (ch01.gradient_to_start, from_the_second_state, "a step left out"),
    (ch02.stable_softmax, softmax_over_columns, "over the queries"),
    (ch02.stable_softmax, lambda s: ch02.stable_softmax.reference(s.mT).mT, "over the queries"),
    (ch02.masked_attention, masked_over(0), "softmax over sentences"),
    (ch02.masked_attention, masked_over(1), "softmax over queries"),
    (ch03.decoding_mask, lambda q, k: torch.ones(q, k).triu(k - q + 1).bool(), "inverted"),
    (ch04.multi_head, multi(values="query"), "values from the queries"),
    (ch04.multi_head, multi(values="key"), "values from the keys"),
    (ch04.multi_head, multi(keys="value"), "keys from the values"),
    (ch04.multi_head, multi(matrices="w_q"), "the queries' matrices for the keys"),
    (ch04.multi_head, multi(mean=True), "one map for all heads"),
    (ch04.multi_head, multi(size=lambda q: len(q) * q.shape[-1]), "divides by √(h · d_k)"),
    (ch04.multi_head, multi(size=lambda q: q.shape[-1] ** 2), "divides by d_k without the root"),
    (ch05.feed_forward_share, lambda d, d_ff, n: 4 * d / (6 * d + n), "d_ff of the paper"),
    (ch06.is_tied, one_address, "compares addresses"),
    (
        ch06.without_layers,
        lambda tokens, w: (w[tokens] / math.sqrt(w.shape[1]) @ w.T).softmax(-1),
        "divided as in attention",
    ),
    (ch07.encoding, lambda length, d: encode(length, d, 1000.0), "base 1000"),
    (ch07.rotation, lambda k, d: rotate(k, d, 1000.0), "base 1000"),
    (
        ch07.rotary_scores,
        lambda q, k: turned(q, 1000.0) @ turned(k, 1000.0).T / math.sqrt(q.shape[1]),
        "base 1000",
    ),
    (ch08.layer_norm, as_on_the_page, "gain or bias forgotten"),
    (ch08.layer_norm, copied, "the common wrong one"),
    (
        ch08.share_left,
        lambda b, n, norm: 1 / (1 + n * b) if norm == "post" else (1 + b) ** -n,
        "post and pre exchanged",
    ),
    (ch09.decoder_layer, reads_what_came_in, "a result that nobody reads"),
    (ch10.layers_needed, reaches_k, "k positions a layer"),
    (ch11.spell, from_the_right, "from the right"),
    (ch12.rate_of_batch, at_batch(lambda batch, _: batch), "per batch"),
    (
        ch12.rate_of_batch,
        at_batch(lambda batch, n: math.ceil(batch / n), 0.001),
        "times Adam's own rate",
    ),
    (ch12.adamw_step, adamw(lambda w, rate, decay: 0.0), "another decay"),
    (ch12.adamw_step, adamw(lambda w, rate, decay: rate * decay), "another decay"),
    (ch12.adamw_step, adamw(lambda w, rate, decay: -rate * decay * w), "another decay"),
]


@pytest.mark.parametrize(("check", "slip", "name"), SLIPS, ids=[name for *_, name in SLIPS])
def test_a_likely_slip_is_named(check, slip, name):
    assert check(slip).mistake == name


def test_a_right_answer_in_the_form_of_the_slips_is_right():
    assert ch04.multi_head(multi())
    assert ch07.encoding(encode)
    assert ch07.rotation(rotate)
    assert ch07.rotary_scores(lambda q, k: turned(q) @ turned(k).T / math.sqrt(q.shape[1]))
    assert ch12.rate_of_batch(at_batch(lambda batch, n: math.ceil(batch / n)))
    assert ch12.adamw_step(adamw(lambda w, rate, decay: rate * decay * w))


@pytest.mark.parametrize(
    "check", [one for room in CHECKS.values() for one in room], ids=lambda check: check.name
)
def test_variants_are_named_as_the_mistake_is(check):
    for mistake in check.mistakes:
        assert isinstance(mistake, Mistake)
        for variant in mistake.also:
            assert check(variant).mistake == mistake.name


def test_a_case_leads_to_the_page_as_a_mistake_does():
    which, wise = ch08.which_block.reference, ch05.is_position_wise.reference

    def misses_the_sentence(block):
        return "post" if which(block) == "sentence" else which(block)

    verdict = ch08.which_block(misses_the_sentence)
    assert (verdict.mistake, verdict.where) == (None, "One mean for the whole sentence")
    verdict = ch05.is_position_wise(lambda layer, x: "conv" in layer.kind or wise(layer, x))
    assert (verdict.mistake, verdict.where) == (None, "A wider kernel")
    assert ch05.is_position_wise(lambda layer, x: "conv" in layer.kind).where == ""  # many causes


def test_a_fault_that_the_page_shows_leads_there_where_it_is_not_the_one():
    verdict = ch09.faults({"A": "level"})
    assert verdict.where == "Layer by layer"
    assert "A: with that fault" in verdict.message
    assert ch09.faults({"A": "level", "B": "one layer"}).where == ""  # two causes
    assert ch09.faults({"A": "deaf"}).where == ""


def test_a_verdict_leads_to_the_heading_of_its_page():
    verdict = Verdict("wrong", "the queries compete.", "axis", "A zero in the scores")
    assert str(verdict).endswith("compete. This page shows it under “A zero in the scores”.")
    assert '“<a href="#A-zero-in-the-scores">A zero in the scores</a>”' in verdict._repr_html_()


def test_a_case_that_leads_somewhere_says_when():
    with pytest.raises(ValueError, match="'a row' leads to 'Ties' and says not when"):
        Case("a row", lambda _: arguments(), where="Ties")
