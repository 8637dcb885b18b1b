"""The checks of chapter 18 on constituents as places, and on F1 (§6.3)."""

from collections import Counter
from collections.abc import Callable, Sequence
from statistics import fmean

from transformer.parsing.brackets import Span, labelled_spans
from transformer.parsing.trees import Tree, leaves, parse_brackets
from walkthrough.checking import Case, Check, Mistake, fixed

Spans = list[Span]

# Constituents as places --------------------------------------------------------------------------


def spans_of(tree: Tree) -> Spans:
    """Return the labelled spans of a tree, sorted."""
    return sorted(labelled_spans(tree).elements())


def _without_root(tree: Tree) -> Spans:
    found = spans_of(tree)
    found.remove((tree[0], 0, sum(1 for _ in leaves(tree))))
    return found


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


spans = Check(
    name="spans",
    reference=spans_of,
    cases=[
        fixed("two words", parse_brackets("(S (NP Jane) (VP sings))")),
        fixed(
            "a phrase that begins with one of its own label",
            parse_brackets("(S (NP Jane) (VP visits (NP (NP Africa) (PP in (NP September)))))"),
        ),
        fixed(
            "a label twice over the same words",
            parse_brackets("(S (ADVP now) (NP (NP mice)) (VP run))"),
        ),
        fixed(
            "words beside phrases, one of them twice",
            parse_brackets("(S (NP the cat) sees (NP the dog) .)"),
        ),
        fixed("one constituent", parse_brackets("(NP the old house)")),
        Case(
            "a phrase that holds another and nothing else",
            fixed("", parse_brackets("(S (VP (NP two words)) follow)")).make,
            "`VP` has one child, and that child has two words: both count.",
        ),
    ],
    mistakes=[
        Mistake(
            "end included",
            lambda tree: [(label, start, end - 1) for label, start, end in spans_of(tree)],
            "your ends are the places of the last words. The end is the place *after* the last "
            "word, so that end − start is the number of words.",
        ),
        Mistake(
            "root left out",
            _without_root,
            "the outermost constituent is missing. It counts like the others here.",
        ),
        Mistake(
            "restarted in each constituent",
            _restarted,
            "your starts begin again inside each constituent. All places are counted from the "
            "first word of the sentence.",
        ),
        Mistake(
            "children for words",
            _by_children,
            "you count children. A child that is a tree holds several words: add what it holds, "
            "not 1.",
        ),
    ],
    right="`spans` is right: every bracket once, in places between words",
)

# F1 ----------------------------------------------------------------------------------------------

Side = Sequence[Sequence[Span]]


def f1_of(predicted: Side, gold: Side) -> float:
    """Return labelled F1 over a corpus, in percent."""
    matched, ours, theirs = _counted(predicted, gold)
    return 200 * matched / (ours + theirs)


def _counted(predicted: Side, gold: Side) -> tuple[int, int, int]:
    """Return how many constituents match, are predicted, and are gold."""
    pairs = [(Counter(p), Counter(g)) for p, g in zip(predicted, gold, strict=True)]
    return (
        sum((p & g).total() for p, g in pairs),
        sum(p.total() for p, _ in pairs),
        sum(g.total() for _, g in pairs),
    )


def _of_trees_only(predicted: Side, gold: Side) -> float:
    pairs = [(p, g) for p, g in zip(predicted, gold, strict=True) if p]
    return f1_of([p for p, _ in pairs], [g for _, g in pairs])


def _unclipped(predicted: Side, gold: Side) -> float:
    _, ours, theirs = _counted(predicted, gold)
    matched = sum(span in g for p, g in zip(predicted, gold, strict=True) for span in p)
    return 200 * matched / (ours + theirs)


def _arithmetic(predicted: Side, gold: Side) -> float:
    matched, ours, theirs = _counted(predicted, gold)
    return 50 * (matched / max(ours, 1) + matched / theirs)


def _each(change: Callable[[Sequence[Span]], Spans]) -> Callable[[Side, Side], float]:
    """Return F1 after a change of every sentence's constituents."""
    return lambda predicted, gold: f1_of(list(map(change, predicted)), list(map(change, gold)))


def _corpus(*texts: str) -> list[Spans]:
    return [spans_of(parse_brackets(text)) if text else [] for text in texts]


f1 = Check(
    name="f1",
    reference=f1_of,
    tolerance=1e-3,  # a score may be rounded to a decimal
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
        Case(
            "a label gold twice, predicted once",
            fixed("", _corpus("(S (NP a) (VP b))"), _corpus("(S (NP (NP a)) (VP b))")).make,
            "A predicted constituent can find one gold one: the smaller of the two counts.",
        ),
        fixed(
            "a label twice over the same words in both",
            _corpus("(S (NP (NP a)) (VP b))"),
            _corpus("(S (NP (NP a)) b)"),
        ),
        fixed("no label right", _corpus("(S (PP a) b)"), _corpus("(NP (VP a) b)")),
        Case(
            "two labels exchanged",
            fixed("", _corpus("(S (VP a) (NP b))"), _corpus("(S (NP a) (VP b))")).make,
            "All labels are there, and all places, but not together: (label, start, end) is "
            "matched as a whole.",
        ),
        fixed(
            "one sentence's constituents in the other's",
            _corpus("(S (NP a) b)", "(S a b)"),
            _corpus("(S a b)", "(S (NP a) b)"),
        ),
        Case(
            "nothing predicted at all",
            fixed("", _corpus("", ""), _corpus("(S a b)", "(S (NP a) b)")).make,
            "Nothing matches, so F1 is 0: 2 · matches / (predicted + gold).",
        ),
    ],
    mistakes=[
        Mistake(
            "mean over sentences",
            lambda predicted, gold: fmean(
                f1_of([p], [g]) for p, g in zip(predicted, gold, strict=True)
            ),
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
            _each(lambda found: sorted(set(found))),
            "a constituent that stands twice counts once. Count brackets: `Counter`, not `set`.",
        ),
        Mistake(
            "not used up",
            _unclipped,
            "a gold constituent matches as often as it is predicted. It can be found once only: "
            "the smaller of the two counts.",
        ),
        Mistake(
            "without labels",
            _each(lambda found: [("", start, end) for _, start, end in found]),
            "labels make no difference in your score. A constituent is right when its label is.",
        ),
        Mistake(
            "all sentences in one bag",
            lambda p, g: f1_of([[s for one in p for s in one]], [[s for one in g for s in one]]),
            "a constituent of one sentence matches that of another: you count all sentences as "
            "one. Match sentence by sentence, then add.",
        ),
        Mistake(
            "arithmetic mean",
            _arithmetic,
            "you take the arithmetic mean of precision and recall. F1 is the harmonic one: "
            "2 · matches / (predicted + gold).",
        ),
    ],
    right="`f1` is right: matched brackets of the whole corpus, labels and repetitions included",
)
