"""What a head of a translator of captions is worth, counted by hand."""

import pytest
import torch

from transformer.config import EOS_ID, TransformerConfig
from transformer.data.batching import collate
from transformer.model import Transformer
from walkthrough.ch19_what_the_heads_attend_to.experiments import real_text, surgery
from walkthrough.lab.translator import next_word_accuracy

PAIRS = [([5, 6, 7], [11, 12]), ([9, 5, 6, 8, 7], [14, 15, 16, 17]), ([8], [18, 19, 20])]


@pytest.fixture
def model():
    torch.manual_seed(0)
    config = TransformerConfig(vocab_size=30, d_model=16, n_heads=2, n_layers=2, d_ff=16)
    return Transformer(config).eval()


# --- next words -------------------------------------------------------------------------------


def says(model, token):
    """Make the model's first choice one token, whatever it reads."""
    model.project = lambda states: torch.eye(30)[token].expand(*states.shape[:-1], 30)


def shares_are_right(score, model):
    """Nine words and three ends; the pair of each word is known."""
    batches = [collate(PAIRS[:2]), collate(PAIRS[2:])]
    says(model, EOS_ID)
    assert score(model, batches) == pytest.approx(3 / 12)
    says(model, 15)
    assert score(model, batches) == pytest.approx(1 / 12)
    says(model, 0)
    assert score(model, batches) == 0


def of_sentences(model, batches):
    """Wrong: a mean of shares, in which a word of a short sentence weighs more."""
    parts = [collate([pair]) for pair in PAIRS]
    return sum(real_text.next_words_right(model, [part]) for part in parts) / len(parts)


def with_padding(model, batches):
    """Wrong: the places after the end count."""
    guesses = [model(b.source, b.target_in).argmax(-1) == b.target_out for b in batches]
    return sum(int(g.sum()) for g in guesses) / sum(g.numel() for g in guesses)


def without_ends(model, batches):
    """Wrong: the end symbols do not count."""
    right = total = 0
    for b in batches:
        counts = b.target_out > EOS_ID
        right += int((model(b.source, b.target_in).argmax(-1) == b.target_out)[counts].sum())
        total += int(counts.sum())
    return right / total


def against_what_is_read(model, batches):
    """Wrong: a guess is compared with the word before it."""
    guesses = [(model(b.source, b.target_in).argmax(-1) == b.target_in) for b in batches]
    return sum(int(g.sum()) for g in guesses) / 12


def test_the_share_of_next_words_counts_each_word_and_each_end_once(model):
    shares_are_right(real_text.next_words_right, model)


@pytest.mark.parametrize(
    "wrong",
    [of_sentences, with_padding, without_ends, against_what_is_read],
    ids=lambda f: f.__name__,
)
def test_another_share_is_rejected(wrong, model):
    with pytest.raises(AssertionError):
        shares_are_right(wrong, model)


def test_it_is_the_share_that_the_phrasebook_is_measured_by(model):
    torch.manual_seed(1)
    pairs = [
        (torch.randint(3, 30, (n,)).tolist(), torch.randint(3, 30, (1 + n % 7,)).tolist())
        for n in range(1, 130)
    ]
    batches = real_text.in_batches(pairs)
    assert sorted(len(batch.indices) for batch in batches) == [29, 50, 50]
    found = real_text.next_words_right(model, batches)
    assert found == pytest.approx(next_word_accuracy(model, pairs))


# --- heads ------------------------------------------------------------------------------------


@pytest.fixture
def idle(model, monkeypatch):
    """A model in which head 1 of the second cross-attention adds nothing."""
    d_v = model.config.d_v
    with torch.no_grad():
        surgery.attentions(model, "cross")[1].output_proj.weight[:, d_v:] = 0

    @torch.no_grad()
    def first_logit(model, batches):  # a share would hide small differences
        return float(model(batches[0].source, batches[0].target_in)[0, 0, 0])

    monkeypatch.setattr(real_text, "next_words_right", first_logit)
    return model


@pytest.fixture
def measured(idle):
    return real_text.measure_captions(idle, PAIRS)["next_word"]


def an_idle_head_costs_nothing(measured):
    one, alone = measured["one"]["cross"][1], measured["all but one"]["cross"][1]
    assert one[1] == measured["nothing"]
    assert alone[0] == measured["nothing"]
    # the other head is all there is: without it, or with the idle one alone, the layer is silent
    assert one[0] == alone[1] == measured["layer"]["cross"][1] != measured["nothing"]


def test_a_head_that_adds_nothing_costs_nothing(measured):
    an_idle_head_costs_nothing(measured)


def the_other_head(kind, layer, head):
    return (kind, layer, 1 - head)


def the_other_layer(kind, layer, head):
    return (kind, 1 - layer, head)


def another_kind(kind, layer, head):
    return ({"encoder": "cross", "cross": "decoder", "decoder": "encoder"}[kind], layer, head)


@pytest.mark.parametrize(
    "instead", [the_other_head, the_other_layer, another_kind], ids=lambda f: f.__name__
)
def test_silencing_another_head_is_rejected(instead, idle, monkeypatch):
    silence = surgery.without
    monkeypatch.setattr(
        surgery, "without", lambda model, heads: silence(model, [instead(*head) for head in heads])
    )
    with pytest.raises(AssertionError):
        an_idle_head_costs_nothing(real_text.measure_captions(idle, PAIRS)["next_word"])


def test_a_mean_in_place_of_nothing_is_rejected(idle, monkeypatch):
    def to_the_mean(head, d_v):
        def change(_, given):
            merged = given[0].clone()
            part = merged[..., head * d_v : (head + 1) * d_v]
            part[...] = part.mean(dim=-1, keepdim=True)
            return (merged,)

        return change

    monkeypatch.setattr(surgery, "_silence", to_the_mean)
    with pytest.raises(AssertionError):
        zero_is_what_is_left(idle)


def zero_is_what_is_left(model):
    """Without a kind of attention, the model is one whose W^O is zero in all its layers."""
    measured = real_text.measure_captions(model, PAIRS)["next_word"]
    batch = real_text.in_batches(PAIRS)[0]
    for attention in surgery.attentions(model, "encoder"):
        torch.nn.init.zeros_(attention.output_proj.weight)
    with torch.no_grad():
        logits = model(batch.source, batch.target_in)
    assert measured["kind"]["encoder"] == pytest.approx(float(logits[0, 0, 0]))


def test_without_a_kind_all_its_layers_are_silent(idle):
    zero_is_what_is_left(idle)


def test_every_other_head_of_each_kind_is_silenced_by_itself(measured):
    for kind in surgery.KINDS:
        for found in (measured["one"][kind], measured["all but one"][kind]):
            assert torch.tensor(found).shape == (2, 2)
        assert len(measured["layer"][kind]) == 2
        scores = {value for row in measured["one"][kind] for value in row}
        assert len(scores) == 4
        # of two heads, one without the other is the other alone
        for out, left in zip(measured["one"][kind], measured["all but one"][kind], strict=True):
            assert out == left[::-1]
    assert len({measured["nothing"], *measured["kind"].values()}) == 4
