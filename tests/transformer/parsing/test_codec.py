"""Two vocabularies in one codec: words that are not known, tags that are given, rules of trees."""

import json
import random

import pytest

from transformer.config import UNK_ID
from transformer.data.codec import TextCodec, codec_from_text
from transformer.parsing.codec import (
    HIGHEST,
    TreeCodec,
    place_numbers,
    symbols_of_leaves,
    tagged_line,
)
from transformer.parsing.symbols import BracketConstraint, linearize
from transformer.parsing.trees import TaggedTree, parse_brackets
from transformer.parsing.word_classes import word_class

SOURCES = ["the cats sleep", "the dogs sleep", "the Growing cats were eaten"]
TARGETS = [
    "(S (NP DT NNS )NP (VP VBP )VP )S",
    "(S (NP DT NNS )NP (VP VBP )VP )S",
    "(S (NP DT VBG NNS )NP (VP VBD (VP VBN )VP )VP )S",
]
TAGGED = ["the/DT cats/NNS sleep/VBP", "the/DT dogs/NNS sleep/VBP", "1/2/CD cats/NNS sleep/VBP"]


def codec(**options) -> TreeCodec:
    return TreeCodec.learn(SOURCES, TARGETS, **options)


def test_the_sides_have_sizes_of_their_own_and_survive_the_checkpoint():
    own = codec()
    assert isinstance(own, TextCodec)
    again = codec_from_text(own.to_text())
    assert isinstance(again, TreeCodec)
    assert (len(again), again.target_size) == (len(own), own.target_size)
    assert again.encode(SOURCES[0]) == own.encode(SOURCES[0])
    assert again.max_run == own.max_run == 2  # of the training trees: a sentence, a phrase
    assert again.decode(again.encode_target(TARGETS[2])) == TARGETS[2]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"words": ["<pad>", "<s>", "</s>", "<unk>", 5]}, "words must be text"),
        ({"leaf": "letter"}, "leaf must be one of"),
        ({"max_run": 0}, "max_run must be at least 1, got 0"),
    ],
)
def test_a_damaged_file_is_refused(as_users_run_it, changes, message):
    text = json.dumps(json.loads(codec().to_text()) | changes)
    with pytest.raises(ValueError, match=f"tokenizer is damaged: .*{message}"):
        codec_from_text(text)


def test_rare_and_unknown_words_are_read_as_their_class():
    own = codec()  # "dogs" was seen once, "wombats" never
    assert own.encode("the dogs sleep") == own.encode("the wombats sleep")
    assert own.encode("the dogs sleep") != own.encode("the cats sleep")
    assert own.encode("the Xyzzy42 sleep")[1] == UNK_ID  # not even its class was seen


def test_without_classes_an_unknown_word_is_an_error():
    with pytest.raises(ValueError, match="does not hold the word 'wombats'"):
        codec(min_count=1).encode("the wombats sleep")


def test_dropout_reads_words_as_classes_and_nothing_else_changes():
    own, generator = codec(), random.Random(0)
    all_hidden = own.encode_with_dropout("the cats sleep", 0.999999, generator)
    assert all_hidden == own.encode("one wombats sleop")  # unknown words of the same classes
    assert set(all_hidden).isdisjoint(own.encode("the cats sleep"))
    assert own.encode_with_dropout(SOURCES[0], 0.0, generator) == own.encode(SOURCES[0])


def test_gold_tags_are_read_and_decide_the_leaves():
    own = codec_of_tags()
    ids = own.encode("the/DT wombats/NNS sleep/VBP")
    assert len(ids) == 6
    rules = own.constraint([ids])
    assert isinstance(rules, BracketConstraint)
    leaves = [own.symbols.tokens[next(iter(found))] for found in rules.leaves[0]]
    assert leaves == ["DT", "NNS", "VBP"]
    assert own.tree(TARGETS[0], "the/DT wombats/NNS sleep/VBP")[1] == ("NP", "the", "wombats")


def codec_of_tags() -> TreeCodec:
    targets = [*TARGETS[:2], "(S (NP CD NNS )NP (VP VBP )VP )S"]
    return TreeCodec.learn(TAGGED, targets, gold_tags=True)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("the/DT cats sleep/VBP", "reads word/TAG, as in cats/NNS; 'cats' has no tag"),
        ("the/DT cats/", "reads word/TAG, as in cats/NNS; 'cats' has no tag"),
        ("the/DT /NNS", "reads word/TAG, as in cats/NNS; 'NNS' has no tag"),
        ("the/DT cats/XYZ", "unknown tag 'XYZ'; training knows CD DT NNS VBP"),
        ("", "at least one word"),
    ],
)
def test_lines_that_a_model_of_tags_cannot_read(line, message):
    with pytest.raises(ValueError, match=message):
        codec_of_tags().encode(line)


def test_a_slash_inside_a_word_is_part_of_it():
    assert tagged_line(["1/2", "cats"], ["CD", "NNS"]) == "1/2/CD cats/NNS"
    assert len(codec_of_tags().encode("1/2/CD cats/NNS")) == 4


def test_leaves_that_are_words_must_be_copied_in_order():
    targets = ["(S the cats (VP sleep )VP )S", "(S the dogs (VP sleep )VP )S"]
    own = TreeCodec.learn(SOURCES[:2], targets, leaf="word", min_count=1)
    (leaves,) = own.constraint([own.encode("the dogs sleep")]).leaves
    assert [own.symbols.tokens[next(iter(found))] for found in leaves] == ["the", "dogs", "sleep"]


NUMBERED = ["(S (NP 1 2 )NP (VP 3 )VP )S"] * 2 + ["(S (NP 1 2 3 )NP (VP 4 (VP 5 )VP )VP )S"]


def test_leaves_that_are_numbers_must_come_in_order():
    own = codec_of_numbers()
    (leaves,) = own.constraint([own.encode("the cats sleep")]).leaves
    assert [own.symbols.tokens[next(iter(found))] for found in leaves] == ["1", "2", "3"]
    assert all(len(found) == 1 for found in leaves)
    assert own.tree(NUMBERED[0], "the cats sleep")[1] == ("NP", "the", "cats")


def codec_of_numbers(**options) -> TreeCodec:
    return TreeCodec.learn(options.pop("sources", SOURCES), NUMBERED, leaf="number", **options)


def test_a_sentence_longer_than_any_of_training_has_its_numbers():
    own = codec_of_numbers()
    words = " ".join(["cats"] * (HIGHEST + 2))
    (leaves,) = own.constraint([own.encode(words)]).leaves
    told = [own.symbols.tokens[next(iter(found))] for found in leaves]
    assert told[:2] == ["1", "2"]
    assert told[HIGHEST - 2 :] == ["99", "100", "1", "2"]
    assert UNK_ID not in own.symbols.encode(told, unknown="unk")


def test_gold_tags_are_read_beside_leaves_that_are_numbers():
    own = codec_of_numbers(sources=TAGGED, gold_tags=True)
    ids = own.encode("the/DT wombats/NNS sleep/VBP")
    assert len(ids) == 6
    (leaves,) = own.constraint([ids]).leaves
    assert [own.symbols.tokens[next(iter(found))] for found in leaves] == ["1", "2", "3"]
    assert ids != own.encode("the/DT wombats/VBP sleep/VBP")
    with pytest.raises(ValueError, match="unknown tag 'XYZ'; training knows CD DT NNS VBP"):
        own.encode("the/DT cats/XYZ")


def test_numbers_survive_the_checkpoint():
    again = codec_from_text(codec_of_numbers().to_text())
    assert isinstance(again, TreeCodec)
    assert again.leaf == "number"
    assert again.leaf_symbols == frozenset(str(n) for n in range(1, HIGHEST + 1))


@pytest.mark.parametrize("min_count", [1, 2])
@pytest.mark.parametrize("leaf", ["tag", "number"])
def test_a_tag_that_the_training_lines_lack_can_be_given(leaf, min_count):
    targets = [*TARGETS[:2], "(S (NP CD NNS )NP (VP VBP )VP )S"] if leaf == "tag" else NUMBERED
    kind = {"leaf": leaf, "gold_tags": True, "min_count": min_count}
    line = "the/UH cats/NNS sleep/VBP"
    with pytest.raises(ValueError, match="unknown tag 'UH'"):
        TreeCodec.learn(TAGGED, targets, **kind).encode(line)
    own = TreeCodec.learn(TAGGED, targets, **kind, tags=("DT", "UH"))
    assert len(own.encode(line)) == 6
    assert own.constraint([own.encode(line)])
    plain = TreeCodec.learn(SOURCES, TARGETS, tags=("UH",))  # where no tags are given
    assert "UH" not in plain.symbols


def test_what_stands_for_the_words_of_a_tree():
    one = TaggedTree(parse_brackets("(S (NP the cats) (VP sleep))"), ("DT", "NNS", "VBP"))
    written = {leaf: linearize(one.tree, symbols_of_leaves(leaf, one)) for leaf in LEAF_NAMES}
    assert [" ".join(symbols) for symbols in written.values()] == [
        "(S (NP XX XX )NP (VP XX )VP )S",
        "(S (NP 1 2 )NP (VP 3 )VP )S",
        "(S (NP DT NNS )NP (VP VBP )VP )S",
        "(S (NP the cats )NP (VP sleep )VP )S",
    ]
    assert place_numbers(0) == []


def test_another_kind_of_leaf_is_refused(as_users_run_it):
    one = TaggedTree(parse_brackets("(S (NP cats) (VP sleep))"), ("NNS", "VBP"))
    with pytest.raises(ValueError, match=r"leaf must be one of .*, got 'letter'"):
        symbols_of_leaves("letter", one)  # type: ignore[arg-type]


LEAF_NAMES = ("XX", "number", "tag", "word")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"leaf": "letter"}, "leaf must be one of"),
        ({"leaf": "word", "gold_tags": True}, "gold tags need leaves that are tags or numbers"),
        ({"leaf": "XX"}, "hold no leaf"),
    ],
)
def test_choices_that_do_not_fit_are_refused(as_users_run_it, options, message):
    sources = TAGGED if options.get("gold_tags") else SOURCES
    with pytest.raises(ValueError, match=message):
        TreeCodec.learn(sources, TARGETS, **options)


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("Growing", "Aa-ing"),
        ("mutants", "a-s"),
        ("BRCA1", "A0"),
        ("p53", "a0"),
        ("12.5", "0-0"),
        ("%", "-"),
        ("formation", "a-ation"),  # not its shorter endings, -ion or -n
        ("cats", "a-s"),
        ("gas", "a"),  # three letters are left, or it is no stem
        ("red", "a"),
        ("IL-2-R1-b", "A-0-"),  # the beginning is enough
        ("α", "a"),
        ("", ""),
    ],
)
def test_classes(word, expected):
    assert word_class(word) == expected


def test_a_label_that_training_never_saw_is_unknown():
    own = codec()
    assert own.encode_target("(S DT FOO )S")[2] == UNK_ID
    assert UNK_ID not in own.encode_target(TARGETS[0])


def test_a_tag_must_be_known_to_both_sides():
    # FW is read and never written, VB is written and never read
    own = TreeCodec.learn(["a/FW b/NN"], ["(S NN VB )S"], gold_tags=True, min_count=1)
    for tag in ("FW", "VB"):
        with pytest.raises(ValueError, match=f"unknown tag '{tag}'; training knows NN"):
            own.encode(f"a/{tag} b/NN")


def test_a_codec_reads_plain_lines_unless_it_is_told_of_tags():
    own = codec()
    assert TreeCodec(own.words, own.symbols).encode(SOURCES[0]) == own.encode(SOURCES[0])


def test_without_tags_any_leaf_may_stand_for_any_word():
    own = codec()
    (leaves,) = own.constraint([own.encode("the cats sleep")]).leaves
    tags = ["DT", "NNS", "VBP", "VBG", "VBD", "VBN"]
    assert leaves == [frozenset(own.symbols.encode(tags))] * 3


def test_words_of_all_languages_are_readable_in_the_checkpoint():
    own = TreeCodec.learn(["β-catenin α"], ["(S NN NN )S"], min_count=1)
    assert "β-catenin" in own.to_text()
