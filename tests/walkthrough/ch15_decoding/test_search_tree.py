"""The search tree draws what the model says and what searches keep, and opens with no script."""

import math
import re
from html.parser import HTMLParser

import pytest

from walkthrough.ch15_decoding.figures.searches import STOP, Words, grow, search_tree

NEXT = {
    (): {"she": 0.5, "Jane": 0.4, STOP: 0.1},
    ("she",): {"sings": 0.6, "runs": 0.4},
    ("Jane",): {"sings": 0.95, "<b>": 0.05},
}


def next_words(prefix):
    return NEXT.get(prefix, {STOP: 1.0})


class Tags(HTMLParser):
    """Counts tags and fails on one that is not closed."""

    def __init__(self):
        super().__init__()
        self.open, self.seen = [], []

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)
        self.seen.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def tags(tree):
    parser = Tags()
    parser.feed(tree._repr_html_())
    assert parser.open == []
    return parser.seen


def by_path(branch, prefix=()):
    path = (*prefix, branch.word) if branch.word else prefix
    found = {path: branch}
    for below in branch.branches:
        found |= by_path(below, path)
    return found


def test_shares_are_multiplied_along_a_path():
    found = by_path(grow(next_words))
    ended = found["Jane", "sings", STOP]
    assert ended.log_prob == pytest.approx(math.log(0.4 * 0.95))
    assert [b.word for b in found["Jane",].branches] == ["sings", "<b>"]
    leaves = [b for b in found.values() if b.word == STOP]
    assert sum(math.exp(b.log_prob) for b in leaves) == pytest.approx(1)


def test_what_is_left_out_is_counted():
    root = grow(next_words, most=1)
    assert [b.word for b in root.branches] == ["she"]
    assert root.hidden == (2, pytest.approx(0.5))


def test_what_a_search_keeps_is_drawn_however_improbable():
    path = ("Jane", "<b>", STOP)
    kept = {"odd": [path[:n] for n in range(1, 4)]}
    found = by_path(grow(next_words, kept=kept, most=1, least=0.3))
    assert found[path].marks == found["Jane",].marks == ("odd",)
    assert ("she", "sings") in found
    assert found["she",].marks == ()


def test_depth_and_least_end_a_path():
    assert ("she", "sings") not in by_path(grow(next_words, depth=1))
    assert ("Jane", "sings") not in by_path(grow(next_words, least=0.45))


def test_shares_that_do_not_add_up_are_refused():
    with pytest.raises(ValueError, match=r"add up to 1, got a total of 0\.7"):
        grow(lambda prefix: {"a": 0.3, "b": 0.4})
    with pytest.raises(ValueError, match=r"must not be negative .* least share of -0\.2"):
        grow(lambda prefix: {"a": 1.0, "b": 0.2, "c": -0.2})


def test_it_is_details_all_the_way_down_with_no_script():
    seen = tags(search_tree(next_words, kept={"greedy": [("she",)]}))
    names = [name for name, _ in seen]
    assert names.count("details") == names.count("summary") == 6
    assert sum("open" in attrs for name, attrs in seen if name == "details") == 2
    assert not {"script", "b", "input"} & set(names)
    assert "&lt;b&gt;" in search_tree(next_words)._repr_html_()


def test_words_can_be_translated_and_marks_are_text():
    page = search_tree(
        next_words, kept={"beam 2": [("she",)]}, words=Words(title="나무", share="확률")
    )._repr_html_()
    assert "나무" in page
    assert "확률 0.50" in page
    assert len(re.findall(">beam 2<", page)) == 2  # legend and branch


def test_without_html_it_is_indented_text():
    assert "  Jane  0.40  -0.92" in repr(search_tree(next_words))


def test_it_can_be_opened_along_a_path_only():
    def n_open(**how):
        return sum("open" in attrs for _, attrs in tags(search_tree(next_words, **how)))

    assert n_open(open_to=0) == 0
    assert n_open(open_to=0, open_path=("Jane", "sings")) == 2
    assert n_open(open_path=("Jane", "sings")) == 3
