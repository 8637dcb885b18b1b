"""Experiment 19-heads: two translators a seed, one from each language, and their heads (§7)."""

from functools import cache, partial

from walkthrough.ch19_what_the_heads_attend_to.experiments import asking, measuring
from walkthrough.lab import Arm, Experiment, Job, Key, Loaded, Outcome
from walkthrough.lab.tasks import settings_of

LANGUAGES = {"en": "english", "fr": "french"}


@cache
def tests_of(seed: int, length: int, small: bool) -> list[measuring.Test]:
    """Train both translators of a seed, once a process, and return what they are asked."""
    settings = settings_of(asking.SETTINGS, Arm("any"), Key("any", length=length, seed=seed))
    found = []
    for language in LANGUAGES:
        fewer = {"train": 600} if small else {}
        translator = asking.train_translator(language, settings, **fewer)
        n = 6 if small else measuring.N_QUESTIONS
        found += [measuring.test_of(translator, name, n) for name in measuring.names_of(language)]
    return found


def answer(job: Job, closed: str) -> Outcome:
    """Ask both translators everything while edges are closed; if none is, look at their heads."""
    tests = tests_of(job.seed, job.length, job.small)
    figures = {
        f"{measuring.SPLITS[test.name]}/forced/accuracy": measuring.CLOSED[closed](test)
        for test in tests
    }
    if closed != "trained":
        return Outcome(figures=figures)
    n = 3 if job.small else measuring.N_SENTENCES
    for test in (tests[0], tests[-1]):
        translator = test.translator
        name = LANGUAGES[translator.codec.source_language]
        sentences = measuring.known_sentences(translator, "test", n)
        figures[f"{name}/greedy/exact"] = measuring.exact(translator, sentences)
        figures |= tree_figures(translator, n)
    few = measuring.N_FOR_SETS if not job.small else 3
    makes = measuring.test_of(tests[0].translator, measuring.MAKES, few)
    extra = {
        "relations": {test.name: measuring.where(test) for test in tests},
        "sets": measuring.sets_of_heads(makes),
    }
    return Outcome(figures=figures, extra=extra, parameters=tests[0].translator.model.n_parameters)


def tree_figures(translator: asking.Translator, n: int) -> dict[str, float]:
    """Return the figures of the trees read out of a translator's best encoder head."""
    name = LANGUAGES[translator.codec.source_language]
    return {f"{name}/{how}/f1": f1 for how, f1 in measuring.tree_f1(translator, n).items()}


def untrained(job: Job) -> Outcome:
    """Read trees out of both translators as they were before their first update."""
    figures: dict[str, float] = {}
    for language in LANGUAGES:
        fresh = asking.new_translator(language, asking.words(small=job.small), seed=job.seed)
        figures |= tree_figures(fresh, 3 if job.small else measuring.N_SENTENCES)
    return Outcome(figures=figures)


def right_branching(job: Job) -> Outcome:
    """Score the trees that open a bracket at every word, and others that look at nothing."""
    figures, extra = {}, {}
    for language, name in LANGUAGES.items():
        fresh = asking.new_translator(language, asking.words(small=job.small), seed=job.seed)
        extra[name] = measuring.baseline_trees(fresh, 3 if job.small else measuring.N_SENTENCES)
        for how in ("plain", "bias", "best_bias"):
            figures[f"{name}/{how}/f1"] = extra[name]["right-branching"]
    return Outcome(figures=figures, extra=extra)


EXPERIMENT = Experiment(
    name="19-heads",
    question="Do heads look at the word that decides a translation, and which looks does it need?",
    task=Loaded(),
    base="trained",
    rival="untrained",
    no_rate="heads of ten finished translators are asked; the other arms close parts of these",
    arms=[
        *(Arm(name, run=partial(answer, closed=name)) for name in measuring.CLOSED),
        Arm("untrained", run=untrained),
        Arm("right-branching", run=right_branching),
    ],
    lengths=(asking.SETTINGS.max_updates,),
)
