"""Outputs that keep rules: in greedy search, in a beam, and from text to text."""

import pytest
import torch
from decoding_peers import counted_steps, make_model, make_source

from transformer import Transformer, TransformerConfig
from transformer.config import EOS_ID
from transformer.inference.beam import beam_search
from transformer.inference.constraint import Constraint
from transformer.inference.greedy import greedy_decode
from transformer.inference.translate import Decoding, check_vocabulary, translate
from transformer.parsing.codec import TreeCodec
from transformer.parsing.symbols import delinearize

SOURCES = ["the cats sleep", "the dogs sleep", "sleep", "the cats see the dogs"]
TARGETS = [
    "(S (NP DT NNS )NP (VP VBP )VP )S",
    "(S (NP DT NNS )NP (VP VBP )VP )S",
    "(S (VP VB )VP )S",
    "(S (NP DT NNS )NP (VP VBP (NP DT NNS )NP )VP )S",
]


def parser(seed: int = 0) -> tuple[Transformer, TreeCodec]:
    """An untrained parser: what it writes freely is no tree."""
    codec = TreeCodec.learn(SOURCES, TARGETS)
    torch.manual_seed(seed)
    sizes = {"d_model": 16, "n_heads": 2, "n_layers": 1, "d_ff": 16, "tie_embeddings": False}
    config = TransformerConfig(vocab_size=len(codec), target_vocab_size=codec.target_size, **sizes)
    return Transformer(config), codec


class Alternating:
    """Tokens 4 and 5 in turn, four of them, then the end."""

    def start(self, sentence: int) -> int:
        return 0

    def step(self, state: int, token: int) -> int:
        return state + 1

    def allowed(self, state: int) -> torch.Tensor:
        mask = torch.zeros(12, dtype=torch.bool)
        mask[EOS_ID if state == 4 else 4 + state % 2] = True
        return mask


@pytest.mark.parametrize("beam", [1, 3])
def test_what_is_closed_is_never_chosen(beam: int) -> None:
    model, source = make_model(0, vocab_size=12), make_source(0, rows=3, vocab_size=12)
    rules = Alternating()
    assert isinstance(rules, Constraint)
    if beam == 1:
        found = greedy_decode(model, source, constraint=rules)
    else:
        best = beam_search(model, source, beam=beam, constraint=rules)
        found = [hypotheses[0].tokens for hypotheses in best]
    assert found == [[4, 5, 4, 5]] * 3


def test_the_search_ends_when_the_rules_leave_nothing_to_write() -> None:
    model, source = make_model(0, vocab_size=12), make_source(0, rows=1, vocab_size=12)
    with counted_steps(model) as steps:
        (found,) = beam_search(model, source, beam=3, n_best=2, constraint=Alternating())
    assert [h.tokens for h in found] == [[4, 5, 4, 5]]  # there is no second best
    assert len(steps) == 5  # and no waiting for one until the limit


def test_rules_are_kept_only_when_asked_for() -> None:
    model, codec = parser()
    for beam in (1, 2):
        decoding = Decoding(beam=beam, max_len=6)
        ((free,),) = translate(model, codec, SOURCES[:1], decoding)
        source = torch.tensor([[*codec.encode(SOURCES[0]), EOS_ID]])
        if beam == 1:
            (tokens,) = greedy_decode(model, source, max_len=6)
        else:
            tokens = beam_search(model, source, beam=2, max_len=6)[0][0].tokens
        assert free.text == codec.decode(tokens)
        with pytest.raises(ValueError, match=r"\w"):
            codec.tree(free.text, SOURCES[0])  # free writing by an untrained model is no tree


def test_scores_stay_the_models() -> None:
    # the mistake: to share the probability of closed tokens out among the open ones
    model, source = make_model(1, vocab_size=12), make_source(1, rows=2, vocab_size=12)
    for (hypothesis,) in beam_search(model, source, beam=3, alpha=0.0, constraint=Alternating()):
        assert hypothesis.log_prob < -5  # four tokens, near 1 in 12 each


@pytest.mark.parametrize("beam", [1, 4])
@pytest.mark.parametrize("seed", range(3))
def test_an_untrained_parser_writes_trees(beam: int, seed: int) -> None:
    model, codec = parser(seed)
    decoding = Decoding(beam=beam, alpha=0.3, constrained=True, extra_tokens=300)
    for line, (best,) in zip(SOURCES, translate(model, codec, SOURCES, decoding), strict=True):
        words = line.split()
        tree = delinearize(best.text.split(), words, codec.leaf_symbols)
        assert codec.tree(best.text, line) == tree


def test_each_sentence_of_a_batch_has_its_own_rules() -> None:
    # the mistake: states that stay behind when a finished sentence leaves the batch
    model, codec = parser(2)
    decoding = Decoding(beam=1, constrained=True, extra_tokens=300)
    together = translate(model, codec, SOURCES, decoding)
    alone = [translate(model, codec, [line], decoding)[0] for line in SOURCES]
    assert together == alone


def test_without_rules_nothing_changes() -> None:
    model, source = make_model(0), make_source(0)
    free = greedy_decode(model, source)
    assert greedy_decode(model, source, constraint=None, extra_tokens=50) == free


def test_a_limit_before_the_last_bracket_gives_no_tree() -> None:
    model, codec = parser()
    for beam in (1, 3):
        decoding = Decoding(beam=beam, constrained=True, max_len=3)
        ((found,),) = translate(model, codec, SOURCES[:1], decoding)
        with pytest.raises(ValueError, match=r"need as many leaves|opening bracket"):
            codec.tree(found.text, SOURCES[0])


class Stuck(Alternating):
    """Rules with a dead end."""

    def allowed(self, state: int) -> torch.Tensor:
        return torch.zeros(12, dtype=torch.bool)


class OtherVocabulary(Alternating):
    """Rules of another vocabulary."""

    def allowed(self, state: int) -> torch.Tensor:
        return torch.ones(7, dtype=torch.bool)


@pytest.mark.parametrize(
    ("rules", "message"),
    [(Stuck(), "leaves nothing to choose"), (OtherVocabulary(), "hold the 12 tokens .* got 7")],
)
def test_rules_that_cannot_be_kept_are_told(as_users_run_it, rules, message) -> None:
    model, source = make_model(0, vocab_size=12), make_source(0, rows=2, vocab_size=12)
    for decode in (greedy_decode, beam_search):
        with pytest.raises(ValueError, match=message):
            decode(model, source, constraint=rules)


def test_free_text_has_no_rules() -> None:
    class Words:
        def encode(self, text: str) -> list[int]:
            return [4]

        def decode(self, ids) -> str:
            return ""

        def __len__(self) -> int:
            return 12

    with pytest.raises(ValueError, match="needs a model of trees; this one writes free text"):
        translate(make_model(0, vocab_size=12), Words(), ["a"], Decoding(constrained=True))


def test_a_codec_of_another_model_is_refused() -> None:
    model, codec = parser()
    sizes = {"d_model": 16, "n_heads": 2, "n_layers": 1, "d_ff": 16}
    other = Transformer(TransformerConfig(vocab_size=len(codec), **sizes))
    with pytest.raises(ValueError, match=r"has \d+ source and \d+ target tokens, the model \d+:"):
        check_vocabulary(other, codec)
    check_vocabulary(model, codec)
