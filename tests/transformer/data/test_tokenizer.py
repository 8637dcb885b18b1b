"""Guards against lossy text, text that spells special symbols, and tokenizers that differ."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from transformer.config import BOS_ID, EOS_ID, PAD_ID, UNK_ID
from transformer.data.corpus import Corpus
from transformer.data.tokenizer import SubwordTokenizer

LINES = [
    "ein mann mit einem orangefarbenen hut , der etwas anstarrt .",
    "a man in an orange hat staring at something .",
    "<pad> <pad> &apos; &apos; ⟨pad⟩ ⟨pad⟩",
] * 3
NASTY = [
    "",
    " ",
    "  two  spaces ",
    "new\nline\ttab\r\n",
    "e\u0301 u\u0308 — combining",
    "🙂👩‍👩‍👧 emoji",
    "<pad> <s> </s> <unk> ⟨pad⟩ ⟨bos⟩ ⟨eos⟩ ⟨unk⟩ <0x0a>",
    "▁ Ġ Ċ @@ </w>",
    "\u2028\x00\xa0\ufeff\U0010ffff",
    "l&apos; herbe",
]
TOKENIZER = SubwordTokenizer.train(LINES, n_merges=60)


@given(st.text())
def test_any_string_comes_back(text):
    ids = TOKENIZER.encode(text)
    assert TOKENIZER.decode(ids) == text
    assert all(UNK_ID < number < len(TOKENIZER) for number in ids)


@pytest.mark.parametrize("text", NASTY)
def test_nasty_strings_come_back(text):
    assert TOKENIZER.decode(TOKENIZER.encode(text)) == text


@given(st.lists(st.text(), max_size=5), st.floats(0, 0.99), st.integers(0, 9))
def test_dropout_changes_the_spelling_and_never_the_text(texts, dropout, seed):
    rows = TOKENIZER.encode_batch(texts, dropout=dropout, seed=seed)
    assert TOKENIZER.decode_batch(rows) == texts


def test_a_batch_is_encoded_like_its_sentences():
    assert TOKENIZER.encode_batch(NASTY) == [TOKENIZER.encode(text) for text in NASTY]


def test_text_never_spells_a_special_symbol():
    # LINES repeat "<pad>" and "⟨pad⟩", so a tokenizer that looks for names in the text finds them.
    for line in (*LINES, *NASTY):
        assert not {PAD_ID, BOS_ID, EOS_ID, UNK_ID} & set(TOKENIZER.encode(line))


def test_special_symbols_have_their_ids_and_are_left_out_of_the_text():
    assert TOKENIZER.pieces([PAD_ID, BOS_ID, EOS_ID, UNK_ID]) == [
        "⟨pad⟩",
        "⟨bos⟩",
        "⟨eos⟩",
        "⟨unk⟩",
    ]
    ids = TOKENIZER.encode("a man")
    assert TOKENIZER.decode([BOS_ID, *ids, EOS_ID, PAD_ID, PAD_ID]) == "a man"


def test_a_word_is_spelled_alike_at_the_start_and_inside_a_line():
    first, second = TOKENIZER.encode("man man")
    assert first == second


def test_pieces_are_readable():
    assert TOKENIZER.pieces(TOKENIZER.encode("ein mann")) == ["▁ein", "▁man", "n"]
    assert TOKENIZER.pieces(TOKENIZER.encode("é")) == ["▁", "<c3>", "<a9>"]


def test_punctuation_parts_no_word():
    """Merges end at white space only: `don't` may be one symbol, as in the book's own encoder."""
    tokenizer = SubwordTokenizer.train(["don't don't"], n_merges=5)
    assert tokenizer.pieces(tokenizer.encode("don't")) == ["▁don't"]


def test_half_a_character_is_shown_as_a_replacement_not_an_error():
    ids = TOKENIZER.encode("é")
    assert TOKENIZER.decode(ids[:-1]) == "\ufffd"


def test_the_same_lines_give_the_same_tokenizer():
    assert SubwordTokenizer.train(LINES, n_merges=60).fingerprint == TOKENIZER.fingerprint
    assert SubwordTokenizer.train(LINES[::-1], n_merges=60).fingerprint == TOKENIZER.fingerprint
    assert SubwordTokenizer.train(LINES, n_merges=59).fingerprint != TOKENIZER.fingerprint


def test_sizes_are_what_was_asked_for():
    assert len(TOKENIZER.merges) == 60
    assert len(TOKENIZER) <= 4 + 256 + 60
    assert len(SubwordTokenizer.train(LINES, vocab_size=300)) == 300
    assert len(SubwordTokenizer.train(LINES, n_merges=0)) == 260


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ({"n_merges": 10_000}, r"the corpus allows \d+ merges at most, got 10000"),
        ({"vocab_size": 37_000}, r"the corpus allows \d+ tokens at most, got 37000"),
        ({"vocab_size": 259}, "vocab_size must be at least 260, got 259"),
        ({"vocab_size": 0}, "vocab_size must be at least 260, got 0"),
        ({"n_merges": -1}, "n_merges must be at least 0, got -1"),
        ({}, "either n_merges or vocab_size, got None and None"),
        ({"n_merges": 5, "vocab_size": 300}, "either n_merges or vocab_size, got 5 and 300"),
    ],
)
def test_sizes_that_cannot_be_are_refused_with_both_values(sizes, message):
    with pytest.raises(ValueError, match=message):
        SubwordTokenizer.train(LINES, **sizes)


@pytest.mark.parametrize("number", [-1, len(TOKENIZER), 10_000])
def test_ids_outside_the_vocabulary_are_refused(number):
    with pytest.raises(ValueError, match=f"between 0 and {len(TOKENIZER) - 1}, got {number}"):
        TOKENIZER.decode([5, number])


def test_dropout_is_drawn_with_the_seed():
    first, again, other = (
        TOKENIZER.encode_batch(LINES, dropout=0.3, seed=seed) for seed in (1, 1, 2)
    )
    assert first == again
    assert first != other
    assert sum(map(len, first)) > sum(map(len, TOKENIZER.encode_batch(LINES)))


@pytest.mark.parametrize("dropout", [-0.1, 1.0])
def test_dropout_outside_its_range_is_refused(dropout):
    with pytest.raises(ValueError, match=f"at least 0 and below 1, got {dropout}"):
        TOKENIZER.encode_batch(LINES, dropout=dropout)


def test_a_saved_tokenizer_is_the_same_one(tmp_path):
    TOKENIZER.save(tmp_path / "tokenizer.json")
    loaded = SubwordTokenizer.load(tmp_path / "tokenizer.json")
    assert loaded.fingerprint == TOKENIZER.fingerprint
    assert loaded.encode_batch(NASTY) == TOKENIZER.encode_batch(NASTY)
    assert loaded.decode(loaded.encode("a  man ")) == "a  man "
    assert len((tmp_path / "tokenizer.json").read_text().splitlines()) > 300  # to be read, compared
    assert [path.name for path in tmp_path.iterdir()] == ["tokenizer.json"]


def test_damaged_and_foreign_files_are_refused(tmp_path):
    path = tmp_path / "tokenizer.json"
    TOKENIZER.save(path)
    whole = path.read_text(encoding="utf-8")
    foreign = json.loads(whole)
    foreign["model"]["vocab"] = {"a": 0}
    foreign["model"]["merges"] = []
    for content in (whole[:1000], "", "{}", json.dumps(foreign)):
        path.write_text(content, encoding="utf-8")
        with pytest.raises(ValueError, match=r"tokenizer\.json: not a tokenizer of this package"):
            SubwordTokenizer.load(path)
    with pytest.raises(FileNotFoundError):
        SubwordTokenizer.load(tmp_path / "none.json")


def test_dropout_without_dropping_is_what_the_library_does():
    """Our seeded path and the library's fast path are one algorithm."""
    rows = TOKENIZER.encode_batch([*LINES, *NASTY], dropout=1e-12)
    assert rows == TOKENIZER.encode_batch([*LINES, *NASTY])


def test_tokenised_captions_come_back_token_by_token(multi30k_copy):
    corpus = Corpus.from_multi30k("val", folder=multi30k_copy, download=False)
    tokenizer = SubwordTokenizer.train([*corpus.source, *corpus.target], n_merges=1000)
    for lines in (corpus.source, corpus.target):
        assert tuple(tokenizer.decode_batch(tokenizer.encode_batch(lines))) == lines


def test_the_spelling_is_the_one_of_seed_0_unless_another_is_asked_for():
    asked = TOKENIZER.encode_batch(LINES, dropout=0.3, seed=0)
    assert TOKENIZER.encode_batch(LINES, dropout=0.3) == asked


def test_a_pair_that_was_seen_once_is_no_merge():
    """It says nothing about other text, and would make a word of each name."""
    with pytest.raises(ValueError, match="allows 0 merges at most, got 1"):
        SubwordTokenizer.train(["zq", "vj"], n_merges=1)
    assert ("z", "q") in SubwordTokenizer.train(["zq", "zq"], n_merges=1).merges
