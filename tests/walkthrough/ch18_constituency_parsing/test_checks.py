"""The checks of chapter 18 accept right answers and name every mistake they list."""

import numpy as np
import pytest

from transformer.data.phrasebook import parse_brackets
from walkthrough.ch18_constituency_parsing import checks
from walkthrough.ch18_constituency_parsing.checks.scores import package_agrees
from walkthrough.checking.soundness import assert_check_is_sound

ALL = [checks.spans, checks.f1, checks.allowed, checks.decoder]


@pytest.mark.parametrize("check", ALL, ids=lambda check: check.name)
def test_check_rejects_and_names_each_mistake(check):
    assert_check_is_sound(check)
    assert len(check.mistakes) >= 3


def test_the_reference_is_what_the_package_counts():
    gold = [parse_brackets("(S (NP a) (VP b (NP c d) (PP e (NP f))))")]
    assert package_agrees([parse_brackets("(S (NP a) (VP b (NP c d (PP e (NP f)))))")], gold)
    assert package_agrees([parse_brackets("(S (NP (NP a)) b c d e f)")], gold)


def test_a_learners_own_ways_are_right():
    def spans(tree):
        def visit(node, start):
            if isinstance(node, str):
                return start + 1, []
            end, inside = start, []
            for child in node[1:]:
                end, more = visit(child, end)
                inside += more
            return end, [(node[0], start, end), *inside]

        return sorted(visit(tree, 0)[1])

    def f1(predicted, gold):
        hits = total = 0
        for ours, theirs in zip(predicted, gold, strict=True):
            left = list(theirs)
            total += len(ours) + len(theirs)
            for span in ours:
                if span in left:
                    left.remove(span)
                    hits += 1
        return 100 * 2 * hits / total

    def allowed(written, n_words, labels):
        stack = []
        for symbol in written:
            if symbol[0] == "(":
                stack.append(symbol)
            elif symbol[0] == ")":
                stack.pop()
        left = n_words - written.count("XX")
        if written and not stack:
            return {"</s>"}
        found = {"(" + label for label in labels} if left else set()
        if stack and left:
            found.add("XX")
        if stack and written[-1][0] != "(" and (left == 0 or len(stack) > 1):
            found.add(")" + stack[-1][1:])
        return found

    def decoder(scores, may, n_words):
        written = []
        while True:
            found = scores(written)
            best = max(may(written, n_words, ("NP", "S", "VP")), key=lambda s: found[s])
            if best == "</s>":
                return written
            written.append(best)

    for check, answer in zip(ALL, (spans, f1, allowed, decoder), strict=True):
        assert check(answer).status == "right", check(answer).message


def test_two_wrong_answers_nobody_listed_are_wrong():
    assert checks.spans(lambda tree: [(tree[0], 0, 1)]).status == "wrong"
    assert checks.allowed(lambda written, n, labels: {"</s>"}).status == "wrong"


def _decoded_by(pick):
    def decode(scores, may, n_words):
        written = []
        while True:
            found = scores(written)
            best = pick(found, may(written, n_words, ("NP", "S", "VP")))
            if best == "</s>" or len(written) == 50:
                return written
            written.append(best)

    return decode


@pytest.mark.parametrize(
    ("pick", "said"),
    [
        (lambda found, may: max(may), "by their names"),
        (lambda found, may: min(may, key=found.get), "*lowest*"),
        (lambda found, may: max(found, key=lambda s: found[s] if s in may else 0), "score 0"),
    ],
)
def test_a_decoder_is_told_how_it_chooses(pick, said):
    assert said in checks.decoder(_decoded_by(pick)).message


def test_a_decoder_that_never_ends_is_stopped():
    def decode(scores, may, n_words):
        written = []
        while True:
            found = scores(written)
            written.append(min(may(written, n_words, ("NP", "S", "VP")), key=found.get))

    assert "no end" in checks.decoder(decode).message


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda label, start, end: (start, end), "labels are missing"),
        (lambda label, start, end: (start, end, label), "label stands last"),
    ],
)
def test_constituents_in_another_form(change, said):
    def spans(tree):
        return sorted(change(*span) for span in checks.spans.reference(tree))

    assert said in checks.spans(spans).message


def test_a_symbol_that_there_is_not_is_told():
    def allowed(written, n_words, labels):
        found = checks.allowed.reference(written, n_words, labels)
        return {"word" if symbol == "XX" else symbol for symbol in found}

    assert "no symbol" in checks.allowed(allowed).message


def test_right_symbols_in_another_form_are_not_told_of_a_wrong_choice():
    def decode(scores, may, n_words):
        return np.array(checks.decoder.reference(scores, may, n_words))

    assert "names" not in checks.decoder(decode).message
