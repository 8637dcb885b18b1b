"""The checks of chapter 18 on constituents as places, and on F1 (§6.3)."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from statistics import fmean

from transformer.analysis.brackets import Span, labelled_spans, score_brackets
from transformer.data.phrasebook import Tree, leaves, parse_brackets
from walkthrough.checking import Check, Mistake, Symptom, fixed

Spans = list[Span]


def spans_of(tree: Tree) -> Spans:
    """Return the labelled spans of a tree, sorted."""
    return sorted(labelled_spans(tree).elements())


def _changed(change: Callable[[str, int, int, Tree], Span | None]) -> Callable[[Tree], Spans]:
    """Return a function that changes, or drops, every span of a tree."""

    def made(tree: Tree) -> Spans:
        found = (change(*span, tree) for span in labelled_spans(tree).elements())
        return sorted(span for span in found if span is not None)

    return made


def _n_words(tree: Tree) -> int:
    return sum(1 for _ in leaves(tree))


def _restarted(tree: Tree) -> Spans:
    """Count places from the start of the parent, not of the sentence."""
    found: Spans = []

    def visit(node: Tree, start: int) -> int:
        end = start
        for child in node[1:]:
            end = end + 1 if isinstance(child, str) else end + visit(child, end - start)
        found.append((node[0], start, end))
        return end - start

    visit(tree, 0)
    return sorted(found)


def _by_children(tree: Tree) -> Spans:
    """Count children where words are meant."""
    found: Spans = []

    def visit(node: Tree, start: int) -> None:
        found.append((node[0], start, start + len(node) - 1))
        for place, child in enumerate(node[1:]):
            if not isinstance(child, str):
                visit(child, start + place)

    visit(tree, 0)
    return sorted(found)


def _with_words(tree: Tree) -> Spans:
    words = [(word, place, place + 1) for place, word in enumerate(leaves(tree))]
    return sorted([*labelled_spans(tree).elements(), *words])


def _label_as_word(tree: Tree) -> Spans:
    """Let a label take a place of its own."""
    found: Spans = []

    def visit(node: Tree, start: int) -> int:
        end = start + 1
        for child in node[1:]:
            end = end + 1 if isinstance(child, str) else visit(child, end)
        found.append((node[0], start, end))
        return end

    visit(tree, 0)
    return sorted(found)


def _looked_up(tree: Tree) -> Spans:
    """Look a phrase up by its first word."""
    words, found = list(leaves(tree)), []

    def visit(node: Tree) -> None:
        inside = list(leaves(node))
        start = words.index(inside[0])
        found.append((node[0], start, start + len(inside)))
        for child in node[1:]:
            if not isinstance(child, str):
                visit(child)

    visit(tree)
    return sorted(found)


spans = Check(
    name="spans",
    reference=spans_of,
    cases=[
        fixed("two words", parse_brackets("(S (NP Jane) (VP sings))")),
        fixed(
            "a phrase inside a phrase",
            parse_brackets("(S (NP Jane) (VP visits (NP Africa) (PP in (NP September))))"),
        ),
        fixed("a label twice over the same words", parse_brackets("(S (NP (NP mice)) (VP run))")),
        fixed("words beside phrases", parse_brackets("(S (NP the cat) sees (NP the dog) .)")),
        fixed("one constituent", parse_brackets("(NP the old house)")),
    ],
    mistakes=[
        Mistake(
            "end included",
            _changed(lambda label, start, end, _tree: (label, start, end - 1)),
            "your ends are the places of the last words. The end is the place *after* the last "
            "word, so that end − start is the number of words.",
        ),
        Mistake(
            "counted from 1",
            _changed(lambda label, start, end, _tree: (label, start + 1, end + 1)),
            "your places begin with 1. The first word stands at 0, as in Python.",
        ),
        Mistake(
            "root left out",
            _changed(
                lambda label, start, end, tree: (
                    None
                    if (start, end) == (0, _n_words(tree)) and label == tree[0]
                    else (label, start, end)
                )
            ),
            "the outermost constituent is missing. It counts like the others here.",
        ),
        Mistake(
            "a set",
            lambda tree: sorted(set(labelled_spans(tree))),
            "a label that stands twice over the same words counts once in your list. It is two "
            "brackets, so it counts twice: a set forgets this.",
        ),
        Mistake(
            "no labels",
            _changed(lambda _label, start, end, _tree: ("", start, end)),
            "the labels are missing: (label, start, end) is asked for.",
        ),
        Mistake(
            "restarted in each constituent",
            _restarted,
            "your starts begin again inside each constituent. All places are counted from the "
            "first word of the sentence.",
        ),
        Mistake(
            "all from 0",
            _changed(lambda label, start, end, _tree: (label, 0, end - start)),
            "all your constituents start at 0. A child starts where what stands before it ends.",
        ),
        Mistake(
            "words too",
            _with_words,
            "words stand in your list. A word alone is no constituent: only what has a label is.",
        ),
        Mistake(
            "labels take a place",
            _label_as_word,
            "labels take a place in your count. Only words do: skip the first entry of a tree.",
        ),
        Mistake(
            "looked up",
            _looked_up,
            "you look a phrase up by its first word. A word can stand in a sentence twice: carry "
            "the place along.",
        ),
        Mistake(
            "children for words",
            _by_children,
            "you count children. A child that is a tree holds several words: add what it holds, "
            "not 1.",
        ),
        Mistake(
            "lengths",
            _changed(lambda label, start, end, _tree: (label, start, end - start)),
            "your third number is the number of words. The place after the last word is asked for.",
        ),
        Mistake(
            "only phrases of words",
            lambda tree: sorted(
                span for span in labelled_spans(tree).elements() if span[2] - span[1] == 1
            ),
            "only constituents of one word are there. Those above them hold the words of their "
            "children.",
        ),
        Mistake(
            "in the order of the tree",
            lambda tree: _in_order(tree),
            "the constituents are right, their order is that of the tree. Return them sorted.",
        ),
    ],
    symptoms=[
        Symptom(
            "a Counter",
            lambda result, _expected, _given: isinstance(result, (dict, set)),
            "a list is asked for, in which a constituent that is there twice stands twice: "
            "`sorted(…)` of what you have found.",
        ),
        Symptom(
            "pairs",
            lambda result, _expected, _given: all(len(one) == 2 for one in result),
            "the labels are missing: (label, start, end) is asked for.",
        ),
        Symptom(
            "label last",
            lambda result, expected, _given: (
                sorted((label, start, end) for start, end, label in result) == expected
            ),
            "your label stands last. The order is (label, start, end).",
        ),
    ],
    right="`spans` is right: every bracket once, in places between words",
)


def _in_order(tree: Tree) -> Spans:
    found: Spans = []

    def visit(node: Tree, start: int) -> int:
        place = len(found)
        found.append((node[0], start, start))
        end = start
        for child in node[1:]:
            end = end + 1 if isinstance(child, str) else visit(child, end)
        found[place] = (node[0], start, end)
        return end

    visit(tree, 0)
    return found


# F1 ----------------------------------------------------------------------------------------------

Side = Sequence[Sequence[Span]]


def f1_of(predicted: Side, gold: Side) -> float:
    """Return labelled F1 over a corpus, in percent."""
    matched, ours, theirs = _counted(predicted, gold)
    return 200 * matched / (ours + theirs)


def _counted(predicted: Side, gold: Side) -> tuple[int, int, int]:
    pairs = [(Counter(p), Counter(g)) for p, g in zip(predicted, gold, strict=True)]
    return (
        sum((p & g).total() for p, g in pairs),
        sum(p.total() for p, _ in pairs),
        sum(g.total() for _, g in pairs),
    )


def _mean_of_sentences(predicted: Side, gold: Side) -> float:
    return fmean(f1_of([p], [g]) for p, g in zip(predicted, gold, strict=True))


def _of_trees_only(predicted: Side, gold: Side) -> float:
    pairs = [(p, g) for p, g in zip(predicted, gold, strict=True) if p]
    return f1_of([p for p, _ in pairs], [g for _, g in pairs])


def _as_sets(predicted: Side, gold: Side) -> float:
    return f1_of([sorted(set(p)) for p in predicted], [sorted(set(g)) for g in gold])


def _matches_as_sets(predicted: Side, gold: Side) -> float:
    _, ours, theirs = _counted(predicted, gold)
    matched = sum(len(set(p) & set(g)) for p, g in zip(predicted, gold, strict=True))
    return 200 * matched / (ours + theirs)


def _overlap(predicted: Side, gold: Side) -> float:
    matched, ours, theirs = _counted(predicted, gold)
    return 100 * matched / (ours + theirs - matched)


def _geometric(predicted: Side, gold: Side) -> float:
    matched, ours, theirs = _counted(predicted, gold)
    return 100 * matched / math.sqrt(ours * theirs)


def _unclipped(predicted: Side, gold: Side) -> float:
    _, ours, theirs = _counted(predicted, gold)
    matched = sum(span in g for p, g in zip(predicted, gold, strict=True) for span in p)
    return 200 * matched / (ours + theirs)


def _unlabelled(predicted: Side, gold: Side) -> float:
    return f1_of(
        [[("", s, e) for _, s, e in p] for p in predicted],
        [[("", s, e) for _, s, e in g] for g in gold],
    )


def _one_bag(predicted: Side, gold: Side) -> float:
    return f1_of([[s for p in predicted for s in p]], [[s for g in gold for s in g]])


def _corpus(*texts: str) -> list[Spans]:
    return [spans_of(parse_brackets(text)) if text else [] for text in texts]


f1 = Check(
    name="f1",
    reference=f1_of,
    tolerance=1e-3,
    cases=[
        fixed(
            "a phrase that hangs elsewhere, and a sentence that is right",
            _corpus("(S (NP a) (VP b (NP c d (PP e (NP f)))))", "(S (NP g) (VP h))"),
            _corpus("(S (NP a) (VP b (NP c d) (PP e (NP f))))", "(S (NP g) (VP h))"),
        ),
        fixed(
            "a sentence without a predicted tree",
            _corpus("(S (NP a) (VP b))", ""),
            _corpus("(S (NP a) (VP b))", "(S (NP c) (VP d (NP e)))"),
        ),
        fixed(
            "a label predicted twice, gold once",
            _corpus("(S (NP (NP a)) (VP b))"),
            _corpus("(S (NP a) (VP b))"),
        ),
        fixed(
            "a label twice over the same words in both",
            _corpus("(S (NP (NP a)) (VP b))"),
            _corpus("(S (NP (NP a)) b)"),
        ),
        fixed(
            "a label that is wrong",
            _corpus("(S (PP a) (VP b (NP c)))"),
            _corpus("(S (NP a) (VP b (NP c)))"),
        ),
        fixed(
            "one sentence's constituents in the other's",
            _corpus("(S (NP a) b)", "(S a b)"),
            _corpus("(S a b)", "(S (NP a) b)"),
        ),
    ],
    mistakes=[
        Mistake(
            "mean over sentences",
            _mean_of_sentences,
            "you take F1 of each sentence, then the mean. Add up matches and constituents of all "
            "sentences first: a long sentence has more of them.",
        ),
        Mistake(
            "sentences without a tree left out",
            _of_trees_only,
            "sentences without a predicted tree are left out. Their gold constituents are missed: "
            "they count.",
        ),
        Mistake(
            "sets",
            _as_sets,
            "a constituent that stands twice counts once. Count brackets: `Counter`, not `set`.",
        ),
        Mistake(
            "matches as sets",
            _matches_as_sets,
            "a constituent that stands twice in both is matched once in your count. Match "
            "`Counter` with `Counter`, not `set` with `set`.",
        ),
        Mistake(
            "not used up",
            _unclipped,
            "a gold constituent matches as often as it is predicted. It can be found once only: "
            "the smaller of the two counts.",
        ),
        Mistake(
            "without labels",
            _unlabelled,
            "labels make no difference in your score. A constituent is right when its label is.",
        ),
        Mistake(
            "all sentences in one bag",
            _one_bag,
            "a constituent of one sentence matches that of another: you count all sentences as "
            "one. Match sentence by sentence, then add.",
        ),
        Mistake(
            "precision",
            lambda p, g: 100 * _counted(p, g)[0] / _counted(p, g)[1],
            "this is precision: the share of predicted constituents that are right. F1 also asks "
            "how many gold ones were found.",
        ),
        Mistake(
            "recall",
            lambda p, g: 100 * _counted(p, g)[0] / _counted(p, g)[2],
            "this is recall: the share of gold constituents that were found. F1 also asks how "
            "many predicted ones are right.",
        ),
        Mistake(
            "arithmetic mean",
            lambda p, g: 50 * _counted(p, g)[0] * (1 / _counted(p, g)[1] + 1 / _counted(p, g)[2]),
            "you take the arithmetic mean of precision and recall. F1 is the harmonic one: "
            "2 · matches / (predicted + gold).",
        ),
        Mistake(
            "geometric mean",
            _geometric,
            "you take the geometric mean of precision and recall. F1 is the harmonic one: "
            "2 · matches / (predicted + gold).",
        ),
        Mistake(
            "overlap",
            _overlap,
            "you divide by what stands on either side. F1 is 2 · matches / (predicted + gold).",
        ),
        Mistake(
            "the last sentence",
            lambda p, g: f1_of(p[-1:], g[-1:]) if p[-1] or g[-1] else 0.0,
            "only the last sentence is in your score. Add up in the loop, divide after it.",
        ),
        Mistake(
            "the first sentence",
            lambda p, g: f1_of(p[:1], g[:1]),
            "only the first sentence is in your score. Add up in the loop, return after it.",
        ),
        Mistake(
            "not in percent",
            lambda p, g: f1_of(p, g) / 100,
            "the score is right, but not in percent: Table 4 has 91.3, not 0.913.",
        ),
        Mistake(
            "the 2 forgotten",
            lambda p, g: f1_of(p, g) / 2,
            "your score is half of F1: 2 · matches / (predicted + gold).",
        ),
        Mistake(
            "share of exact trees",
            lambda p, g: 100 * fmean(a == b for a, b in zip(p, g, strict=True)),
            "you count sentences whose tree is right as a whole. F1 counts constituents.",
        ),
    ],
    right="`f1` is right: matched brackets of the whole corpus, labels and repetitions included",
)


def package_agrees(predicted: Sequence[Tree], gold: Sequence[Tree]) -> bool:
    """Whether the reference of the exercise is what the package computes."""
    ours = f1_of([spans_of(tree) for tree in predicted], [spans_of(tree) for tree in gold])
    return abs(ours - 100 * score_brackets(predicted, gold).f1) < 1e-9
