"""From text to text: order kept, empty lines kept, errors that name the line."""

import sys
from collections.abc import Iterator

import pytest
import torch
from decoding_peers import make_model, trained_model

from transformer.config import EOS_ID
from transformer.inference.beam import beam_search
from transformer.inference.translate import Decoding, translate, translate_stream
from transformer.model import Transformer


class Letters:
    """A codec of nine letters; `d` is id 3."""

    def encode(self, text: str) -> list[int]:
        unknown = set(text) - set("defghijkl")
        if unknown:
            raise ValueError(f"unknown letters {sorted(unknown)}")
        return [ord(letter) - ord("a") for letter in text]

    def decode(self, ids) -> str:
        return "".join(chr(ord("a") + number) for number in ids)

    def __len__(self) -> int:
        return 12


LINES = ["defg", "l", "", "kjihg", "ed", "eeeeee", "l", "   ", "hh"]
SHORT = Decoding(beam=3, max_len=9)


def one_by_one(model, line: str, decoding: Decoding) -> str:
    if not line.strip():
        return ""
    source = torch.tensor([[*Letters().encode(line), 2]])
    best = beam_search(
        model, source, beam=decoding.beam, alpha=decoding.alpha, max_len=decoding.max_len
    )
    return Letters().decode(best[0][0].tokens)


@pytest.mark.parametrize("batch_sentences", [1, 2, 100])
@pytest.mark.parametrize("window", [1, 4, 100])
def test_order_is_kept(batch_sentences: int, window: int) -> None:
    model = trained_model()
    decoding = Decoding(beam=3, max_len=9, batch_sentences=batch_sentences)
    found = translate_stream(model, Letters(), LINES, decoding, window=window)
    expected = [one_by_one(model, line, SHORT) for line in LINES]
    assert [best[0].text for best in found] == expected
    assert len(set(expected)) > 4, "equal outputs would hide a wrong order"


def test_greedy_has_no_scores_and_n_best_has_them() -> None:
    model = trained_model()
    (best,) = translate(model, Letters(), ["defg"], Decoding(beam=1, max_len=9))
    assert len(best) == 1
    assert best[0].score is None
    (best,) = translate(model, Letters(), ["defg"], Decoding(beam=4, n_best=3, max_len=9))
    scores = [t.score for t in best]
    assert len(best) == 3
    assert scores == sorted(scores, reverse=True)


def test_a_stream_is_translated_as_it_comes() -> None:
    read = []

    def lines() -> Iterator[str]:
        for line in LINES:
            read.append(line)
            yield line

    stream = translate_stream(trained_model(), Letters(), lines(), SHORT, window=2)
    next(stream)
    assert len(read) == 2


def test_a_line_that_is_too_long() -> None:
    with pytest.raises(ValueError, match="line 2: at most 1000 tokens a line, got 10000"):
        translate(trained_model(), Letters(), ["de", "d" * 10_000])
    decoding = Decoding(beam=1, max_len=3, max_source=1200)
    assert len(translate(trained_model(), Letters(), ["d" * 1100], decoding)) == 1


def test_no_lines() -> None:
    assert translate(trained_model(), Letters(), []) == []


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"beam": 0}, "beam must be at least 1, got 0"),
        ({"alpha": -1.0}, "alpha must lie between 0 and 10, got -1.0"),
        ({"alpha": 10.5}, "alpha must lie between 0 and 10, got 10.5"),
        ({"beam": 2, "n_best": 3}, "n_best must be at most beam = 2, got 3"),
        ({"batch_sentences": 0}, "batch_sentences must be at least 1, got 0"),
        ({"alpha": float("nan")}, "alpha must be a finite number, or none, got nan"),
    ],
)
def test_bad_options(options, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Decoding(**options)


def test_the_longest_output_reaches_the_search() -> None:
    model, lines = trained_model(), ["kjihg", "defg", "eeeeee"]
    for beam in (1, 3):
        long, short = (
            [best[0].text for best in translate(model, Letters(), lines, decoding)]
            for decoding in (Decoding(beam=beam, max_len=9), Decoding(beam=beam, max_len=3))
        )
        assert max(map(len, short)) == 2 < max(map(len, long))  # the end token is the third


def test_decoding_is_the_papers_unless_asked_otherwise() -> None:
    """§6.1: four beams, α = 0.6, outputs up to 50 tokens longer than the input."""
    decoding = Decoding()
    assert (decoding.beam, decoding.alpha, decoding.extra_tokens) == (4, 0.6, 50)
    assert (decoding.n_best, decoding.max_len, decoding.constrained) == (1, None, False)
    assert (decoding.max_source, decoding.batch_tokens) == (1000, 2000)
    assert decoding.batch_sentences == 100
    assert Decoding(alpha=10.0).alpha == 10.0  # the limit itself is allowed


def test_every_option_of_the_search_reaches_it() -> None:
    model, options = trained_model(), {"beam": 6, "n_best": 5, "alpha": 1.0, "max_len": 7}
    source = torch.tensor([[*Letters().encode("kjihg"), EOS_ID]])
    (expected,) = beam_search(model, source, **options)
    (found,) = translate(model, Letters(), ["kjihg"], Decoding(**options))
    assert [t.text for t in found] == [Letters().decode(h.tokens) for h in expected]
    assert [t.score for t in found] == pytest.approx([h.score for h in expected])


def test_lines_of_like_length_share_a_batch_up_to_its_limits(monkeypatch) -> None:
    model, shapes = trained_model(), []
    encode = model.encode
    monkeypatch.setattr(model, "encode", lambda s: shapes.append(tuple(s.shape)) or encode(s))
    lines = ["ddddd", "d", "eeeee", "e", "fffff"]  # with the end token 6, 2, 6, 2 and 6
    translate(model, Letters(), lines, Decoding(beam=1, max_len=2, batch_tokens=12))
    assert shapes == [(2, 2), (2, 6), (1, 6)]
    shapes.clear()
    translate(model, Letters(), lines, Decoding(beam=1, max_len=2, batch_sentences=2))
    assert shapes == [(2, 2), (2, 6), (1, 6)]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("d\udc80", r"not UTF-8 \(byte 0x80 at column 2\)"),
        ("de\udcff", r"not UTF-8 \(byte 0xff at column 3\): is this UTF-16\? save it as UTF-8"),
        ("d\0", r"a NUL byte at column 2: is this UTF-16\? save it as UTF-8"),
        ("\udc7f", r"not UTF-8 \(a lone surrogate at column 1\)"),
        ("d\udd00", r"not UTF-8 \(a lone surrogate at column 2\)"),
        ("d" * 3, "at most 2 tokens a line, got 3"),
        ("d" * 200, "at most 2 tokens a line, got 200"),
        ("d" * 201, "at most 200 characters a line, this one has more"),
    ],
)
def test_a_line_that_is_no_source_is_told_by_its_number(line: str, reason: str) -> None:
    decoding = Decoding(beam=1, max_len=2, max_source=2)
    with pytest.raises(ValueError, match=f"^line 2: {reason}$"):
        translate(make_model(0), Letters(), ["dd", line], decoding)


def test_learned_places_bound_a_line_and_its_translation() -> None:
    model = make_model(0, positions="learned", max_len=6)
    with pytest.raises(ValueError, match="line 1: at most 5 tokens a line, got 6"):
        translate(model, Letters(), ["d" * 6])
    for beam in (1, 2):
        assert translate(model, Letters(), ["d" * 5], Decoding(beam=beam))


def test_a_stream_ends_at_its_first_bad_line_and_not_at_a_later_one() -> None:
    stream = translate_stream(trained_model(), Letters(), ["de", "X", "fg", "Y"], SHORT, window=4)
    assert len(next(stream)) == 1
    with pytest.raises(ValueError, match="line 2: unknown letters"):
        next(stream)


def test_refused_lines_keep_their_places_and_are_told() -> None:
    model, told = trained_model(), []
    stream = translate_stream(
        model,
        Letters(),
        ["de", "X", "fg", "Y"],
        SHORT,
        window=3,
        refused=lambda number, error: told.append((number, str(error))),
    )
    texts = [best[0].text for best in stream]
    assert told == [(2, "unknown letters ['X']"), (4, "unknown letters ['Y']")]
    assert texts == [one_by_one(model, "de", SHORT), "", one_by_one(model, "fg", SHORT), ""]


def test_a_stream_takes_500_lines_at_a_time() -> None:
    read = iter([""] * 600)
    next(translate_stream(make_model(0), Letters(), read))
    assert len(list(read)) == 100


def not_finite() -> Transformer:
    model = make_model(0)
    with torch.no_grad():
        model.output_weight[5, 3] = float("nan")
    return model


@pytest.mark.parametrize(
    ("model", "options", "message"),
    [
        (make_model(0, vocab_size=13), {}, "the tokenizer has 12 tokens, the model 13"),
        (not_finite(), {}, "holds weights that are not finite numbers"),
        (make_model(0), {"constrained": True}, "this one writes free text"),
    ],
    ids=["other vocabulary", "not finite", "no rules"],
)
def test_a_model_that_cannot_do_it_is_refused_before_any_line(model, options, message) -> None:
    decoding = Decoding(**options)
    with pytest.raises(ValueError, match=message):
        translate(model, Letters(), [], decoding)
    with pytest.raises(ValueError, match=message):
        next(translate_stream(model, Letters(), ["de"], decoding))


def test_finite_weights_pass_whatever_their_sum_and_infinities_that_cancel_do_not() -> None:
    model = make_model(0)
    with torch.no_grad():
        model.output_weight[5] = 3e38
    assert model.output_weight.sum().isinf()
    assert translate(model, Letters(), []) == []
    with torch.no_grad():
        model.output_weight[5, :2] = torch.tensor([float("inf"), float("-inf")])
    with pytest.raises(ValueError, match="not finite numbers"):
        translate(model, Letters(), [])


def test_matrices_are_laid_out_once_for_all_batches(monkeypatch) -> None:
    module, made = sys.modules[translate.__module__], []
    original = module.step_decoder
    monkeypatch.setattr(module, "step_decoder", lambda model: made.append(1) or original(model))
    for beam in (1, 2):
        translate(trained_model(), Letters(), LINES, Decoding(beam=beam, batch_sentences=1))
    assert len(made) == 2


def test_a_window_holds_at_least_a_line() -> None:
    with pytest.raises(ValueError, match="window must be at least 1, got 0"):
        next(translate_stream(make_model(0), Letters(), ["de"], window=0))


@pytest.mark.parametrize("beam", [1, 2])
def test_probabilities_that_are_no_numbers_are_told(beam, monkeypatch) -> None:
    model = make_model(0)
    project = model.project
    monkeypatch.setattr(model, "project", lambda states: project(states) * float("nan"))
    with pytest.raises(FloatingPointError, match="probabilities are not numbers"):
        translate(model, Letters(), ["de"], Decoding(beam=beam, max_len=4))
