"""The checks of chapter 18 accept right answers and name every mistake they list."""

import math

import pytest
from soundness import assert_check_is_sound

from transformer.parsing.brackets import score_brackets
from transformer.parsing.trees import parse_brackets
from walkthrough.ch18_constituency_parsing import checks

ALL = [checks.spans, checks.f1, checks.allowed]


@pytest.mark.parametrize("check", ALL, ids=lambda check: check.name)
def test_check_rejects_and_names_each_mistake(check):
    assert_check_is_sound(check)


@pytest.mark.parametrize(
    "predicted", ["(S (NP a) (VP b (NP c d (PP e (NP f)))))", "(S (NP (NP a)) b c d e f)"]
)
def test_the_reference_is_what_the_package_counts(predicted):
    trees = [parse_brackets(predicted)]
    gold = [parse_brackets("(S (NP a) (VP b (NP c d) (PP e (NP f))))")]
    ours = checks.f1.reference(*([checks.spans.reference(t) for t in ts] for ts in (trees, gold)))
    assert ours == pytest.approx(100 * score_brackets(trees, gold).f1)


def _spans(tree):
    def visit(node, start):
        if isinstance(node, str):
            return start + 1, []
        end, inside = start, []
        for child in node[1:]:
            end, more = visit(child, end)
            inside += more
        return end, [(node[0], start, end), *inside]

    return sorted(visit(tree, 0)[1])


def _f1(predicted, gold):
    hits = total = 0
    for ours, theirs in zip(predicted, gold, strict=True):
        left = list(theirs)
        total += len(ours) + len(theirs)
        for span in ours:
            if span in left:
                left.remove(span)
                hits += 1
    return round(100 * 2 * hits / total, 1)


def _allowed(written, n_words, labels, most=math.inf):
    stack = []
    for symbol in written:
        if symbol[0] == "(":
            stack.append(symbol)
        elif symbol[0] == ")":
            stack.pop()
    left = n_words - written.count("XX")
    if written and not stack:
        return {"</s>"}
    found = {"(" + label for label in labels} if left and len(stack) < most else set()
    if stack and left:
        found.add("XX")
    if stack and written[-1][0] != "(" and (left == 0 or len(stack) > 1):
        found.add(")" + stack[-1][1:])
    return found


@pytest.mark.parametrize(("check", "answer"), list(zip(ALL, (_spans, _f1, _allowed), strict=True)))
def test_a_learners_own_ways_are_right(check, answer):
    assert check(answer).status == "right", check(answer).message


def _one_child_as_one_word(tree):
    def visit(node, start):
        if isinstance(node, str) or (len(node) == 2 and not isinstance(node[1], str)):
            found = [] if isinstance(node, str) else [(node[0], start, start + 1)]
            return start + 1, found + (visit(node[1], start)[1] if found else [])
        end, inside = start, []
        for child in node[1:]:
            end, more = visit(child, end)
            inside += more
        return end, [(node[0], start, end), *inside]

    return sorted(visit(tree, 0)[1])


def _clipped_by_gold_alone(predicted, gold):
    pairs = list(zip(predicted, gold, strict=True))
    matched = sum(span in p for p, g in pairs for span in g)
    return 200 * matched / sum(len(p) + len(g) for p, g in pairs)


def _by_precision_and_recall(predicted, gold):
    matched = sum(
        min(p.count(span), g.count(span))
        for p, g in zip(predicted, gold, strict=True)
        for span in set(p)
    )
    precision, recall = matched / sum(map(len, predicted)), matched / sum(map(len, gold))
    return 200 * precision * recall / (precision + recall)


@pytest.mark.parametrize(
    ("check", "answer", "said"),
    [
        (checks.spans, _one_child_as_one_word, "that child has two words"),
        (checks.f1, _clipped_by_gold_alone, "the smaller of the two counts"),
        (checks.f1, _by_precision_and_recall, "no label right"),
        (checks.allowed, lambda *given: _allowed(*given, most=6), "there is no limit"),
    ],
)
def test_answers_that_are_right_in_easy_cases_are_wrong(check, answer, said):
    verdict = check(answer)
    assert verdict.status == "wrong"
    assert said in verdict.message
