"""What a checkpoint keeps of the phrasebook's words spells what the trained model was given."""

import pytest

from phrasebook import phrasebook
from phrasebook.codec import PhrasebookCodec
from transformer.data.codec import codec_from_text
from transformer.data.vocabulary import Vocabulary


@pytest.mark.parametrize("languages", [("fr", "en"), ("en", "fr")])
def test_phrasebook_words_survive_the_checkpoint(languages: tuple[str, str]) -> None:
    book = phrasebook(train=2000, valid=20, test=20)
    codec = PhrasebookCodec(book.vocabulary(), *languages)
    again = codec_from_text(codec.to_text())
    for example in book.valid:
        texts = {"fr": example.source_text, "en": example.target_text}
        source, target = (texts[language] for language in languages)
        assert again.encode(source) == codec.encode(source)
        assert again.decode(again.encode_target(target)) == target
    assert len(again) == len(book.vocabulary())


def test_source_and_target_are_not_read_in_the_same_language() -> None:
    # the mistake: one tokenisation for both sides; English 's is split, French l' otherwise
    vocabulary = Vocabulary.from_sentences([["Jane", "'s", "l'", "Afrique"]])
    codec = PhrasebookCodec(vocabulary, "fr", "en")
    assert len(codec.encode("l'Afrique")) == 2
    assert len(codec.encode_target("Jane's")) == 2
    with pytest.raises(ValueError, match="does not hold the word"):
        codec.encode("Jane's")


def test_unknown_word_is_named() -> None:
    codec = PhrasebookCodec(Vocabulary.from_sentences([["chat"]]))
    with pytest.raises(ValueError, match="does not hold the word 'chien'"):
        codec.encode("Chien.")


def test_a_checkpoint_keeps_words_as_people_read_them() -> None:
    words = PhrasebookCodec(Vocabulary.from_sentences([["décembre"]])).to_text()
    assert "décembre" in words
