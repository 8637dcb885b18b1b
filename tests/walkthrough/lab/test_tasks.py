"""A task trains what the arm and the key say, and tells what that cost."""

import time

import pytest
from toy import toy

from transformer.training import TrainSettings
from walkthrough.lab import Arm, Job, Key, Loaded, Trained, copying, runner
from walkthrough.lab.measures import copied, exact, next_word, perplexity
from walkthrough.lab.tasks import copying as copying_task
from walkthrough.lab.tasks import phrasebook, settings_of


def job(task, arm, data=None, **key):
    return Job(toy(task=task, arms=[arm], base=arm.name), arm, Key(arm.name, **key), data)


def test_the_phrasebook_trains_what_arm_and_key_say():
    task = phrasebook("training.smoothing=0.3")
    data = task.load(small=True)
    assert data.plan.training.smoothing == 0.3
    assert [len(data.pairs(s)) for s in ("train", "valid", "test_sentences")] == [300, 20, 10]
    train = {"max_tokens": 500, "log_every": 1}
    small = {"model": {"n_layers": 1, "d_model": 32}, "train": train, "data": {"pairs": 9}}
    arm = Arm("small", **small, after=lambda job, trained: {"seed": job.seed})

    def trained(arm=arm, seed=3):
        return task.train(job(task, arm, data, length=2, seed=seed))

    began = time.process_time()
    found = trained()
    assert 0 < found.cpu_seconds <= time.process_time() - began
    assert [point[:2] for point in found.curve] == [(n, "train/-/loss") for n in (1, 2)]
    assert found.curve == trained().curve != trained(seed=4).curve
    assert found.model.config.n_layers == 1
    assert found.parameters == found.model.n_parameters
    assert found.target_tokens == 2 * sum(len(y) + 1 for _, y in data.pairs("train")[:9])
    assert trained(Arm("built", build=lambda job: found.model, train=train)).model is found.model
    measures = [perplexity("valid"), next_word("valid"), exact("valid", first=1)]
    e = toy(task=task, arms=[arm], base="small", run=None, measures=measures)
    _, outcome = runner.execute(e, Key("small", length=2, seed=3), small=True)
    assert tuple(outcome.figures) == e.figures(3)
    assert outcome.extra == {"seed": 3}
    for told in ("curve", "parameters", "target_tokens"):
        assert getattr(outcome, told) == getattr(found, told)


@pytest.mark.parametrize(("length", "warmup"), [(7000, 3000), (1000, 500), (1, 1), (0, 3000)])
def test_only_a_run_that_is_cut_warms_up_in_less_than_it_was_told(length, warmup):
    settings = TrainSettings(schedule="linear", peak=0.01, max_updates=7000)
    found = settings_of(settings, Arm("a", train={"warmup": 3000}), Key("a", 0.5, length, 7))
    told = {"peak": 0.005, "warmup": warmup, "max_updates": length or 7000}
    assert found == settings.replace(**told, seed=7, threads=1)


def test_a_schedule_without_a_peak_has_no_other_rates():
    assert settings_of(TrainSettings(), Arm("a"), Key("a", length=10)).warmup == 5
    with pytest.raises(ValueError, match="'noam' has no peak"):
        settings_of(TrainSettings(), Arm("a"), Key("a", rate=2))


def test_copying_trains_what_arm_and_key_say():
    task = copying_task()
    for length, warmup in ((3, 1), (4, 2)):
        found = task.train(job(task, Arm("a"), rate=2, length=length, seed=5))
        told = {"peak": 2 * copying.PEAK, "warmup": warmup, "seed": 5, "updates": length}
        model, losses = copying.train("post", "scaled", **told)
        assert found.curve == [(length, "train/-/loss", pytest.approx(sum(losses) / length))]
    assert found.parameters == model.n_parameters
    points = [(n, "train/-/loss", loss) for n, loss in ((20, 2.0), (40, 0.4), (60, 0.6))]
    again = Trained(model=model, curve=points)
    for level, updates in ((0.4, 40), (0.1, 61)):  # 61: not in its 60 updates
        figures = copied(level).of(job(task, Arm("a"), length=60), again).figures
        assert figures["train/-/updates"] == updates
    assert figures["new/-/loss"] == copying.loss_on_new(model)
    arm = Arm("a", model={"norm": "pre"}, train={"warmup": 9})
    began = time.process_time()
    found = task.train(job(task, arm, length=21))
    assert 0 < found.cpu_seconds <= time.process_time() - began
    assert [update for update, *_ in found.curve] == [20]
    config = found.model.config
    sizes = (config.n_layers, config.n_heads, config.d_model, config.d_ff)
    assert (config.norm, config.dropout, sizes) == ("pre", 0.0, (4, 4, 32, 64))
    built = Arm("built", build=lambda job: found.model)
    assert task.train(job(task, built, length=1)).model is found.model


def test_a_task_of_ones_own_loads_little_only_where_it_can_and_does_not_train():
    alone, both = Loaded(list), Loaded(list, dict)
    loaded = [task.load(small=small) for task in (alone, both) for small in (False, True)]
    assert loaded == [[], [], [], {}]
    with pytest.raises(TypeError, match="arm 'a' needs `run`"):
        alone.train(job(alone, Arm("a")))
