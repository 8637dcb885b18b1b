"""A card shows what the comparison found, and says it in the same words."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
from test_comparison import recorded

from walkthrough.drawing.style import CATEGORIES
from walkthrough.lab import card, cards, compare
from walkthrough.lab.comparison import Beside
from walkthrough.lab.intervals import Point

ROOT = Path(__file__).parents[3]


def test_a_card_shows_pairs_rates_and_lengths(tmp_path, monkeypatch, as_users_run_it):
    places = [(rate, n) for rate in (1, 2, 4) for n in (10, 100)]
    losses = {("slow", *place): [2, 3, 4, 3, 2] for place in places}
    losses |= {("quick", *place): [1, 2, 3.5, 2, 1] for place in places}
    e, path = recorded(tmp_path, losses, "valid/-/f1", rates=(1, 2, 4), choose="")
    shown = card(e, "slow", "quick", figure="f1", record=path)
    phrase = "0.90 points better (0.62 to 1.18, 5 of 5 pairs, both at ×2, the best of three)"
    assert repr(shown) == (
        "F1 on valid, after 100 updates: slow 2.8 at rate ×2; quick 1.9 at rate ×2. "
        f"Difference: {phrase}. Verdict: better."
    )
    assert "by other figures" not in shown._repr_html_()
    beside = (Beside("valid/-/loss", "1.0 nats worse", "worse"),)
    other = replace(shown, comparison=replace(shown.comparison, beside=beside))
    assert "<p>The same runs, by other figures: 1.0 nats worse by loss on valid.</p>" in (
        other._repr_html_()
    )
    assert (shown.picture.alt, bool(shown.picture.narrow)) == (shown.sentence, True)
    page = shown._repr_html_()
    assert shown.picture._repr_html_() in page
    assert f"<p>{shown.sentence}</p>" in page
    assert "/results/01-toy.jsonl" in page
    guide, _, heading = cards.GUIDE.partition("#")
    assert f'<a href="{cards.GUIDE}">' in page
    chapter = ROOT / "book" / guide.replace(".html", ".ipynb")
    titles = re.findall(r'"#+ ([^"\\]+)"?', chapter.read_text(encoding="utf-8"))
    assert heading in [title.lower().replace(" ", "-") for title in titles]
    monkeypatch.setattr(cards, "still", lambda figure, **how: figure)
    figure = cards.picture(shown.comparison, alt="?")
    pairs, *others = figure.axes
    assert figure.get_supylabel() == "difference, points"
    assert figure.get_suptitle() == "↑ better: slow 2.8 at rate ×2"
    assert figure.get_supxlabel() == "↓ better: quick 1.9 at rate ×2"
    lower = replace(shown.comparison, lower_is_better=True)
    assert cards.picture(lower, alt="?").get_suptitle() == "↑ better: quick 1.9 at rate ×2"
    assert [label.get_text() for label in pairs.get_xticklabels()] == ["5 pairs", "mean"]
    _, dots, interval, mean = pairs.lines
    assert list(dots.get_ydata()) == list(shown.comparison.differences)
    assert list(dots.get_xdata()) == pytest.approx([-0.048, -0.024, 0, 0.024, 0.048])
    assert -0.3 < pairs.get_xlim()[0] < -0.048
    assert 0.2 < pairs.get_xlim()[1] < 0.5
    assert {tuple(axes.lines[0].get_ydata()) for axes in figure.axes} == {(0, 0)}
    told = [shown.comparison.low, shown.comparison.high]
    assert list(interval.get_ydata()) == told
    assert list(mean.get_ydata()) == [shown.comparison.mean]
    labels = {axes.get_xlabel(): [t.get_text() for t in axes.get_xticklabels()] for axes in others}
    assert labels == {"× own peak rate": ["1", "2", "4"], "updates": ["10", "100"]}
    for axes in others:
        assert [list(line.get_xdata()) for line in axes.lines[1:5]] == [[0, 0], [0], [1, 1], [1]]
        assert list(axes.lines[1].get_ydata()) == pytest.approx(told)
        assert {line.get_color() for line in axes.lines[1:]} == {CATEGORIES[1]}


def test_a_wide_interval_is_cut_and_said(tmp_path, monkeypatch, as_users_run_it):
    losses = {("slow", 1, 100): [2, 3, 4, 3, 2], ("quick", 1, 100): [1, 2, 3.5, 2, 1]}
    e, path = recorded(tmp_path, losses, rates=(1,), choose="", no_rate="none is trained")
    found = compare(e, "quick", "slow", figure="loss", record=path)
    monkeypatch.setattr(cards, "still", lambda figure, **how: figure)
    lengths = (Point(10, -1.0, -12.0, 10.0, 5), Point(50, 300.0, 290.0, 312.0, 5))
    tall = cards.picture(replace(found, by_length=lengths), alt="?")
    pairs, others = tall.axes
    assert pairs.get_ylim() == others.get_ylim() == (-1.5, 0.5)
    assert [text.get_text() for text in others.texts] == ["−12 to 10", "290 to 312"]
    assert [line.get_marker() for line in others.lines][-1] == "^"  # its mean is farther up
    near = (Point(10, -1.0, -1.5, -0.5, 5), Point(100, -0.9, -1.2, -0.6, 5))
    plain = cards.picture(replace(found, by_length=near), alt="?").axes[1]
    assert not plain.texts


def test_an_overview_has_a_line_an_arm_and_one_base(tmp_path, monkeypatch, as_users_run_it):
    losses = {("slow", 1, 100): [2, 3, 4, 3, 2, 2], ("quick", 1, 100): [1, 2, 3.5, 2, 1, 1]}
    e, path = recorded(tmp_path, losses, rates=(1,), choose="", no_rate="none is trained")
    ours, theirs = (compare(e, a, b, figure="loss", record=path) for a, b in (
        ("quick", "slow"), ("slow", "quick"),
    ))  # fmt: skip
    picture = cards.overview([ours], title="One at a time")
    assert "Differences to slow: quick 0.92 nats better, better." in picture.alt
    assert "left is better" in picture.svg
    monkeypatch.setattr(cards, "still", lambda figure, **how: figure)
    (axes,) = cards.overview([ours], title="One at a time").axes
    _, pairs, interval, mean = axes.lines
    assert list(pairs.get_xdata()) == list(ours.differences)
    assert list(interval.get_xdata()) == [ours.low, ours.high]
    assert list(mean.get_xdata()) == [ours.mean]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["quick"]
    assert axes.yaxis_inverted()  # the first one stands on top
    assert {line.get_color() for line in (interval, mean)} == {CATEGORIES[1]}
    with pytest.raises(ValueError, match="one base"):
        cards.overview([ours, theirs], title="One at a time")
