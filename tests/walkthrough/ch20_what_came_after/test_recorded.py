"""Chapter 20's part of the lab notebook states what the records hold."""

from pathlib import Path

from walkthrough.lab import frame

ROOT = Path(__file__).parents[3]
SECTION = (ROOT / "book" / "lab-notebook.md").read_text("utf-8").split("## 20 What came after")[1]
ARMS = ("Muon", "Muon, scores to 16")


def test_the_lab_notebook_states_the_bound_as_recorded():
    runs = frame("20-clip").query("seed <= 3")
    exact = runs.groupby(["rate", "arm"])["test/greedy/exact"].mean().mul(100)
    largest = runs["extra"].map(lambda extra: extra["largest_score"])
    largest = largest.groupby([runs["rate"], runs["arm"]]).mean()
    for rate in (0.5, 1, 2, 4):
        cells = [f"{table[rate, arm]:.0f}" for arm in ARMS for table in (exact, largest)]
        assert f"| ×{rate} | {' | '.join(cells)} |" in SECTION


def test_the_lab_notebook_states_the_orders_as_recorded():
    runs = frame("20-unmask").query("rate == 2")
    words = runs["extra"].map(lambda extra: extra["words a pass"]).groupby(runs["arm"]).mean()
    exact = runs.groupby("arm")["test/-/exact"].mean().mul(100)
    for arm, more in {"surest half": ", again", "any half": ", again"}.items():
        row = f"{'the ' * (arm == 'surest half')}{arm}{more}"
        assert f"| {row} | {words[arm]:.1f} | {exact[arm]:.1f} |" in SECTION
    for arm in ("all at once", "left to right"):
        assert f"| {arm} | {words[arm]:.1f} | {exact[arm]:.1f} |" in SECTION
