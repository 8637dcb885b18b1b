"""Splits by shape, ways of counting, and what is read from the records."""

import pytest

from transformer.parsing.brackets import labelled_spans, score_brackets
from transformer.parsing.codec import TreeCodec
from transformer.parsing.trees import TaggedTree, brackets, leaves, parse_brackets
from walkthrough.ch18_constituency_parsing.experiments import craft, measuring, phrase_trees
from walkthrough.ch18_constituency_parsing.experiments.published import TABLE_4
from walkthrough.lab import Job, Key

GOLD = parse_brackets("(S (NP a) (VP b (NP c d) (PP e (NP f))))")


@pytest.fixture(scope="module")
def split():
    return phrase_trees.split_by_shape(n_sentences=1500, n_test=20)


def test_a_shape_that_is_held_out_is_nowhere_in_training(split):
    known = {phrase_trees.shape(example) for example in split.train}
    assert known.isdisjoint(phrase_trees.shape(e) for e in split.held_out_shapes)
    assert known.issuperset(phrase_trees.shape(e) for e in split.seen_shapes)
    assert split.held_out_shapes
    sentences = {example.target for example in split.train}
    assert sentences.isdisjoint(e.target for e in split.held_out_shapes)


def test_a_parser_of_one_update_writes_trees_under_rules(split):
    parser = phrase_trees.train_parser(split.train[:300], settings=phrase_trees.ONE_UPDATE)
    known = [e for e in split.held_out_shapes if all(w in parser.codec.words for w in e.target)]
    for beam in (1, 3):
        _, share = phrase_trees.score_parser(parser, known[:2], constrained=True, beam=beam)
        assert share == 1
    steps = phrase_trees.along(parser, phrase_trees.words_of(known[0]))
    assert steps.allowed.shape == steps.probabilities.shape
    assert len(steps.allowed) == len(steps.written) + 1
    assert 0 <= steps.first_closed <= len(steps.written)


SENTENCE = "Jane visits Africa in September"
LEGAL = "(S (NP Jane )NP (VP visits (NP Africa )NP (PP in (NP September )NP )PP )VP )S"
CODEC = TreeCodec.learn([SENTENCE], [LEGAL], leaf="word", min_count=1)


@pytest.mark.parametrize(
    ("symbols", "tree"),
    [
        (LEGAL, "(S (NP Jane) (VP visits (NP Africa) (PP in (NP September))))"),
        ("", "(S Jane visits Africa in September)"),
        ("Jane (VP visits", "(VP Jane visits Africa in September)"),
        ("(S (NP Jane )VP )S visits (NP )NP", "(S (NP Jane) visits Africa in September)"),
        ("(S (VP (NP Jane visits )VP Africa", "(S (VP (NP Jane visits)) Africa in September)"),
        ("(S (S Jane )S )S (PP in in in in in in", "(S (S Jane) (PP visits Africa in September))"),
    ],
)
def test_repair_makes_a_tree_of_anything(symbols, tree):
    assert brackets(phrase_trees.repair(CODEC, symbols, SENTENCE)) == tree


def test_the_arms_of_a_seed_are_one_parser(split, monkeypatch):
    made = []
    train = phrase_trees.train_parser
    monkeypatch.setattr(
        phrase_trees, "train_parser", lambda *a, **b: made.append(b) or train(*a, **b)
    )
    e = phrase_trees.EXPERIMENT
    small = phrase_trees.Split(split.train[:300], split.train[:2], split.train[2:4])
    found = {
        arm.name: e.run(Job(e, arm, Key(arm.name, length=1, seed=1), small, small=True))
        for arm in e.arms
    }
    assert len(made) == 1
    assert [r.figures["held_out/greedy/well_formed"] for r in found.values()][1:] == [1, 1]
    for outcome in found.values():
        matched, predicted, gold = outcome.counts["seen/beam21/f1"].sum(axis=0)
        assert outcome.figures["seen/beam21/f1"] == pytest.approx(
            200 * matched / (predicted + gold)
        )


def test_trees_without_a_parser_have_the_words():
    for make in (measuring.flat, measuring.right_branching):
        assert list(leaves(make(("a", "b", "c")))) == ["a", "b", "c"]
        assert list(leaves(make(("a",)))) == ["a"]
    assert measuring.right_branching(("a", "b", "c", ".")) == (
        "S",
        "a",
        ("VP", "b", ("VP", "c")),
        ".",
    )


def test_conventions_by_hand():
    chain = parse_brackets("(S (NP (NP mice)) (VP run) .)")
    assert measuring.as_a_set(chain).total() == labelled_spans(chain).total() - 1
    assert ("S", 0, 3) not in measuring.without_root(chain)
    assert measuring.without_labels(chain)["", 0, 1] == 2
    assert measuring.without_punctuation(chain)["S", 0, 2] == 1
    particle = parse_brackets("(S (PRT up) (PRN ,) go)")
    assert set(measuring.without_punctuation(particle)) == {("ADVP", 0, 1), ("S", 0, 2)}


def test_the_first_convention_is_the_packages():
    other = parse_brackets("(S (NP a) (VP b (NP c d (PP e (NP f)))))")
    found = measuring.measured([other, None], [GOLD, GOLD])
    score = score_brackets([other, None], [GOLD, GOLD])
    assert found["f1"] == pytest.approx(100 * score.f1)
    assert found["conventions"]["all words, all labels"] == pytest.approx(found["f1"])
    assert found["well_formed"] == 0.5
    assert measuring.counts_of([other, None], [GOLD, GOLD]).tolist() == [[5, 6, 6], [0, 0, 6]]


def test_table_4_as_the_paper_prints_it():
    ours = [(system.training, system.f1) for system in TABLE_4 if system.is_transformer]
    assert ours == [("WSJ only", 91.3), ("semi-supervised", 92.7)]
    assert len(TABLE_4) == 12
    assert max(TABLE_4, key=lambda system: system.f1).f1 == 93.3


def test_every_run_on_the_test_articles_is_a_row_for_each_way_of_decoding():
    tested = craft.tested()
    assert not tested.isna().any(axis=None)
    assert tested["f1"].between(0, 100).all()
    first = tested[tested["parser"] == craft.WORDS].groupby("sentences")["decode"].unique()
    ways = list(craft.WAYS)
    assert [set(found) for found in first] == [
        set(ways),
        set(ways),
        {*ways, *craft.REPAIRED.values()},
    ]


def test_a_part_is_the_one_that_the_corpus_draws(monkeypatch):
    from transformer.parsing import craft as module

    trees = [TaggedTree(GOLD, tuple(f"{n}{tag}" for tag in "ABCDEF")) for n in range(6)]
    monkeypatch.setattr(module, "craft_trees", lambda **options: {"train": tuple(trees)})
    drawn = module.craft_corpus("train", gold_tags=True, max_sentences=3).source
    assert [line.split()[0][2:] for line in drawn] == [t.tags[0] for t in craft.part_of(trees, 3)]
    assert craft.part_of(trees, 6) == trees


def test_grammars_and_no_parser_are_scored(monkeypatch):
    trees = [
        TaggedTree(parse_brackets(f"(S (NP the {noun}) (VP {verb}) .)"), ("DT", "NN", "VB", "."))
        for noun in ("cat", "dog", "mouse")
        for verb in ("sleeps", "sings")
    ]
    monkeypatch.setattr(craft, "EVERY", {"dev": 2, "test": 2})
    splits = {"train": trees, "dev": trees, "test": trees}
    for arm in craft.GRAMMARS.arms:
        found = arm.run(Job(craft.GRAMMARS, arm, Key(arm.name), splits))
        ((f1,),) = ([v for n, v in found.figures.items() if n.endswith("/f1")],)
        assert f1 == 100 if "PCFG" in arm.name else f1 < 70


EVALB = {
    "(S (A this) (B is (A a test)))": (4, 4, 4),
    "(S (A this) (B is (C a test)))": (3, 4, 4),
    "(S (C this) (B is (A a test)))": (3, 4, 4),
    "(S (A this) (B is a (A test)))": (3, 4, 4),
    "(S (A this is) (A a test))": (2, 4, 3),
    "(S this is a test)": (1, 4, 1),
    "(S (A this) (B is (A (A a test))))": (4, 4, 5),
    "(S (A this) (B is (A (A (A (A (A a test)))))))": (4, 4, 8),
}
"""What the C program prints for its sample: matched brackets, gold ones, predicted ones.

https://nlp.cs.nyu.edu/evalb/, `sample/sample.tst` and `sample.rsl`: the sentences whose words agree
and on which its settings leave nothing out. The first is the gold tree of all of them.
"""


def test_brackets_are_counted_as_evalb_counts_them():
    def counts(spans):
        gold = spans(parse_brackets(next(iter(EVALB))))
        found = {text: spans(parse_brackets(text)) for text in EVALB}
        return {t: ((f & gold).total(), gold.total(), f.total()) for t, f in found.items()}

    assert counts(labelled_spans) == EVALB
    for name, other in measuring.CONVENTIONS.items():  # the sample tells the others apart
        agrees = counts(other) == EVALB
        assert agrees == (name in ("all words, all labels", "without punctuation (COLLINS.prm)"))
