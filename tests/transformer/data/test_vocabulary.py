"""Vocabulary: ids and words, and errors that say which word and what else was meant."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from transformer.config import BOS_ID, EOS_ID, PAD_ID, UNK_ID
from transformer.data.vocabulary import SPECIALS, UnknownWordError, Vocabulary

SENTENCES = [["Jane", "visits", "Africa"], ["Jane", "sings"], ["the", "owl", "sings"]]
WORDS = st.text("abcdefgé'", min_size=1, max_size=6)


@pytest.fixture
def vocabulary():
    return Vocabulary.from_sentences(SENTENCES)


def test_special_tokens_have_the_ids_of_the_model(vocabulary):
    assert vocabulary.tokens[:4] == SPECIALS
    ids = {token: index for index, token in enumerate(vocabulary.tokens)}
    assert (ids["<pad>"], ids["<s>"], ids["</s>"], ids["<unk>"]) == (PAD_ID, BOS_ID, EOS_ID, UNK_ID)


def test_order_is_by_frequency_then_alphabet_and_not_by_hash(vocabulary):
    assert vocabulary.tokens[4:] == ("Jane", "sings", "Africa", "owl", "the", "visits")
    assert Vocabulary.from_sentences(reversed(SENTENCES)) == vocabulary


@given(st.lists(st.lists(WORDS, min_size=1), min_size=1))
def test_decode_inverts_encode(sentences):
    vocabulary = Vocabulary.from_sentences(sentences)
    for sentence in sentences:
        assert vocabulary.decode(vocabulary.encode(sentence)) == sentence


def test_a_list_reads_back(vocabulary):
    assert Vocabulary(vocabulary.to_list()) == vocabulary
    assert len(vocabulary) == 10
    assert "owl" in vocabulary
    assert "dog" not in vocabulary


def test_decode_ends_at_the_end_token_and_skips_start_and_padding(vocabulary):
    owl = vocabulary.encode(["owl"])[0]
    assert vocabulary.decode([BOS_ID, owl, EOS_ID, owl, PAD_ID]) == ["owl"]
    assert vocabulary.decode([owl, PAD_ID, UNK_ID]) == ["owl", "<unk>"]
    assert vocabulary.decode([]) == []


def test_unknown_word_error_names_the_word_and_the_closest_known_ones(vocabulary):
    with pytest.raises(UnknownWordError, match=r"word 'visit'; close to it: visits") as caught:
        vocabulary.encode(["Jane", "visit"])
    assert caught.value.word == "visit"
    assert caught.value.suggestions == ["visits"]
    with pytest.raises(ValueError, match=r"word 'jane'; close to it: Jane"):
        vocabulary.encode(["jane"])
    with pytest.raises(UnknownWordError, match=r"does not hold the word 'Zürich'$"):
        vocabulary.encode(["Zürich"])


def test_at_most_three_words_are_suggested_the_closest_first():
    vocabulary = Vocabulary.from_sentences([["visits", "visit", "visited", "visitor", "owl"]])
    with pytest.raises(UnknownWordError) as caught:
        vocabulary.encode(["visitt"])
    assert caught.value.suggestions == ["visit", "visits", "visitor"]


def test_vocabularies_are_equal_by_their_words(vocabulary):
    assert vocabulary != Vocabulary([*vocabulary.tokens[:-1], "dog"])
    assert vocabulary != vocabulary.tokens
    assert len({vocabulary, Vocabulary(vocabulary.tokens)}) == 1


def test_a_line_is_no_list_of_words(vocabulary):
    # the mistake: its letters would be looked up one by one
    with pytest.raises(TypeError, match="must be a list of words, got the string 'Jane sings'"):
        vocabulary.encode("Jane sings")


@pytest.mark.usefixtures("as_users_run_it")
def test_another_way_with_unknown_words_is_refused(vocabulary):
    with pytest.raises(ValueError, match="must be 'error' or 'unk', got 'skip'"):
        vocabulary.encode(["Jane"], unknown="skip")


def test_special_tokens_cannot_be_typed(vocabulary):
    with pytest.raises(UnknownWordError, match="</s>"):
        vocabulary.encode(["Jane", "</s>"])
    with pytest.raises(ValueError, match=r"cannot be words of a sentence, got \['<pad>'\]"):
        Vocabulary.from_sentences([["Jane", "<pad>"]])


def test_unknown_words_can_be_replaced_instead(vocabulary):
    assert vocabulary.encode(["Jane", "snores"], unknown="unk") == [4, UNK_ID]
    assert vocabulary.encode(["</s>"], unknown="unk") == [UNK_ID]


@pytest.mark.parametrize("index", [-1, 10, 1000])
def test_ids_out_of_range_are_refused(vocabulary, index):
    with pytest.raises(ValueError, match=f"between 0 and 9, got {index}"):
        vocabulary.decode([4, index])


def test_bad_input_is_named(vocabulary):
    with pytest.raises(ValueError, match="at least one word, got an empty one"):
        vocabulary.encode([])
    with pytest.raises(ValueError, match="at least one word to build a vocabulary"):
        Vocabulary.from_sentences([[]])
    with pytest.raises(ValueError, match=r"starts with \['<pad>'"):
        Vocabulary(["a", "b"])
    with pytest.raises(ValueError, match=r"every token once, repeated: \['a'\]"):
        Vocabulary([*SPECIALS, "a", "a"])
