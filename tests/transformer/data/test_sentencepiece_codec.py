"""Published tokenizers: codes of languages, unknown pieces, and what a checkpoint keeps."""

import json
import sys
import warnings

import pytest
from published_folder import CODES, Spelling

from transformer.config import UNK_ID
from transformer.data.codec import codec_from_text
from transformer.data.sentencepiece_codec import SentencePieceCodec

TOKENS = ["<pad>", "⟨bos⟩", "</s>", "<unk>", *CODES, "▁ein", "▁hund", ","]


def codec(tokens=TOKENS, **options) -> SentencePieceCodec:
    return SentencePieceCodec(b"source", b"target", tokens, **options)


@pytest.fixture
def _stub(monkeypatch) -> None:
    monkeypatch.setattr("transformer.data.sentencepiece_codec._processor", Spelling)


@pytest.mark.usefixtures("_stub")
def test_a_language_code_is_one_token_in_front_and_nowhere_else() -> None:
    assert codec().encode(">>ron<< ein hund") == [5, 6, 7]
    assert codec().encode(">>ron<<") == [5]
    assert 5 not in codec().encode("ein >>ron<< hund")
    with pytest.raises(ValueError, match="one of >>fra<<, >>ron<<, got >>xyz<<"):
        codec().encode(">>xyz<< ein")
    without = codec([token for token in TOKENS if token not in CODES])
    assert without.encode(">>Ja<<, ein")[0] == UNK_ID  # as Marian's tokenizer has it


@pytest.mark.usefixtures("_stub")
def test_no_text_spells_a_special_token() -> None:
    assert codec().encode("ein katze") == [6, *[UNK_ID] * 6]
    assert set(codec().encode("</s> <pad> <unk>")) == {UNK_ID}


@pytest.mark.usefixtures("_stub")
def test_decoding_leaves_special_tokens_out_and_tidies_if_asked() -> None:
    ids = [1, 6, 3, 7, 8, 2]
    assert codec().decode(ids) == "ein hund,"
    assert codec(["a", "b", "c", "d", "x", "▁,", "▁n't"]).decode([4, 5, 6]) == "x , n't"
    assert codec(["a", "b", "c", "d", "x", "▁,", "▁n't"], tidy=True).decode([4, 5, 6]) == "x,n't"


@pytest.mark.usefixtures("_stub")
def test_text_and_back() -> None:
    one = codec(tidy=True)
    again = codec_from_text(one.to_text())
    assert again.to_text() == one.to_text()
    assert (again.models, again.tokens, again.tidy) == (one.models, one.tokens, True)
    damaged = json.loads(one.to_text()) | {"source": "?"}
    with pytest.raises(ValueError, match="the tokenizer is damaged"):
        codec_from_text(json.dumps(damaged))
    with pytest.raises(ValueError, match="must stand there once"):
        codec([*TOKENS, ","])


def test_without_the_package_the_line_that_installs_it_is_told(monkeypatch) -> None:
    monkeypatch.setattr("transformer.data.sentencepiece_codec.find_spec", lambda _: None)
    with pytest.raises(ModuleNotFoundError, match="pip install sentencepiece"):
        codec()


def test_a_file_that_is_no_model_is_refused() -> None:
    if "sentencepiece" not in sys.modules:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            pytest.importorskip("sentencepiece", reason="sentencepiece is not installed")
    with pytest.raises(ValueError, match="no SentencePiece model"):
        codec()
