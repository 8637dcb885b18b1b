"""The training loop: exact resuming, one schedule step an update, means over target tokens."""

import itertools
import json
import math
import os
import random
import shutil
import signal
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

from transformer.config import TransformerConfig
from transformer.data.batching import Pair, collate
from transformer.model import Transformer
from transformer.training import trainer as trainer_module
from transformer.training.checkpoint import (
    load_checkpoint,
    load_model,
    unique_weights,
)
from transformer.training.history import History, Record
from transformer.training.loss import cross_entropy, label_smoothed_cross_entropy
from transformer.training.objective import perplexity
from transformer.training.run_folder import checkpoints_of, refuse_run_in_use
from transformer.training.schedule import noam_rate
from transformer.training.settings import TrainSettings
from transformer.training.trainer import Trainer, train

CONFIG = TransformerConfig.tiny(vocab_size=20).replace(d_model=16, d_ff=24, n_layers=1)
SETTINGS = TrainSettings(
    max_updates=12,
    max_tokens=40,
    warmup=4,
    schedule="linear",
    peak=1e-2,
    log_every=1,
    valid_every=4,
    save_every=4,
    keep=2,
)


def make_pairs(number: int = 40, seed: int = 0) -> list[Pair]:
    draw = random.Random(seed)
    sources = [[draw.randint(4, 19) for _ in range(draw.randint(1, 8))] for _ in range(number)]
    return [(ids, ids[::-1]) for ids in sources]


PAIRS = make_pairs()


def make_model(seed: int = 0, **changes) -> Transformer:
    torch.manual_seed(seed)
    return Transformer(CONFIG.replace(**changes))


def trained(settings: TrainSettings = SETTINGS, model: Transformer | None = None, **options):
    model = model or make_model()
    history = train(model, PAIRS, settings, progress=False, **options)
    return model, history


def contents(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def assert_same(one: Transformer, other: Transformer) -> None:
    for name, value in unique_weights(one).items():
        assert torch.equal(value, unique_weights(other)[name]), name


def differs(one: Transformer, other: Transformer) -> bool:
    return not torch.equal(one.output_weight, other.output_weight)


def test_same_seed_same_parameters_other_seed_others() -> None:
    first, _ = trained()
    torch.rand(17)  # what happened before must not matter
    again, _ = trained()
    assert_same(first, again)
    other, _ = trained(SETTINGS.replace(seed=2))
    assert differs(first, other)


def test_it_learns() -> None:
    model = make_model(dropout=0.0)
    before = perplexity(model, PAIRS)
    _, history = trained(SETTINGS.replace(max_updates=60), model)
    assert perplexity(model, PAIRS) < 0.7 * before
    assert [record.update for record in history.records] == list(range(1, 61))


@pytest.fixture(scope="module")
def whole_run(tmp_path_factory) -> tuple[Transformer, History, Path]:
    """A run that nobody stopped: model, log, folder."""
    folder = tmp_path_factory.mktemp("runs") / "whole"
    return *trained(folder=folder, valid=PAIRS[:5]), folder


class StopError(Exception):
    """A run that dies without a chance to save."""


@pytest.mark.parametrize(
    ("at", "ending"),  # before, at and after an interval's end, and next to the last update
    [(3, "death"), (3, "SIGTERM"), (4, "SIGINT"), (7, "death"), (7, "SIGTERM"), (11, "SIGINT")],
)
def test_resumed_run_is_bitwise_the_uninterrupted_one(whole_run, tmp_path, at, ending) -> None:
    whole, whole_history, _ = whole_run

    def stop(record: Record) -> None:
        if record.update == at:
            if ending == "death":
                raise StopError
            os.kill(os.getpid(), getattr(signal, ending))

    options = {"folder": tmp_path / "run", "valid": PAIRS[:5]}
    if ending == "death":
        with pytest.raises(StopError):
            trained(callbacks=[stop], **options)
    else:
        _, history = trained(callbacks=[stop], **options)
        assert history.interrupted_by == getattr(signal, ending)
    torch.manual_seed(99)  # another process has another random state
    resumed, history = trained(resume=True, **options)
    assert history.interrupted_by is None
    assert_same(resumed, whole)
    assert [r.loss for r in history.records] == [r.loss for r in whole_history.records]
    assert history.perplexities == whole_history.perplexities


def test_a_float16_run_resumes_with_its_loss_scale(tmp_path: Path) -> None:
    def float16_run(name: str, **options) -> Trainer:
        settings = SETTINGS.replace(precision="float16")
        trainer = Trainer(make_model(), PAIRS, settings, callbacks=options.get("callbacks", ()))
        trainer.scaler.set_growth_interval(3)  # soon enough for a run of 12 updates
        trainer.open(tmp_path / name, resume=options.get("resume", False))
        return trainer

    def stop(record: Record) -> None:
        if record.update == 7:
            raise StopError

    whole, stopped = float16_run("whole"), float16_run("run", callbacks=[stop])
    at_the_start = whole.scaler.state_dict()
    whole.run(progress=False)
    with pytest.raises(StopError):
        stopped.run(progress=False)
    resumed = float16_run("run", resume=True)
    resumed.run(progress=False)
    assert resumed.scaler.state_dict() == whole.scaler.state_dict() != at_the_start
    assert_same(resumed.model, whole.model)


def test_without_the_optimiser_state_the_run_would_be_another(whole_run, tmp_path: Path) -> None:
    trained(SETTINGS.replace(save_every=4, keep=9), folder=tmp_path / "run")
    forgetful = Trainer(
        load_model(tmp_path / "run/checkpoints/000004.safetensors"), PAIRS, SETTINGS
    )
    forgetful.position.update = 4
    forgetful.position.updates_in_epoch = 4
    forgetful.run(progress=False)
    assert differs(forgetful.model, whole_run[0])


def test_rate_moves_once_an_update_not_once_a_batch() -> None:
    settings = SETTINGS.replace(accumulate=3, schedule="noam", peak=None, max_updates=6)
    _, history = trained(settings)
    rates = [record.rate for record in history.records]
    assert rates == [noam_rate(update, d_model=16, warmup=4) for update in range(1, 7)]
    per_batch = [noam_rate(3 * update, d_model=16, warmup=4) for update in range(1, 7)]
    assert rates != per_batch


def gradient_after(trainer: Trainer, group) -> torch.Tensor:
    gradients = []
    trainer.optimizer.zero_grad = lambda: gradients.append(trainer.model.output_weight.grad.clone())
    trainer.step(group)
    return gradients[0]


def test_accumulated_gradient_is_the_mean_over_all_target_tokens() -> None:
    model = make_model(dropout=0.0)
    group = [[0, 1], [2, 3, 4, 5, 6, 7, 8]]
    ours = gradient_after(Trainer(model, PAIRS, SETTINGS.replace(accumulate=2)), group)

    model = make_model(dropout=0.0)
    batch = collate(PAIRS, [*group[0], *group[1]])
    label_smoothed_cross_entropy(model(batch.source, batch.target_in), batch.target_out).backward()
    assert torch.allclose(ours, model.output_weight.grad, atol=1e-6)

    mean_of_means = make_model(dropout=0.0)  # the mistake: short batches weigh as much as long
    for indices in group:
        batch = collate(PAIRS, indices)
        logits = mean_of_means(batch.source, batch.target_in)
        (label_smoothed_cross_entropy(logits, batch.target_out) / 2).backward()
    assert not torch.allclose(ours, mean_of_means.output_weight.grad, atol=1e-4)


def test_every_pair_is_seen_once_an_epoch() -> None:
    trainer = Trainer(make_model(), PAIRS, SETTINGS)
    seen = [index for group in trainer.groups(0) for batch in group for index in batch]
    assert sorted(seen) == list(range(len(PAIRS)))
    assert trainer.groups(0) == trainer.groups(0) != trainer.groups(1)


def test_perplexity_is_unsmoothed_and_without_dropout() -> None:
    model = make_model(dropout=0.5)
    batch = collate(PAIRS)
    model.eval()
    logits = model(batch.source, batch.target_in).detach()
    expected = math.exp(cross_entropy(logits, batch.target_out))
    model.train()
    assert perplexity(model, PAIRS, max_tokens=30) == pytest.approx(expected, rel=1e-5)
    assert model.training
    smoothed = math.exp(label_smoothed_cross_entropy(logits, batch.target_out))
    assert abs(smoothed - expected) > 0.01


def test_folder_holds_settings_log_and_the_newest_checkpoints(tmp_path: Path) -> None:
    model, history = trained(folder=tmp_path, valid=PAIRS[:5], tokenizer="words", notes={"a": 1})
    told = json.loads((tmp_path / "settings.json").read_text())
    assert told["model"] == CONFIG.to_dict()
    assert told["training"] == SETTINGS.to_dict()
    assert told["a"] == 1
    names = sorted(path.name for path in (tmp_path / "checkpoints").iterdir())
    assert names == ["000008.safetensors", "000012.safetensors"]
    newest = tmp_path / "checkpoints" / names[-1]
    assert_same(load_model(newest), model)
    assert load_checkpoint(newest).tokenizer == "words"
    lines = (tmp_path / "log.csv").read_text().splitlines()
    assert len(lines) == 13
    assert lines[0].startswith("update,epoch,loss,rate,gradient_norm,tokens,tokens_per_second")
    assert [update for update, _ in history.perplexities] == [4, 8, 12]


def test_folder_that_holds_a_run(tmp_path: Path) -> None:
    trained(folder=tmp_path)
    with pytest.raises(
        FileExistsError, match="already holds a run: name another folder, or resume"
    ):
        trained(folder=tmp_path)
    with pytest.raises(FileExistsError, match="already holds a run"):
        Trainer(make_model(), PAIRS, SETTINGS).open(tmp_path)


def test_resuming_another_run(tmp_path: Path) -> None:
    trained(folder=tmp_path)
    with pytest.raises(ValueError, match=r"other settings: smoothing \(0.1 in the folder, 0.2 now"):
        trained(SETTINGS.replace(smoothing=0.2), folder=tmp_path, resume=True)
    with pytest.raises(
        ValueError, match=r"other settings: checksum of the training pairs \(\d+ in the fo"
    ):
        train(
            make_model(), make_pairs(seed=1), SETTINGS, folder=tmp_path, resume=True, progress=False
        )
    told = r"max_updates \(12 in the folder, 13 now; a linear schedule ends there, .*--start-from "
    with pytest.raises(ValueError, match=told + f"{tmp_path}/checkpoints/000012.safetensors"):
        trained(SETTINGS.replace(max_updates=13), folder=tmp_path, resume=True)
    trained(SETTINGS.replace(log_every=5), folder=tmp_path, resume=True)


def test_resuming_a_finished_run_changes_nothing(tmp_path: Path) -> None:
    whole, history = trained(folder=tmp_path, notes={"date": "first"})
    before = contents(tmp_path)
    again, history_again = trained(folder=tmp_path, resume=True, notes={"date": "second"})
    assert_same(whole, again)
    assert history_again.records == history.records
    assert contents(tmp_path) == before


def test_loss_that_is_no_number() -> None:
    model = make_model()
    with torch.no_grad():
        model.output_weight.fill_(float("nan"))
    with pytest.raises(FloatingPointError, match=r"the loss is nan at update 1 \(rate 0.0025"):
        trained(model=model)


@pytest.mark.parametrize("broken", ["weights", "moments", "loss"])
def test_what_is_not_finite_replaces_nothing(tmp_path: Path, broken: str) -> None:
    """The loss is looked at only where a row is logged, and that may be after a save."""
    settings = SETTINGS.replace(log_every=50)
    whole, _ = trained(settings, folder=tmp_path / "whole")
    trainer = Trainer(make_model(), PAIRS, settings)
    trainer.open(tmp_path / "run")
    step = trainer.step

    def step_and_break(group, *, stop: bool = False) -> bool:
        stopping = step(group, stop=stop)
        if trainer.position.update == 6:
            parameter = trainer.model.output_weight
            if broken == "loss":
                trainer.since_record.loss = torch.tensor(math.nan)
            elif broken == "moments":
                trainer.optimizer.state[parameter]["exp_avg_sq"][5] = math.inf
            else:
                parameter.data[5] = math.nan
        return stopping

    trainer.step = step_and_break
    with pytest.raises(FloatingPointError, match="no longer finite at update 8, nothing more is"):
        trainer.run(progress=False)
    names = [path.name for path in (tmp_path / "run" / "checkpoints").iterdir()]
    assert names == ["000004.safetensors"]
    resumed, _ = trained(settings, folder=tmp_path / "run", resume=True)
    assert_same(resumed, whole)


def test_clipping_bounds_the_step_and_logs_the_norm_before() -> None:
    _, free = trained(SETTINGS.replace(max_updates=1, warmup=1))
    _, clipped = trained(SETTINGS.replace(max_updates=1, warmup=1, clip=1e-3))
    assert clipped.records[0].gradient_norm == free.records[0].gradient_norm > 1e-3


def test_bfloat16_runs_and_keeps_float32_parameters() -> None:
    model, history = trained(SETTINGS.replace(precision="bfloat16", max_updates=5))
    assert model.output_weight.dtype == torch.float32
    full, full_history = trained(SETTINGS.replace(max_updates=5))
    assert history.records[0].loss == pytest.approx(full_history.records[0].loss, rel=0.02)
    assert differs(model, full)


def test_threads_are_put_back() -> None:
    before = torch.get_num_threads()
    seen = []
    settings = SETTINGS.replace(threads=2, max_updates=2, warmup=1)
    trained(settings, callbacks=[lambda _: seen.append(torch.get_num_threads())])
    assert set(seen) == {2}
    assert torch.get_num_threads() == before


def test_a_pair_longer_than_a_batch() -> None:
    with pytest.raises(ValueError, match="max_tokens"):
        trained(SETTINGS.replace(max_tokens=5))


def test_pairs_spelled_anew_each_epoch_resume_exactly(tmp_path: Path) -> None:
    def spell(epoch: int) -> list[Pair]:
        return make_pairs(seed=epoch)

    def stop(record: Record) -> None:
        if record.update == 9:
            os.kill(os.getpid(), signal.SIGTERM)

    settings = SETTINGS.replace(max_tokens=90)  # about three epochs
    whole, resumed = make_model(), make_model()
    history = train(whole, spell, settings, progress=False)
    assert history.records[-1].epoch >= 2
    train(make_model(), spell, settings, folder=tmp_path, callbacks=[stop], progress=False)
    train(resumed, spell, settings, folder=tmp_path, resume=True, progress=False)
    assert_same(whole, resumed)


def test_dropout_is_on_whatever_mode_the_model_came_in() -> None:
    """A loaded model comes in evaluation mode, and would train without dropout."""
    settings = SETTINGS.replace(max_updates=5)
    as_it_is, _ = trained(settings, make_model(dropout=0.5).train())
    loaded, _ = trained(settings, make_model(dropout=0.5).eval(), valid=PAIRS[:5])
    assert_same(as_it_is, loaded)
    without, _ = trained(settings, make_model(dropout=0.0))
    assert differs(loaded, without)


def test_every_update_draws_its_own_dropout(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[tuple[int, ...]] = []
    monkeypatch.setattr(trainer_module, "seed_from", lambda *parts: drawn.append(parts))
    trained(SETTINGS.replace(max_updates=6, seed=3))
    assert drawn == [(3, update, 0) for update in range(1, 7)]


def test_the_optimiser_is_the_papers() -> None:
    optimizer = Trainer(make_model(), PAIRS, SETTINGS).optimizer
    assert isinstance(optimizer, torch.optim.Adam)
    assert optimizer.defaults["betas"] == (0.9, 0.98)  # §5.3
    assert optimizer.defaults["eps"] == 1e-9
    assert not optimizer.defaults["weight_decay"]
    assert optimizer.defaults["lr"] == 0.0  # a step that no schedule gave a rate moves nothing
    assert optimizer.defaults["fused"] is True  # the last digits of recorded runs are this kernel's


def test_every_epoch_is_spelled_anew() -> None:
    spelled: list[int] = []

    def spell(epoch: int) -> list[Pair]:
        spelled.append(epoch)
        return PAIRS

    history = train(make_model(), spell, SETTINGS.replace(max_tokens=90), progress=False)
    epochs = list(range(history.records[-1].epoch + 1))
    assert len(epochs) >= 3
    assert sorted(set(spelled)) == epochs
    assert spelled[-len(epochs) :] == epochs


def test_a_row_sums_up_all_updates_since_the_row_before() -> None:
    _, each = trained()
    _, some = trained(SETTINGS.replace(log_every=5))
    assert [record.update for record in some.records] == [5, 10, 12]
    tokens = [0, *(record.tokens for record in each.records)]
    sums = [r.loss * (r.tokens - before) for r, before in zip(each.records, tokens, strict=False)]
    start = 0
    for record in some.records:
        end, last = record.update, each.records[record.update - 1]
        loss = sum(sums[start:end]) / (tokens[end] - tokens[start])
        assert record.loss == pytest.approx(loss, rel=1e-5)
        assert (record.tokens, record.rate) == (last.tokens, last.rate)
        assert record.gradient_norm == last.gradient_norm
        start = end
    (first,) = Trainer(make_model(), PAIRS, SETTINGS).groups(0)[0]
    assert tokens[1] == sum(len(PAIRS[index][1]) + 1 for index in first)  # end symbols included


def ticking(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every update take one second of the trainer's clock."""
    clock = SimpleNamespace(perf_counter=itertools.count(0.0).__next__)
    monkeypatch.setattr(trainer_module, "time", clock)


def test_seconds_are_summed_and_give_the_tokens_a_second(monkeypatch) -> None:
    ticking(monkeypatch)
    _, history = trained(SETTINGS.replace(log_every=5))
    assert [record.seconds for record in history.records] == [5, 10, 12]
    tokens = 0
    for record, seconds in zip(history.records, (5, 5, 2), strict=True):
        assert record.tokens_per_second == (record.tokens - tokens) / seconds
        tokens = record.tokens


@pytest.mark.parametrize("at", [3, 6, 7])  # in the first row's updates, at its end, after it
def test_a_row_after_a_resume_is_the_uninterrupted_runs(tmp_path: Path, monkeypatch, at) -> None:
    """Digit for digit: loss, tokens, seconds; what came before the stop belongs to the row, too."""

    def stop_at(trainer: Trainer) -> None:
        step = trainer.step

        def stopping_step(group, *, stop: bool = False) -> bool:
            return step(group, stop=trainer.position.update + 1 == at)

        trainer.step = stopping_step

    ticking(monkeypatch)
    settings = SETTINGS.replace(log_every=6, valid_every=0, save_every=0)
    trained(settings, folder=tmp_path / "whole")
    stopped = Trainer(make_model(), PAIRS, settings)
    stopped.open(tmp_path / "run")
    stop_at(stopped)
    stopped.run(progress=False)
    assert stopped.position.update == at
    torch.manual_seed(5)
    trained(settings, folder=tmp_path / "run", resume=True)
    whole, resumed = ((tmp_path / name / "log.csv").read_text() for name in ("whole", "run"))
    assert whole.count("\n") == 3
    assert resumed == whole


def test_two_runs_in_one_folder_are_refused_at_once(tmp_path: Path) -> None:
    refused: list[str] = []

    def a_second_one(record: Record) -> None:
        if record.update == 5:
            for intrude in (
                lambda: refuse_run_in_use(tmp_path),
                lambda: trained(folder=tmp_path, resume=True),
            ):
                with pytest.raises(BlockingIOError, match="in use: another process trains") as e:
                    intrude()
                refused.append(str(e.value))

    refuse_run_in_use(tmp_path)
    trained(folder=tmp_path, callbacks=[a_second_one])
    assert len(refused) == 2
    refuse_run_in_use(tmp_path)
    trained(folder=tmp_path, resume=True)
    assert not list(tmp_path.glob("**/*.unfinished"))


def test_the_folder_is_free_after_a_run_that_failed(tmp_path: Path) -> None:
    def fail(record: Record) -> None:
        if record.update == 5:
            raise StopError

    with pytest.raises(StopError):
        trained(folder=tmp_path, callbacks=[fail])
    with pytest.raises(ValueError, match="other settings"):
        trained(SETTINGS.replace(seed=5), folder=tmp_path, resume=True)
    (tmp_path / "state.safetensors").write_bytes(b"damaged")
    with pytest.raises(ValueError, match=r"state\.safetensors is damaged"):
        trained(folder=tmp_path, resume=True)
    refuse_run_in_use(tmp_path)


@pytest.mark.parametrize("lost", ["state.safetensors", "settings.json"])
def test_a_run_without_what_it_goes_on_from_is_not_begun_anew(tmp_path: Path, lost: str) -> None:
    """Its best checkpoint and its log would be written over, and its new checkpoints deleted."""
    trained(folder=tmp_path, valid=PAIRS[:5])
    (tmp_path / lost).unlink()
    before = contents(tmp_path)
    newest = tmp_path / "checkpoints" / "000012.safetensors"
    told = f"holds checkpoints up to update 12, but no {lost}: copy it there, or begin a new run "
    with pytest.raises(FileNotFoundError, match=f"{told}.* --start-from {newest}"):
        trained(SETTINGS.replace(max_updates=30), folder=tmp_path, valid=PAIRS[:5], resume=True)
    assert contents(tmp_path) == before
    shutil.rmtree(tmp_path / "checkpoints")
    with pytest.raises(FileNotFoundError, match=f"holds a run, but no {lost}: .*best.safetensors"):
        trained(folder=tmp_path, valid=PAIRS[:5], resume=True)


def test_a_run_that_was_killed_before_its_first_state_is_begun_anew(tmp_path: Path) -> None:
    """Nobody waits at a queue that starts it again: of such a run there is a best checkpoint."""

    def stop(record: Record) -> None:
        if record.update == 3:
            raise StopError

    settings, options = SETTINGS.replace(valid_every=2), {"folder": tmp_path, "valid": PAIRS[:5]}
    with pytest.raises(StopError):
        trained(settings, callbacks=[stop], **options)
    assert (tmp_path / "best.safetensors").exists()
    _, history = trained(settings, resume=True, **options)
    assert history.records[0].update == 1


def test_a_checkpoint_that_a_killed_run_owes_is_written_when_it_goes_on(
    tmp_path: Path, monkeypatch
) -> None:
    """The state comes first: a checkpoint without one tells that the state was lost."""
    with monkeypatch.context() as patch:
        patch.setattr(trainer_module.RunFolder, "save_checkpoint", None)
        with pytest.raises(TypeError):
            trained(folder=tmp_path)
    assert (tmp_path / "state.safetensors").exists()
    trained(SETTINGS.replace(keep=9), folder=tmp_path, resume=True)
    assert [path.stem for path in checkpoints_of(tmp_path)] == ["000004", "000008", "000012"]


def test_a_run_validates_on_one_split(tmp_path: Path) -> None:
    """Patience and the best checkpoint would compare perplexities of two."""
    trained(folder=tmp_path, valid=PAIRS[:5])
    told = r"number of the validation pairs \(5 in the folder, 6 now\), checksum of the validation"
    with pytest.raises(ValueError, match=told):
        trained(folder=tmp_path, valid=PAIRS[:6], resume=True)
    written = tmp_path / "settings.json"
    content = json.loads(written.read_text())
    del content["valid"]  # as runs of before were written
    written.write_text(json.dumps(content))
    trained(folder=tmp_path, valid=PAIRS[:6], resume=True)


def test_what_killed_writes_left_is_removed_by_the_next_run(tmp_path: Path) -> None:
    trained(SETTINGS.replace(max_updates=5), folder=tmp_path)
    ours = ["settings.json", "log.csv", "state.safetensors", "checkpoints/000004.safetensors"]
    for name in ours:
        path = tmp_path / name
        path.with_name(f".{path.name}.12345.unfinished").write_text("half")
    (tmp_path / ".results.json.12345.unfinished").write_text("of another process")
    trained(SETTINGS.replace(max_updates=5), folder=tmp_path, resume=True)
    left = [path.name for path in tmp_path.glob("**/.*.unfinished")]
    assert left == [".results.json.12345.unfinished"]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("settings.json", "{", r"settings\.json is damaged: Expecting property name"),
        ("settings.json", "[]", r"settings\.json must hold an object, got a list"),
        ("settings.json", "{}", r"settings\.json is damaged: it has no section 'model'"),
        ("settings.json", '{"model": 3}', "it has no section 'model'"),
        ("log.csv", "", r"log\.csv is damaged, after 0 rows: the columns must be update,epoch,"),
        ("log.csv", "update,loss\n1,2\n", "after 0 rows: the columns must be"),
        ("log.csv", "{header}\n1,0,x,1,1,1,1,1,\n", "after 0 rows: could not convert .* 'x'"),
        ("log.csv", "{header}\n1,0,1,1,1,1,1,1,\n2,0,1\n", "after 1 rows: "),
        ("log.csv", "{header}\n\udcff", "is damaged, .* can't decode byte"),
    ],
)
def test_damaged_files_of_a_run_are_named(tmp_path: Path, name, content, message) -> None:
    trained(SETTINGS.replace(max_updates=5), folder=tmp_path)
    header = (tmp_path / "log.csv").read_text().splitlines()[0]
    text = content.replace("{header}", header)
    (tmp_path / name).write_bytes(text.encode("utf-8", "surrogateescape"))
    before = make_model(3)
    with pytest.raises(ValueError, match=message):
        trained(SETTINGS.replace(max_updates=5), before, folder=tmp_path, resume=True)
    assert_same(before, make_model(3))


def test_an_update_has_as_many_batches_as_any_other() -> None:
    batches = sum(len(group) for group in Trainer(make_model(), PAIRS, SETTINGS).groups(0))
    sizes = [n for n in range(2, batches) if batches % n]
    assert sizes, "a short last group must be possible, or nothing is tested"
    for size in sizes:
        groups = Trainer(make_model(), PAIRS, SETTINGS.replace(accumulate=size)).groups(0)
        assert [len(group) for group in groups] == [size] * (batches // size)
    (only,) = Trainer(make_model(), PAIRS, SETTINGS.replace(accumulate=batches + 1)).groups(0)
    assert len(only) == batches, "a corpus of less than an update is still trained on"


def test_validation_has_room_for_its_longest_sentence() -> None:
    model = make_model()
    expected = perplexity(model, PAIRS)
    assert perplexity(model, PAIRS, max_tokens=2) == pytest.approx(expected, rel=1e-5)
    one_sided = [([5], [6] * 12), ([5] * 12, [6])]
    assert perplexity(model, one_sided, max_tokens=2) > 1


def test_rows_after_the_update_that_is_resumed_are_not_kept(whole_run, tmp_path: Path) -> None:
    """The log is written before the state: a run that dies between has rows of its future."""

    def stop(record: Record) -> None:
        if record.update == 7:
            raise StopError

    _, whole, folder = whole_run
    options = {"folder": tmp_path / "run", "valid": PAIRS[:5]}
    with pytest.raises(StopError):
        trained(callbacks=[stop], **options)
    shutil.copy(folder / "log.csv", tmp_path / "run/log.csv")
    _, resumed = trained(resume=True, **options)
    assert [record.update for record in resumed.records] == list(range(1, 13))
    written = History.read(tmp_path / "run/log.csv", up_to=99)
    assert [r.loss for r in written.records] == [r.loss for r in whole.records]
    assert [r.update for r in History.read(tmp_path / "run/log.csv", up_to=5).records][-1] == 5


def test_a_run_that_asks_for_it_trains_through_the_compiled_loss(monkeypatch) -> None:
    """What the compiler makes of it is PyTorch's: tracing alone would take ten seconds here."""
    asked: list[dict[str, object]] = []
    called: list[int] = []

    def compile_it(function, **options):
        asked.append(options)
        return lambda *batch: called.append(len(batch[0])) or function(*batch)

    monkeypatch.setattr(torch, "compile", compile_it)
    plain, _ = trained(SETTINGS)
    assert not asked
    compiled, _ = trained(SETTINGS.replace(compile=True))
    assert asked == [{"dynamic": True}]  # batches of many shapes, one program
    assert len(called) == SETTINGS.max_updates
    assert_same(plain, compiled)


def test_a_run_shows_its_progress_unless_it_is_told_not_to(capsys) -> None:
    settings = SETTINGS.replace(max_updates=2, warmup=1)
    train(make_model(), PAIRS, settings, progress=False)
    Trainer(make_model(), PAIRS, settings).run(progress=False)
    assert capsys.readouterr().err == ""
    for run in (Trainer(make_model(), PAIRS, settings).run, train):
        history = run() if run is not train else train(make_model(), PAIRS, settings)
        shown = capsys.readouterr().err
        assert "2/2" in shown
        assert f"loss {history.records[-1].loss:.3f}, " in shown
        assert " tokens/s" in shown


def test_the_progress_bar_of_a_resumed_run_starts_where_it_stopped(tmp_path: Path, capsys) -> None:
    stopped = Trainer(make_model(), PAIRS, SETTINGS)
    stopped.open(tmp_path)
    step = stopped.step
    stopped.step = lambda group, *, stop=False: step(group, stop=stopped.position.update == 8)
    stopped.run(progress=False)
    train(make_model(), PAIRS, SETTINGS, folder=tmp_path, resume=True)
    shown = capsys.readouterr().err
    assert "9/12" in shown
    assert "12/12" in shown


def test_without_a_folder_signals_mean_what_they_always_mean() -> None:
    """There is nothing to save: Ctrl-C in a notebook stops a run at once."""
    before = signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGINT)
    seen = []
    trained(
        SETTINGS.replace(max_updates=1, warmup=1),
        callbacks=[
            lambda _: seen.append(
                (signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGINT))
            )
        ],
    )
    assert seen == [before]


@pytest.mark.parametrize("precision", ["float32", "bfloat16", "float16"])
def test_the_gradient_is_scaled_in_float16_only_and_logged_unscaled(precision: str) -> None:
    settings = SETTINGS.replace(max_updates=1, warmup=1)
    scaled = Trainer(make_model(), PAIRS, settings.replace(precision=precision))
    assert scaled.scaler.is_enabled() == (precision == "float16")
    _, plain = trained(settings)
    (record,) = scaled.run(progress=False).records
    assert record.gradient_norm == pytest.approx(plain.records[0].gradient_norm, rel=0.05)


def test_the_objective_is_the_one_that_the_settings_name() -> None:
    loss = Trainer(make_model(), PAIRS, SETTINGS.replace(smoothing=0.3, r_drop=2.0)).loss
    assert (loss.smoothing, loss.r_drop) == (0.3, 2.0)


def test_a_trained_model_is_ready_to_translate() -> None:
    model, _ = trained(SETTINGS.replace(max_updates=1, warmup=1), make_model().train())
    assert not model.training


def test_a_folder_tells_of_the_pairs_as_they_are_spelled_first(tmp_path: Path) -> None:
    """So that a run of pairs that are spelled anew can be told from a run of others."""
    settings = SETTINGS.replace(max_updates=1, warmup=1)

    def spell(epoch: int) -> list[Pair]:
        return make_pairs(seed=epoch)

    for name, pairs in (("spelled", spell), ("plain", make_pairs(seed=0))):
        train(make_model(), pairs, settings, folder=tmp_path / name, progress=False)
    spelled, plain = (
        json.loads((tmp_path / name / "settings.json").read_text())["pairs"]
        for name in ("spelled", "plain")
    )
    assert spelled == plain


def test_every_process_needs_a_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    trainer = Trainer(make_model(), PAIRS, SETTINGS)
    batches = len(trainer.groups(0))
    monkeypatch.setattr(trainer_module.distributed, "world_size", lambda: batches)
    assert [len(group) for group in trainer.groups(0)] == [batches]
    monkeypatch.setattr(trainer_module.distributed, "world_size", lambda: batches + 1)
    message = rf"{batches + 1} processes need a batch each, got {batches}: .* \(now 40\)"
    with pytest.raises(ValueError, match=message):
        trainer.groups(0)


def test_an_update_tells_whether_it_was_asked_to_stop() -> None:
    trainer = Trainer(make_model(), PAIRS, SETTINGS)
    assert trainer.step([[0]]) is False
    assert trainer.step([[1]], stop=True) is True


def test_every_epoch_trains_on_all_its_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = SETTINGS.replace(max_tokens=90)
    trainer = Trainer(make_model(), PAIRS, settings)
    step, done = trainer.step, []
    monkeypatch.setattr(trainer, "step", lambda group, **o: done.append(group) or step(group, **o))
    trainer.run(progress=False)
    expected = [group for epoch in range(4) for group in trainer.groups(epoch)]
    assert done == expected[:12]
    assert len(trainer.groups(0)) + len(trainer.groups(1)) < 12


def test_validation_batches_are_as_large_as_those_of_training(monkeypatch) -> None:
    asked: list[dict[str, int]] = []
    monkeypatch.setattr(trainer_module, "perplexity", lambda *_, **o: asked.append(o) or 2.0)
    trained(SETTINGS.replace(max_updates=1, warmup=1), valid=PAIRS[:5])
    assert asked == [{"max_tokens": SETTINGS.max_tokens, "shared": True}]


def test_the_state_is_saved_only_where_it_is_due(tmp_path: Path, monkeypatch) -> None:
    saved: list[int] = []

    def note(folder, model, optimizer, position, history, since_record) -> None:
        saved.append(position["update"])

    monkeypatch.setattr(trainer_module.RunFolder, "save_state", note)
    trained(SETTINGS.replace(save_every=5), folder=tmp_path)
    assert saved == [5, 10, 12]


def a_run_with(perplexities, monkeypatch, **changes):
    """Train with these perplexities on the validation split, one every update."""
    values = iter(perplexities)
    monkeypatch.setattr(trainer_module, "perplexity", lambda *_, **__: next(values))
    settings = SETTINGS.replace(valid_every=1, save_every=2, keep=20, **changes)
    return Trainer(make_model(), PAIRS, settings, valid=PAIRS)


def updates_of(folder: Path) -> tuple[int, list[str]]:
    best = load_checkpoint(folder / "best.safetensors").notes["update"]
    return best, sorted(path.stem for path in (folder / "checkpoints").iterdir())


def test_a_run_out_of_patience_ends_saved_and_goes_on_with_more(monkeypatch, tmp_path) -> None:
    values = [9.0, 5.0, 6.0, 4.0, 4.5, 4.0, 7.0, 3.0, *[2.0] * 4]
    trainer = a_run_with(values, monkeypatch, patience=3)
    trainer.open(tmp_path)
    assert [update for update, _ in trainer.run(progress=False).perplexities][-1] == 7
    assert updates_of(tmp_path) == (4, ["000002", "000004", "000006", "000007"])
    trainer = a_run_with(values[7:], monkeypatch, patience=3)
    before = contents(tmp_path)
    trainer.open(tmp_path, resume=True, notes={"date": "second"})
    trainer.run(progress=False)
    assert contents(tmp_path) == before
    assert trainer.position.update == 7  # there is still no patience left
    trainer = a_run_with(values[7:], monkeypatch, patience=4)
    trainer.open(tmp_path, resume=True)
    assert trainer.run(progress=False).records[-1].update == 12
    assert updates_of(tmp_path)[0] == 9  # the first of equals


def test_without_patience_a_run_goes_to_its_end_and_its_best_is_kept(monkeypatch, tmp_path) -> None:
    trainer = a_run_with([2.0, 1.5, *[3.0] * 10], monkeypatch)
    trainer.open(tmp_path)
    assert trainer.run(progress=False).records[-1].update == 12
    assert updates_of(tmp_path)[0] == 2
    best = load_model(tmp_path / "best.safetensors")
    assert_same(best, load_model(tmp_path / "checkpoints/000002.safetensors"))


def test_the_bar_shows_the_last_validation(monkeypatch, capsys) -> None:
    trainer = a_run_with([7.25] * 12, monkeypatch)
    trainer.run()
    assert "valid perplexity 7.25" in capsys.readouterr().err


def test_no_validation_needs_no_best(tmp_path) -> None:
    trained(SETTINGS.replace(patience=1), folder=tmp_path)
    assert not (tmp_path / "best.safetensors").exists()
