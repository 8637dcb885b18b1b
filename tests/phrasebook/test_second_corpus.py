"""The second corpus: right French and English, splits that share nothing, answers that are gold."""

import inspect
from itertools import islice

import pytest
from golden_pairs import fingerprint
from grammar_rules import english_errors, french_errors
from jaxtyping import config

from phrasebook import phrasebook
from phrasebook.questions import RELATIONS, Question, questions
from phrasebook.second_corpus import DISTANT, distant_phrasebook, distant_sentences, split_of
from transformer.parsing.trees import leaves


@pytest.fixture(autouse=True, scope="module")
def without_shape_checks():
    """Many small calls: enforcing their annotations would take a minute."""
    config.update("jaxtyping_disable", True)
    yield
    config.update("jaxtyping_disable", False)


@pytest.fixture(scope="module")
def pool():
    return {split: list(islice(distant_sentences(split), n)) for split, n in SIZES.items()}


SIZES = {"train": 3_000, "valid": 300, "test": 300}


def test_the_second_corpus_is_as_it_was(pool):
    """What the book says of heads was measured on these sentences."""
    assert {split: fingerprint(examples) for split, examples in pool.items()} == {
        "train": "365dc28f64ff64b607d33070ac22f450cfd89dbe2ef560cac466344b0d5a12f3",
        "valid": "81fd1861782665303b0a188164fa017699d883e5edf16e5fd668f62ad30b8829",
        "test": "ede71e6b8158c02ab934f6a1e0c1c9c99ce581abe67746a6d1edafc0fb21a480",
    }


def test_no_sentence_breaks_a_rule_of_either_language(pool):
    for examples in pool.values():
        for example in examples:
            assert not french_errors(list(example.source)), example.source_text
            assert not english_errors(list(example.target)), example.target_text


def test_one_french_sentence_has_one_english_one(pool):
    english = {}
    for examples in pool.values():
        for example in examples:
            assert english.setdefault(example.source, example.target) == example.target


def test_trees_hold_the_words_and_every_english_word_is_aligned(pool):
    for example in pool["train"]:
        assert tuple(leaves(example.source_tree)) == example.source
        assert tuple(leaves(example.target_tree)) == example.target
        assert {j for _, j in example.alignment} == set(range(len(example.target)))


def test_splits_share_no_sentence_of_either_language(pool):
    sides = {
        split: {side for e in examples for side in (e.source, e.target)}
        for split, examples in pool.items()
    }
    assert not sides["train"] & sides["valid"]
    assert not sides["train"] & sides["test"]
    assert not sides["valid"] & sides["test"]
    assert all(split_of(e) == split for split, examples in pool.items() for e in examples)


def test_the_corpus_is_the_same_every_time_and_knows_its_words():
    sizes = {"train": 2_000, "valid": 50, "test": 50}
    book = distant_phrasebook(**sizes)
    distant_phrasebook.cache_clear()
    assert distant_phrasebook(**sizes) == book
    words = book.vocabulary()
    for example in book.valid + book.test_sentences:
        assert all(word in words for word in example.source + example.target)
    assert not book.held_out


def test_a_small_corpus_holds_no_word_that_training_lacks():
    book = distant_phrasebook(train=150, valid=20, test=30)
    assert [len(split) for split in book.splits().values()] == [150, 20, 30, 0]
    words = {word for example in book.train for word in example.source + example.target}
    for example in book.valid + book.test_sentences:
        assert words.issuperset(example.source + example.target)


def sentences_of(book, split):
    return {"train": book.train, "valid": book.valid, "test": book.test_sentences}[split]


def test_another_seed_gives_other_sentences_in_every_split():
    sizes = {"train": 150, "valid": 20, "test": 20}
    by_seed = [distant_phrasebook(seed, **sizes) for seed in (0, 1)]
    assert [book.seed for book in by_seed] == [0, 1]
    for split in SIZES:
        for seed, book in enumerate(by_seed):
            drawn = list(islice(distant_sentences(split, seed=seed), 150))
            assert set(drawn).issuperset(sentences_of(book, split))
            assert not set(drawn).issuperset(sentences_of(by_seed[1 - seed], split))
    assert distant_phrasebook(**sizes) == by_seed[0]
    assert next(distant_sentences("train")) == by_seed[0].train[0]


def test_both_corpora_are_of_one_size_unless_others_are_asked_for():
    assert inspect.signature(distant_phrasebook) == inspect.signature(phrasebook)
    assert distant_phrasebook.cache_info().maxsize <= 2  # each takes much memory


def test_no_such_split_or_structure():
    with pytest.raises(ValueError, match="split must be one of train, valid, test, got 'dev'"):
        next(distant_sentences("dev"))
    with pytest.raises(ValueError, match=r"structures must be among made, .* got 'sung'"):
        next(distant_sentences("train", structures=("sung",)))


# --- questions --------------------------------------------------------------------------------


def of_sentence(name, french):
    """What a relation asks about the drawn sentence that is written so."""
    relation = RELATIONS[name]
    drawn = islice(distant_sentences("test", structures=relation.structures), 100)
    example = next(example for example in drawn if example.source_text == french)
    return list(questions(example, relation))


# Relation, French sentence; the word asked about, its answers, the right and the wrong
# translations, and where the answers are already translated before them.
BY_HAND = [
    (
        ("makes → fait, rend", "La nouvelle amie rend la tarte pour l'homme plus chère."),
        ("makes", ["more", "expensive"], "rend", ("fait",), []),
    ),
    (
        (
            "makes → fait, rend",
            "Jane rend la liste pour Alice plus longue mais la lettre est plus longue.",
        ),
        ("makes", ["longer"], "rend", ("fait",), []),
    ),
    (
        ("makes → fait, rend", "Thomas et Paul font la liste."),
        ("make", [], "font", ("rendent",), []),
    ),
    (
        ("it → il, elle", "Alice lit cette histoire le soir parce qu'elle est longue."),
        ("it", ["story"], "elle", ("il",), ["histoire"]),
    ),
    (
        ("it → le, la", "La voisine cherche un chapeau mais ne le trouve pas."),
        ("it", ["hat"], "le", ("la",), ["chapeau"]),
    ),
    (
        ("its, his, her → son, sa, ses", "Paul admire l'Espagne en automne pour ses musées."),
        ("its", ["Spain"], "ses", ("son", "sa"), ["Espagne"]),
    ),
    (
        ("il, elle → it, he, she", "Paul admire cette voiture parce qu'il est italien."),
        ("il", ["Paul"], "he", ("it", "she"), ["Paul"]),
    ),
    (
        ("le, la, l' → it, him, her", "Thomas connaît l'homme et l'aide."),
        ("l'", ["homme"], "him", ("it", "her"), ["man"]),
    ),
]


@pytest.mark.parametrize(("asked_of", "expected"), BY_HAND)
def test_questions_asked_by_hand(asked_of, expected):
    (question,) = of_sentence(*asked_of)
    word, answers = said(question)
    written = [question.target[place] for place in question.written]
    assert (word, answers, question.right, question.wrong, written) == expected


def test_a_question_says_where_its_words_stand():
    french = "Le médecin célèbre vend la maison en Europe parce qu'il est vieux."
    english = "the famous doctor sells the house in Europe because he is old"
    assert of_sentence("he, she → il, elle", french) == [
        Question(
            relation="he, she → il, elle",
            source=tuple(english.split()),
            target=tuple(french.replace("L", "l").replace("'", "' ").rstrip(".").split()),
            query=9,
            answers=(2,),
            predicted=10,
            wrong=("elle",),
            written=(1,),
        )
    ]


def test_a_person_is_not_asked_about_as_a_thing():
    french = "Paul admire cette voiture parce qu'il est italien."
    assert of_sentence("it → il, elle", french) == []


def test_two_relations_are_controls_that_need_no_answer():
    """The French word says the gender, or what is owned: English `he` and `his` say no more."""
    assert [name for name, relation in RELATIONS.items() if not relation.needed] == [
        "he, she → il, elle",
        "its, his, her → son, sa, ses",
    ]


def asked(name, n=100):
    relation = RELATIONS[name]
    drawn = distant_sentences("test", structures=relation.structures)
    return list(islice((q for e in drawn for q in questions(e, relation)), n))


def said(question):
    return question.source[question.query], [question.source[a] for a in question.answers]


@pytest.mark.parametrize("name", RELATIONS)
def test_a_question_asks_about_its_word_and_has_wrong_answers(name):
    for question in asked(name):
        assert question.source[question.query] in RELATIONS[name].asks
        assert question.right not in question.wrong
        assert question.query not in question.answers


@pytest.mark.parametrize("name", RELATIONS)
def test_no_fixed_distance_answers_two_in_three(name):
    answered = [question for question in asked(name) if question.answers]
    for offset in range(-20, 21):
        hits = sum(question.query + offset in question.answers for question in answered)
        assert hits < 2 / 3 * len(answered)


def test_makes_is_rend_where_more_follows_its_own_object():
    for question in asked("makes → fait, rend"):
        word, answers = said(question)
        assert word in ("makes", "make")
        assert bool(answers) == (question.right in ("rend", "rendent"))
        assert len(answers) < 2 or answers[0] == "more"
        other = question.source[question.query :].index("but") if "but" in question.source else 99
        assert all(answer < question.query + other for answer in question.answers)


def test_some_sentences_say_more_of_another_thing():
    trapped = [q for q in asked("makes → fait, rend") if not q.answers and "more" in q.source]
    assert len(trapped) >= 5


def test_he_is_a_man_it_is_a_thing():
    for question in asked("il, elle → it, he, she"):
        (noun,) = said(question)[1]
        is_person = noun in {"Jane", "Alice", "Paul", "Thomas"} or noun in PEOPLE
        assert is_person == (question.right in ("he", "she"))


PEOPLE = {
    *("étudiant", "étudiante", "professeur", "médecin", "voisin", "voisine", "ami", "amie"),
    *("acteur", "actrice", "homme", "femme"),
}


def test_no_shortcut_tells_the_gender_of_it_from_that_of_the_subject():
    """In half of the sentences both are of one gender."""
    drawn = islice(distant_sentences("test", structures=("because_who",)), 400)
    same = total = 0
    for example in drawn:
        subject = example.source[0]
        if subject in ("Jane", "Alice", "Paul", "Thomas") and "it" in example.target:
            pronoun = next(word for word in example.source if word in ("il", "elle"))
            same += (subject in ("Jane", "Alice")) == (pronoun == "elle")
            total += 1
    assert 0.3 < same / total < 0.7


def test_every_structure_is_drawn(pool):
    assert {example.structure for example in pool["train"]} == set(DISTANT)
