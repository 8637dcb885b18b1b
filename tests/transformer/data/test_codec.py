"""Codecs: what a checkpoint keeps spells exactly what the trained model was given."""

import pytest

from transformer.data.codec import SubwordCodec, TextCodec, codec_from_text

LINES = ["ein hund läuft", "zwei hunde laufen", "ein hund und zwei katzen", "a dog and two cats"]


def test_subwords_survive_the_checkpoint() -> None:
    codec = SubwordCodec.train(LINES, n_merges=12)
    again = codec_from_text(codec.to_text())
    assert isinstance(again, TextCodec)
    assert len(again) == len(codec)
    for text in [*LINES, "ungesehen: ü 😀", " zwei  Leerzeichen "]:
        assert again.encode(text) == again.encode_target(text) == codec.encode(text)
        assert again.decode(again.encode(text)) == text


def test_unknown_kind() -> None:
    with pytest.raises(ValueError, match="'trees' or 'sentencepiece', got 'letters'"):
        codec_from_text('{"kind": "letters"}')


def test_a_checkpoint_keeps_words_as_people_read_them() -> None:
    assert "⟨pad⟩" in SubwordCodec.train(LINES, n_merges=2).to_text()
