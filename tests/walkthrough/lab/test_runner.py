"""Runs are made once, written at once, and a killed command loses one line at most."""

import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
from joblib.externals.loky import get_reusable_executor
from toy import made, toy

from walkthrough.lab import Arm, Key, compare, live, run, runner, store
from walkthrough.lab import __main__ as lab_main
from walkthrough.lab.__main__ import main, state

HERE = Path(__file__).parent


@pytest.fixture
def committed(monkeypatch):
    """Runs name the last commit, whatever has been edited since."""
    here = runner.surroundings()
    here["commit"] = (here["commit"] or "0" * 40).removesuffix("-dirty")
    monkeypatch.setattr(runner, "surroundings", lambda: here)


def test_all_that_is_missing_is_run_and_nothing_twice(tmp_path, capsys):
    e, path = toy(), tmp_path / "toy.jsonl"
    first = run(e, record=path, progress=False)
    assert capsys.readouterr().err == ""
    assert len(first) == 2 * 2 * (4 * 2 + 5 - 2)
    assert {(r.arm, r.rate) for r in first if r.seed == 5} == {("slow", 1), ("quick", 2)}
    assert {r.phase for r in first if r.seed < 3} == {"search"}
    assert run(e, record=path, progress=False) == []
    more = run(e, record=path, seeds=[6])
    assert "01-toy: 100%" in capsys.readouterr().err
    assert {r.key for r in more} == {
        Key(arm, rate, length, 6)
        for arm, rate in (("slow", 1), ("quick", 2))
        for length in (10, 100)
    } | {
        Key(arm, rate, n, 6)
        for arm in ("slow", "quick")
        for rate in (0.5, 1, 2, 4)
        for n in (10, 100)
    }


def test_a_diverged_run_is_a_finding(tmp_path):
    e = toy(rates=(1, 8), choose="", lengths=(10,), rate_seeds=(1,))
    found = {r.key: r for r in run(e, record=tmp_path / "toy.jsonl", progress=False)}
    assert found[Key("slow", 8, 10, 1)].failed == "the loss is nan at update 3"
    assert {r.phase for r in found.values()} == {"claim"}  # no rate is chosen
    assert run(e, record=tmp_path / "toy.jsonl", progress=False) == []


def test_another_declaration_is_run_again(tmp_path):
    e, path = toy(choose="", rates=(1,), lengths=(10,)), tmp_path / "toy.jsonl"
    run(e, record=path, progress=False)
    other = replace(e, arms=[Arm("slow"), Arm("quick", train={"seconds": 0})])
    again = run(other, record=path, progress=False)
    assert {r.arm for r in again} == {"quick"}
    assert run(other, record=path, progress=False) == []


def test_a_share_shortens_and_goes_elsewhere(tmp_path, monkeypatch):
    monkeypatch.setattr(runner, "TRIALS", tmp_path)
    made = run(toy(), share=0.05, progress=False)
    assert {r.length for r in made} == {1, 5}
    assert {r.phase for r in made} == {"trial"}
    assert all(r.extra["small"] for r in made)
    assert (tmp_path / "01-toy.jsonl").is_file()
    for share in (0, 2):
        with pytest.raises(ValueError, match="share must lie"):
            run(toy(), share=share)


def test_a_killed_command_loses_one_line_at_most_and_goes_on(tmp_path):
    path = tmp_path / "toy.jsonl"
    script = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "from pathlib import Path\nfrom toy import toy\nfrom walkthrough.lab import Arm, run\n"
        "slow = [Arm(name, train={'seconds': 0.1}) for name in ('slow', 'quick')]\n"
        "run(toy(arms=slow, choose='', rates=(1,)), record=Path(sys.argv[2]), progress=False)\n"
    )
    command = [sys.executable, "-c", script, str(HERE), str(path)]
    process = subprocess.Popen(command)
    while not (path.is_file() and path.read_text().count("\n") >= 3):
        assert process.poll() is None
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.wait()
    before = store.read(path, "01-toy")
    assert 3 <= len(before) < 20
    assert subprocess.run(command, check=True).returncode == 0
    after = store.read(path, "01-toy")
    assert len(after) == 20
    assert {key: after[key].date for key in before} == {key: r.date for key, r in before.items()}


@pytest.mark.slow
def test_two_processes_make_the_same_runs(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", f"{HERE}:{HERE.parents[2] / 'src'}")
    get_reusable_executor().shutdown(wait=True)  # another test's processes have another path
    one, two = (tmp_path / f"{n}.jsonl" for n in (1, 2))
    for path, jobs in ((one, 1), (two, 2)):
        run(toy(), jobs=jobs, record=path, progress=False)
    figures = [{key: r.figures for key, r in store.read(path).items()} for path in (one, two)]
    assert figures[0] == figures[1]


def test_live_runs_stand_beside_recorded_ones_and_write_nothing(tmp_path):
    e = toy(choose="", rates=(1,))
    run(e, record=store.path_of(e.name, tmp_path), progress=False)
    before = store.path_of(e.name, tmp_path).read_text()
    table = live(e, "quick", seeds=(1, 2), length=5, folder=tmp_path)
    assert table["run"].tolist() == ["now"] * 2 + ["recorded"] * 10
    assert store.path_of(e.name, tmp_path).read_text() == before


def test_the_state_of_a_record_says_what_is_missing(tmp_path, monkeypatch, committed):
    monkeypatch.setattr(store, "FOLDER", tmp_path)
    e = toy(choose="", rates=(1,))
    assert state(e) == ("0 runs; at least 20 to make", True)
    run(e, progress=False)
    assert state(e) == ("20 runs; up to date", False)
    (*_, last) = store.read(store.path_of(e.name)).values()
    for commit, said in (("ab" * 20 + "-dirty", "a changed tree"), ("0" * 40, "a commit that is")):
        store.append(store.path_of(e.name), replace(last, commit=commit))
        assert f"20 runs; up to date; 1 run of {said}" in state(e)[0]
    told, due = state(toy(choose="", rates=(1,), arms=[Arm("slow", data={"n": 1}), Arm("quick")]))
    assert due
    assert "10 declared otherwise; at least 10 to make" in told


def test_the_command_line_refuses_in_one_line(capsys):
    assert main(["run", "05-widht"]) == 2
    (said,) = capsys.readouterr().err.splitlines()
    assert said.startswith("error: no experiment '05-widht'; did you mean 05-width")
    assert main(["run", "05-width", "--arms", "257", "--share", "0.01"]) == 2
    assert "no arm '257'; did you mean 256" in capsys.readouterr().err
    assert main(["compare", "06-tying", "--figure", "charm"]) == 2
    assert "no figure 'charm'" in capsys.readouterr().err


def test_the_command_line_compares_what_is_recorded(tmp_path, monkeypatch, capsys):
    e, path = toy(choose="", rates=(1,)), tmp_path / "toy.jsonl"
    run(e, record=path, progress=False)
    monkeypatch.setattr(lab_main, "find", lambda name: e)
    assert main(["compare", "01-toy", "--figure", "loss", "--record", str(path)]) == 0
    base, line = capsys.readouterr().out.splitlines()
    assert base == "valid/-/loss, base slow"
    told = f"{'quick':<24} {'+0.90':>8} {'nats':<8} {'(+0.90 to +0.90)':<20} wins 0 of 5  one rate"
    assert line == f"  {told}"
    e = replace(e, measures=())  # without them it declares no figures: those of its runs are taken
    assert main(["compare", "01-toy", "--record", str(path)]) == 0
    assert capsys.readouterr().out.splitlines() == [base, line]


def test_the_commands_make_runs_and_tell_of_them(tmp_path, monkeypatch, capsys, committed):
    monkeypatch.setattr(store, "FOLDER", tmp_path)
    monkeypatch.setattr(runner, "TRIALS", tmp_path / "trials")
    monkeypatch.chdir(tmp_path)
    e = toy(choose="", rates=(1,), lengths=(10,))
    monkeypatch.setattr(lab_main, "find", {e.name: e}.__getitem__)
    monkeypatch.setattr(lab_main, "declarations", lambda: {e.name: e})

    def said(*words):
        code = main(words)
        return code, *capsys.readouterr().out.splitlines()

    assert said("status") == (1, "01-toy: 0 runs; at least 10 to make")
    assert said("list") == (
        0,
        "01-toy",
        "  Is quick better than slow?",
        "  arms     slow; quick",
        "  seeds    5; rates × 1; updates 10",
        "  record   0 runs, 0 minutes",
    )
    some = ("--arms", "slow", "--seeds", "2", "1", "1", "--rates", "2", "--lengths", "20")
    assert said("run", "01-toy", *some) == (
        0,
        "2 runs made → 01-toy.jsonl",
        "  slow, rate ×2, length 20, seed 1: valid/-/loss 2.058",
        "  slow, rate ×2, length 20, seed 2: valid/-/loss 2.068",
    )
    many = said("run", "01-toy", "--share", "0.5", "--lengths", "20", "40")
    assert many[1] == "20 runs made → trials/01-toy.jsonl"
    assert many[2].startswith("  slow, rate ×1, length 10, seed 1: ")
    assert len(many) == 1 + 1 + 12 + 1
    assert many[-1] == "  … and 8 more: `compare 01-toy` says what they show"
    assert not any(r.extra["small"] for r in store.read(tmp_path / "trials/01-toy.jsonl").values())
    other = ("--record", "other.jsonl", "--arms", "slow", "--rates", "8", "--seeds", "1")
    failed = "  slow, rate ×8, length 10, seed 1: the loss is nan at update 3"
    assert said("run", "01-toy", *other) == (0, "1 run made → other.jsonl", failed)
    assert said("again") == (0, "01-toy: 2 runs; at least 10 to make")
    assert said("status", "01-toy") == (0, "01-toy: 12 runs; up to date")


def test_the_cheapest_run_is_made_again_and_compared(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(store, "FOLDER", tmp_path)
    e = toy(choose="", rates=(1,), lengths=(10,), seeds=(1, 2), arms=[Arm("slow")])
    monkeypatch.setattr(lab_main, "find", lambda name: e)
    assert main(["check", e.name]) == 2
    assert "01-toy has no run to check" in capsys.readouterr().err
    for r in run(e, progress=False):
        told = {"cpu_seconds": 10.0 if r.seed == 1 else 7200.0, "figures": {"valid/-/loss": 1.2}}
        store.append(store.path_of(e.name), replace(r, **told))
    assert lab_main.hours(e) == "2.0 hours of a core"
    monkeypatch.setattr(lab_main, "look", lambda given: [given])
    assert (main(["look", e.name]), capsys.readouterr().out) == (0, "1 run looked at\n")
    for tolerance, code in ((), 1), (("--tolerance", "0.1"), 0):
        assert main(["check", e.name, *tolerance]) == code
        assert capsys.readouterr().out.splitlines() == [
            "01-toy, slow, rate ×1, length 10, seed 1: 10 s of a core when it was recorded",
            f"  {'valid/-/loss':<36} {'1.2':>10} {'1.1009':>10}  8.3% apart",
        ]


def test_what_no_run_can_have_and_a_path_that_cannot_be_written_are_refused_before_a_run(
    tmp_path, monkeypatch, capsys
):
    made_nothing = toy(choose="", rates=(1,), run=lambda job: pytest.fail("it was run"))
    monkeypatch.setattr(lab_main, "find", lambda name: made_nothing)
    (tmp_path / "closed").touch()

    def refused(*words):
        assert main(["run", "01-toy", *words]) == 2
        return capsys.readouterr().err

    for words, said in [
        (("--record", str(tmp_path)), "Is a directory"),
        (("--record", str(tmp_path / "closed" / "x.jsonl")), "closed"),
        (("--jobs", "0"), "jobs must be at least 1, got 0"),
        (("--seeds", "-1"), "seeds must lie in 0"),
        (("--seeds", str(2**64)), "seeds must lie in 0"),
        (("--lengths", "-5", "--share", "0.001"), "lengths must be at least 0, got -5"),
        (("--rates", "nan"), "rates must be finite and above 0, got nan"),
        (("--rates", "-1"), "rates must be finite"),
    ]:
        assert said in refused(*words)
    monkeypatch.setattr(runner, "FOLDER", tmp_path)
    monkeypatch.setattr(runner, "surroundings", lambda: {"commit": "ab" * 20 + "-dirty"})
    assert "commit first, or name another file" in refused("--record", str(tmp_path / "x.jsonl"))
    assert not (tmp_path / "x.jsonl").exists()
    assert main(["compare", "01-toy", "--record", str(tmp_path / "x.jsonl")]) == 2
    assert "there is no record" in capsys.readouterr().err


def test_what_the_rules_refuse_of_a_claim_is_told(tmp_path, monkeypatch, capsys, committed):
    monkeypatch.setattr(store, "FOLDER", tmp_path)
    e = toy(choose="", rates=(1,), lengths=(10,))
    run(e, progress=False)
    asked = {"experiment": e.name, "arm": "quick", "figure": "valid/loss"}
    claims = [("1-x", asked), ("1-y", {**asked, "experiment": "02-other"})]
    monkeypatch.setattr(lab_main, "find", lambda name: e)
    monkeypatch.setattr(lab_main, "compare", lambda _, *what, **how: compare(e, *what, **how))
    monkeypatch.setattr(lab_main, "asked_by_claims", lambda: claims)
    assert main(["status", e.name]) == 0
    _, told = capsys.readouterr().out.splitlines()
    assert told.startswith("  1-x: quick against slow, loss on valid: at one rate, which nobody")


def test_a_reader_who_goes_ends_a_command_quietly():
    words = [sys.executable, "-m", "walkthrough.lab", "list"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as asked:
        asked.stdout.close()
        assert (asked.stderr.read(), asked.wait()) == (b"", 1)


def test_outcomes_name_what_made_them(tmp_path):
    (found,) = run(
        toy(rates=(1,), lengths=(10,), seeds=(1,), arms=[Arm("slow")], run=made),
        record=tmp_path / "toy.jsonl",
        progress=False,
    )
    assert (found.phase, found.parameters, found.target_tokens) == ("claim", 1, 10)
    assert found.curve == [[10, "train/-/loss", 1.01]]
    assert found.cpu_seconds is not None
    assert found.machine["cores"] >= 1
    assert found.versions["python"].startswith("3.")
    assert found.sources is None  # old records have it
