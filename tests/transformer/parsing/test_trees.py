"""Guards against trees that come back changed, and rules that pass a wrong tree or stop a right."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from random_trees import random_trees

from phrasebook import jane
from transformer.config import EOS_ID
from transformer.data.vocabulary import Vocabulary
from transformer.parsing.symbols import BracketConstraint, delinearize, linearize, longest_run
from transformer.parsing.trees import leaves, parse_brackets, read_penn

trees = random_trees("a", "b", "c")
TREE = parse_brackets("(S (NP Jane) (VP sings))")
SYMBOLS = Vocabulary.from_sentences([["(S", ")S", "(NP", ")NP", "(VP", ")VP", "a", "b", "c"]])
ID = {symbol: number for number, symbol in enumerate(SYMBOLS.tokens)}
ANY = frozenset(ID[word] for word in "abc")


@given(random_trees("Jane", "sings", "XX", "(", "a"))
def test_linearising_is_undone(tree):
    assert delinearize(linearize(tree), list(leaves(tree))) == tree


def test_a_linearised_tree_says_nothing_of_the_words():
    assert linearize(TREE) == ["(S", "(NP", "XX", ")NP", "(VP", "XX", ")VP", ")S"]


def test_the_running_sentence_comes_back():
    tree = jane().source_tree
    assert delinearize(linearize(tree), jane().source) == tree


@given(trees)
def test_linearising_with_words_is_undone(tree):
    own = list(leaves(tree))
    assert delinearize(linearize(tree, own), own, set(own)) == tree


@pytest.mark.parametrize(
    ("symbols", "message"),
    [
        ("(S XX )S", "2 words need as many XX, got 1"),
        ("(S XX )NP XX )S", r"expected \)S or a child, got '\)NP'"),
        ("XX (S XX )S", "expected an opening bracket at position 0, got 'XX'"),
        ("(S XX XX )S )S", r"expected the end after the tree, got '\)S'"),
        ("(S XX (NP )NP XX )S", "a constituent needs a child, got an empty NP"),
        ("(S XX (NP XX )NP", "expected 1 more closing brackets"),
        ("(S XX ( XX )S", r"expected \)S or a child, got '\('"),
    ],
)
def test_symbols_that_are_no_tree_are_refused_with_the_reason(symbols, message):
    with pytest.raises(ValueError, match=message):
        delinearize(symbols.split(), ["Jane", "sings"])


def test_leaves_may_be_tags():
    symbols = linearize(TREE, ["NNP", "VBZ"])
    assert symbols == ["(S", "(NP", "NNP", ")NP", "(VP", "VBZ", ")VP", ")S"]
    assert delinearize(symbols, ["Jane", "sings"], {"NNP", "VBZ"}) == TREE


@pytest.mark.parametrize(
    ("leaf_symbols", "message"),
    [
        (["NNP"], "2 words need as many leaf symbols, got 1"),
        (["NNP", "VBZ", "."], "2 words need as many leaf symbols, got 3"),
        (["NNP", "(VP"], r"must not look like a bracket, got '\(VP'"),
        (["NNP", ")S"], r"must not look like a bracket, got '\)S'"),
    ],
)
def test_leaf_symbols_that_do_not_fit_are_refused(leaf_symbols, message):
    with pytest.raises(ValueError, match=message):
        linearize(TREE, leaf_symbols)


def test_a_bracket_without_a_label_may_be_a_leaf():
    assert linearize(TREE, ["(", ")"]) == ["(S", "(NP", "(", ")NP", "(VP", ")", ")VP", ")S"]


@pytest.mark.parametrize(
    ("symbols", "expected"), [("XX )S", 0), ("(S XX )S", 1), ("(S XX (NP (NP XX )NP (S (VP", 2)]
)
def test_the_longest_run_of_opening_brackets(symbols, expected):
    assert longest_run(symbols.split()) == expected


def test_an_unknown_tag_among_the_symbols_is_named():
    with pytest.raises(ValueError, match=r"or a child, got 'FOO', which is none of the leaf"):
        delinearize(["(S", "NNP", "FOO", ")S"], ["Jane"], {"NNP"})
    with pytest.raises(ValueError, match="2 words need as many leaves, got 1"):
        delinearize(["(S", "NNP", ")S"], ["Jane", "sings"], {"NNP", "VBZ"})


def test_a_penn_tree_loses_traces_functions_and_the_outer_bracket():
    text = (
        "( (S (NP-SBJ-1 (DT The) (NN cat)) (VP (VBD was) (VP (VBN seen) (NP-1 (-NONE- *)))) (. .)))"
    )
    tree, tags = read_penn(text)
    assert tree == parse_brackets("(S (NP The cat) (VP was (VP seen)) .)")
    assert tags == ("DT", "NN", "VBD", "VBN", ".")
    assert read_penn(text[1:-1].strip()) == (tree, tags)
    assert read_penn("(NP=2 (-LRB- -LRB-) (NN x))") == (("NP", "-LRB-", "x"), ("-LRB-", "NN"))


def test_a_hair_space_does_not_part_a_word():
    assert read_penn("(NP (NN Xpd\u200a\u2020))").tree == ("NP", "Xpd\u200a\u2020")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("(S (NP (NN cat))", r"expected 1 more '\)'"),
        ("(S (NN cat)) (S (NN dog))", "expected the end after the tree"),
        ("( (S (NN cat)) (S (NN dog)))", "expected one tree inside the outer bracket, got 2"),
        ("(NN cat)", "a tree needs a constituent above its words"),
        ("(S (NP (-NONE- *)))", "a tree needs a constituent above its words"),
        ("(S cat (NN dog))", r"every word needs a tag of its own, got \['S', 'cat', "),
        ("(S)", r"a node needs a label and a child, got \['S'\]"),
        ("(S ())", "a node needs a label and a child"),
        ("cat", r"expected '\(' before 'cat'"),
        ("", "expected one tree and its more"),
    ],
)
def test_lines_that_are_no_tree_are_told_apart(text, message):
    with pytest.raises(ValueError, match=message):
        read_penn(text)


def test_a_long_line_is_quoted_by_its_beginning():
    for line, quoted in (("x" * 80, "x" * 80), ("x" * 81, "x" * 77 + "…")):
        with pytest.raises(ValueError, match=f" in '{quoted}'$"):
            read_penn(line)


def constraint(n_words: int) -> BracketConstraint:
    return BracketConstraint(SYMBOLS, [[ANY] * n_words])


def next_symbols(symbols: list[str], n_words: int) -> set[str]:
    rules = constraint(n_words)
    state = rules.start(0)
    for symbol in symbols:
        assert rules.allowed(state)[ID[symbol]], f"{symbol} is not allowed"
        state = rules.step(state, ID[symbol])
    return {SYMBOLS.tokens[i] for i in rules.allowed(state).nonzero().flatten().tolist()}


@given(trees)
def test_every_tree_passes(tree):
    own = list(leaves(tree))
    assert next_symbols(linearize(tree, own), len(own)) == {"</s>"}


@given(st.integers(1, 6), st.randoms(use_true_random=False))
def test_whatever_is_chosen_becomes_a_tree(n_words, random):
    rules = constraint(n_words)
    state, symbols = rules.start(0), []
    while True:
        token = random.choice(rules.allowed(state).nonzero().flatten().tolist())
        if token == EOS_ID:
            break
        symbols.append(SYMBOLS.tokens[token])
        state = rules.step(state, token)
    own = ["a"] * n_words
    assert list(leaves(delinearize(symbols, own, {"a", "b", "c"}))) == own


OPENING, WORDS = {"(S", "(NP", "(VP"}, {"a", "b", "c"}


@pytest.mark.parametrize(
    ("symbols", "n_words", "expected"),
    [
        ([], 1, OPENING),  # no word outside the tree
        (["(S"], 1, OPENING | WORDS),  # an empty constituent may not close
        (["(S", "a"], 2, OPENING | WORDS),  # the root may not close before the last word
        (["(S", "(NP", "a"], 2, OPENING | WORDS | {")NP"}),  # and only with its own label
        (["(S", "(NP", "a"], 1, {")NP"}),  # no bracket opens without a word for it
        (["(S", "a", ")S"], 1, {"</s>"}),
        (["(S"] * 9, 1, OPENING | WORDS),
        (["(S"] * 10, 1, WORDS),  # one more would be too many in a row
    ],
)
def test_what_may_come_next(symbols, n_words, expected):
    assert next_symbols(symbols, n_words) == expected


def test_a_constraint_is_printed_without_what_it_has_worked_out():
    shown = repr(constraint(1))
    assert "max_run=10" in shown
    assert "masks" not in shown
    assert "closing" not in shown


def test_a_given_leaf_is_the_only_one():
    rules = BracketConstraint(SYMBOLS, [[frozenset({ID["b"]})]])
    state = rules.step(rules.start(0), ID["(S"])
    assert rules.allowed(state)[ID["b"]]
    assert not rules.allowed(state)[ID["a"]]


def test_beams_that_part_keep_their_own_state():
    rules = constraint(2)
    before = rules.step(rules.start(0), ID["(S"])
    one, other = rules.step(before, ID["a"]), rules.step(before, ID["(NP"])
    assert (one.n_leaves, other.n_leaves, before.n_leaves) == (1, 0, 0)
    assert torch.equal(rules.allowed(before), rules.allowed(rules.step(rules.start(0), ID["(S"])))


def test_a_bracket_without_its_partner_is_refused():
    with pytest.raises(ValueError, match=r"holds \(NP without \)NP"):
        BracketConstraint(Vocabulary.from_sentences([["(NP", "a"]]), [[frozenset({5})]])
