"""The tree of all outputs, to open branch by branch, with what each search keeps of it (§6.1).

It is HTML with `<details>`: it opens with a click or the keyboard, with no script and no kernel.
"""

import html
import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

from walkthrough.drawing.style import PALETTE

Prefix = tuple[str, ...]
NextWords = Callable[[Prefix], Mapping[str, float]]
"""The words that may follow a prefix, with their probabilities."""

STOP = "</s>"
MARK_COLOURS = [PALETTE[name] for name in ("vermilion", "blue", "green", "purple", "ochre")]


@dataclass(frozen=True)
class Branch:
    """One word of the tree: its share at its fork, log P from the root, who keeps it, what follows.

    `hidden` counts the branches that are not drawn, and adds up their shares.
    """

    word: str
    share: float
    log_prob: float
    marks: tuple[str, ...]
    branches: tuple["Branch", ...]
    hidden: tuple[int, float]

    def __iter__(self):  # type: ignore[no-untyped-def]  # an iterator of Branch
        yield self
        for branch in self.branches:
            yield from branch


@dataclass(frozen=True)
class Words:
    """The words of the figure."""

    title: str = "Every path is an output: open a word to see what may follow it"
    start: str = "start"
    kept: str = "kept by"
    hidden: str = "{n} more, together {share}"
    share: str = "share"
    whole: str = "log P"
    guide: str = "share: probability of the word after the words above it; log P: of the whole path"


def grow(
    next_words: NextWords,
    *,
    kept: Mapping[str, Collection[Prefix]] | None = None,
    depth: int = 12,
    most: int = 4,
    least: float = 1e-3,
    prefix: Prefix = (),
    share: float = 1.0,
    log_prob: float = 0.0,
) -> Branch:
    """Return the tree below `prefix`: at each fork the `most` probable words, and those kept.

    `kept` names searches and the prefixes they keep. A path whose probability is below `least`, or
    that has `depth` words, is drawn and not continued, unless a search goes on there.

    Raises:
        ValueError: the shares of a fork do not add up to 1, or one is negative.
    """
    kept = kept or {}
    marks = tuple(name for name, prefixes in kept.items() if prefix in prefixes)
    word = prefix[-1] if prefix else ""
    every = [path for paths in kept.values() for path in paths]
    goes_on = any(path[: len(prefix)] == prefix != path for path in every)
    too_deep = len(prefix) >= depth or log_prob < math.log(least)
    if word == STOP or (too_deep and not goes_on):
        return Branch(word, share, log_prob, marks, (), (0, 0.0))
    shares = next_words(prefix)
    total, least_share = sum(shares.values()), min(shares.values(), default=0)
    if not math.isclose(total, 1, abs_tol=1e-3) or least_share < 0:
        raise ValueError(
            f"the shares after {prefix} must not be negative and must add up to 1, "
            f"got a total of {total:.4f} and a least share of {least_share:.4f}"
        )
    shares = {w: p for w, p in shares.items() if p > 0}
    ranked = sorted(shares, key=lambda w: -shares[w])
    longer = [path for path in every if len(path) > len(prefix)]
    wanted = {path[len(prefix)] for path in longer if path[: len(prefix)] == prefix}
    drawn = [w for rank, w in enumerate(ranked) if rank < most or w in wanted]
    branches = tuple(
        grow(
            next_words,
            kept=kept,
            depth=depth,
            most=most,
            least=least,
            prefix=(*prefix, w),
            share=shares[w],
            log_prob=log_prob + math.log(shares[w]),
        )
        for w in drawn
    )
    rest = [shares[w] for w in ranked if w not in drawn]
    return Branch(word, share, log_prob, marks, branches, (len(rest), float(sum(rest))))


@dataclass(frozen=True)
class SearchTree:
    """The tree as HTML where the page can show it, and as indented text elsewhere."""

    root: Branch
    words: Words = Words()
    open_to: int = 1
    open_path: Prefix = ()

    def __repr__(self) -> str:
        lines: list[str] = []

        def write(branch: Branch, depth: int) -> None:
            marks = f"  [{', '.join(branch.marks)}]" if branch.marks else ""
            name = branch.word or self.words.start
            numbers = f"{branch.share:.2f}  {branch.log_prob:.2f}"
            lines.append(f"{'  ' * depth}{name}  {numbers}{marks}")
            for below in branch.branches:
                write(below, depth + 1)

        write(self.root, 0)
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        names = list(dict.fromkeys(mark for branch in self.root for mark in branch.marks))
        colours = {n: MARK_COLOURS[i % len(MARK_COLOURS)] for i, n in enumerate(names)}
        legend = "".join(_mark(name, colours[name]) for name in names)
        kept = f"{html.escape(self.words.kept)}: {legend}" if names else ""
        body = "".join(self._item(branch, (branch.word,), colours) for branch in self.root.branches)
        return (
            f'<style>{STYLE}</style><div class="search-tree" role="group" '
            f'aria-label="{html.escape(self.words.title, quote=True)}">'
            f'<p class="t-title">{html.escape(self.words.title)}</p>'
            f'<p class="t-guide">{html.escape(self.words.guide)}</p>'
            f'<p class="t-guide">{kept}</p>'
            f"<ul>{body}{self._hidden(self.root)}</ul></div>"
        )

    def _item(self, branch: Branch, path: Prefix, colours: Mapping[str, str]) -> str:
        marks = "".join(_mark(name, colours[name]) for name in branch.marks)
        line = (
            f'<span class="t-word">{html.escape(branch.word)}</span>'
            '<span class="t-bar" aria-hidden="true">'
            f'<i style="width:{branch.share:.0%}"></i></span>'
            f'<span class="t-num">{self.words.share} {_share(branch.share)}, '
            f"{self.words.whole} {branch.log_prob:.2f}</span>{marks}"
        )
        if not branch.branches:
            return f'<li><div class="t-leaf">{line}</div></li>'
        below = "".join(self._item(b, (*path, b.word), colours) for b in branch.branches)
        opened = len(path) <= self.open_to or path == self.open_path[: len(path)]
        state = " open" if opened else ""
        return (
            f"<li><details{state}><summary>{line}</summary>"
            f"<ul>{below}{self._hidden(branch)}</ul></details></li>"
        )

    def _hidden(self, branch: Branch) -> str:
        n, share = branch.hidden
        if not n:
            return ""
        words = self.words.hidden.format(n=n, share=_share(share))
        return f'<li><div class="t-leaf t-num">{html.escape(words)}</div></li>'


def search_tree(
    next_words: NextWords,
    *,
    kept: Mapping[str, Collection[Prefix]] | None = None,
    depth: int = 12,
    most: int = 4,
    least: float = 1e-3,
    open_to: int = 1,
    open_path: Prefix = (),
    words: Words | None = None,
) -> SearchTree:
    """Return the tree, opened `open_to` words deep and along a path; see `grow` for the rest."""
    root = grow(next_words, kept=kept, depth=depth, most=most, least=least)
    return SearchTree(root, words or Words(), open_to, open_path)


def _share(value: float) -> str:
    return f"{value:.2f}" if value >= 0.005 else f"{value:.0e}".replace("e-0", "e-")


def _mark(name: str, colour: str) -> str:
    return f'<span class="t-mark" style="border-color:{colour}">{html.escape(name)}</span>'


STYLE = (
    ".search-tree{margin:.8em 0;line-height:1.5;font-size:.95em}"
    ".search-tree p{margin:.2em 0}.search-tree .t-title{font-weight:600}"
    ".search-tree .t-guide{font-size:.9em}"
    ".search-tree ul{list-style:none;margin:0 0 0 .35em;padding:0 0 0 .55em;"
    "border-left:1px solid #8886}"
    ".search-tree>ul{border-left:0;padding-left:0}"
    ".search-tree li{margin:0;padding:0}"
    ".search-tree details{margin:0;padding:0;border:0;background:none;box-shadow:none}"
    ".search-tree summary{cursor:pointer;list-style:revert;padding:.15em 0;margin:0}"
    ".search-tree summary:focus-visible{outline:2px solid currentColor;outline-offset:2px}"
    ".search-tree .t-leaf{padding:.15em 0 .15em 1em}"
    ".search-tree .t-word{font-weight:600;margin-right:.5em}"
    ".search-tree .t-bar{display:inline-block;width:3.2em;height:.6em;margin-right:.5em;"
    "border:1px solid #8888}"
    f".search-tree .t-bar i{{display:block;height:100%;background:{PALETTE['sky']}}}"
    ".search-tree .t-num{font-size:.88em;font-variant-numeric:tabular-nums;margin-right:.4em}"
    ".search-tree .t-mark{display:inline-block;font-size:.8em;line-height:1.3;padding:0 .4em;"
    "margin-right:.3em;border:2px solid;border-radius:.7em}"
)
