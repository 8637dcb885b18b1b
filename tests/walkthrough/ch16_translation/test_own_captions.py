"""What is recorded of our own captions is what the model wrote, and what it saw when it wrote."""

import pytest
import torch

from transformer.config import BOS_ID, EOS_ID, TransformerConfig
from transformer.data.codec import SubwordCodec
from transformer.inference.translate import Decoding, translate
from transformer.model import Transformer
from walkthrough.ch16_translation.experiments.own_captions import CAPTIONS, END, translated

SENTENCES = ("a dog runs over the grass .", "two men look at it .")


@pytest.fixture(scope="module")
def translator():
    codec = SubwordCodec.train([*SENTENCES, "ein hund läuft über das gras ."], n_merges=8)
    torch.manual_seed(0)
    sizes = {"d_model": 16, "n_heads": 2, "n_layers": 2, "d_ff": 16, "d_k": 8, "d_v": 8}
    return Transformer(TransformerConfig(vocab_size=len(codec), **sizes)).eval(), codec


@pytest.fixture(scope="module")
def found(translator):
    return translated(*translator, SENTENCES, beam=3, alpha=0.6)


def test_the_translation_is_that_of_the_package(translator, found):
    expected = translate(*translator, SENTENCES, Decoding(beam=3, alpha=0.6))
    assert [one["german"] for one in found] == [best[0].text for best in expected]
    assert [one["english"] for one in found] == list(SENTENCES)


def test_a_row_of_the_weights_is_the_position_that_predicts_its_piece(translator, found):
    model, codec = translator
    for one in found:
        weights = torch.tensor(one["attention"])
        heads = model.config.n_heads
        assert weights.shape == (heads, len(one["written"]), len(one["read"]))
        assert one["read"][-1] == one["written"][-1] == END
        torch.testing.assert_close(
            weights.sum(-1), torch.ones(weights.shape[:2]), atol=0.06, rtol=0
        )
        # the row that predicts the first piece has read nothing but the begin symbol
        source = torch.tensor([[*codec.encode(one["english"]), EOS_ID]])
        first = model.attention(source, torch.tensor([[BOS_ID]])).cross[-1, 0, :, 0]
        torch.testing.assert_close(weights[:, 0], first, atol=6e-3, rtol=0)


def test_pieces_make_up_the_caption(found):
    for one in found:
        assert "".join(one["read"][:-1]).replace(" ", "") == one["english"].replace(" ", "")


def test_there_are_eight_captions_as_the_corpus_writes_them():
    assert len(set(CAPTIONS)) == 8
    assert all(one == one.lower() and one.endswith(" .") for one in CAPTIONS)
