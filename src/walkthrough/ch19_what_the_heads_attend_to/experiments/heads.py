"""Experiment 19-heads: translators of the second corpus, both ways, and their heads (§7)."""

from walkthrough.ch19_what_the_heads_attend_to.experiments import asking, measuring
from walkthrough.lab import Arm, Experiment, Job, Loaded, Outcome
from walkthrough.lab.tasks import settings_of


def look_and_ask(job: Job) -> Outcome:
    """Train one translator; look at its heads, and ask it with edges hidden and heads silent."""
    settings = settings_of(asking.SETTINGS, job.arm, job.key)
    fewer, few = ({"train": 600}, {"n": 3, "n_sentences": 3}) if job.small else ({}, {})
    translator = asking.train_translator(str(job.arm.labels["source"]), settings, **fewer)
    found = measuring.measure(translator, **few)
    return Outcome(
        figures={"test/greedy/exact": found.pop("exact")},
        extra=found,
        parameters=translator.model.n_parameters,
    )


EXPERIMENT = Experiment(
    name="19-heads",
    question="Do heads look at the word that decides a translation, and does it need the look?",
    task=Loaded(),
    arms=[
        Arm("from English", labels={"source": "en"}),
        Arm("from French", labels={"source": "fr"}),
    ],
    seeds=range(1, 6),
    lengths=(asking.SETTINGS.max_updates,),
    run=look_and_ask,
)
