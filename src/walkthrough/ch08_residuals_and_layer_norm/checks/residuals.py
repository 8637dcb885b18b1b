"""The check of chapter 08 on residuals: what is left of a word (§3.1)."""

from collections.abc import Callable

from walkthrough.checking import Case, Check, Mistake, fixed

Left = Callable[[float, int, str], float]


def _mixed(
    post: Callable[[float, int], float] = lambda branch, n: float((1 + branch) ** -n),
    pre: Callable[[float, int], float] = lambda branch, n: 1 / (1 + n * branch),
) -> Left:
    """The share of the word, with another rule for one kind of norm."""
    return lambda branch, n_sublayers, norm: (post if norm == "post" else pre)(branch, n_sublayers)


def _ask(branch: float, n_sublayers: int, norm: str, special: str = "") -> Case:
    label = f'branch={branch}, n_sublayers={n_sublayers}, norm="{norm}"'
    return fixed(label, branch, n_sublayers, norm, special=special)


share_left = Check(
    name="share_left",
    reference=_mixed(),
    cases=[
        _ask(0.5, 1, "post"),
        _ask(0.5, 12, "post"),
        _ask(2.0, 3, "post"),
        _ask(0.25, 3, "pre"),
        _ask(0.5, 0, "post", "Before the first branch the word is all there is: 1."),
        _ask(0.0, 5, "pre", "Branches that write nothing leave all of the word: 1."),
    ],
    mistakes=[
        Mistake(
            "post and pre exchanged",
            lambda branch, n, norm: _mixed()(branch, n, "pre" if norm == "post" else "post"),
            "post and pre are exchanged. Post-norm scales each sum back, so factors multiply; in "
            "pre-norm nothing does, and variances add up.",
            "Post-norm and pre-norm",
        ),
        Mistake(
            "post-norm adds up",
            _mixed(post=lambda branch, n: 1 / (1 + n * branch)),
            "post-norm is treated like pre-norm. After each sum, post-norm scales the stream back "
            "to variance 1, so the next branch meets a stream of the same size: factors multiply.",
        ),
        Mistake(
            "pre-norm multiplies",
            _mixed(pre=lambda branch, n: float((1 + branch) ** -n)),
            "pre-norm is treated like post-norm. Nothing scales the stream back: its variance "
            "grows by the same amount each time, 1 + branch, 1 + 2 · branch, …",
        ),
        Mistake(
            "branches take away",
            _mixed(lambda branch, n: float((1 - branch) ** n), lambda branch, n: 1 - n * branch),
            "a branch takes nothing away from the word; it adds to the sum. The word keeps its "
            "variance 1, the whole has 1 + branch: the share is 1 / (1 + branch), not 1 − branch.",
        ),
        Mistake(
            "the branch's share",
            _mixed(post=lambda branch, n: float((branch / (1 + branch)) ** n)),
            "pre-norm is right. With post-norm this is what a *branch* has of the sum, "
            "branch / (1 + branch). The word has the rest of it.",
        ),
        Mistake(
            "nothing shrinks in pre-norm",
            _mixed(pre=lambda branch, n: 1.0),
            "post-norm is right. In pre-norm the word itself does not shrink, but what is asked is "
            "its share of the stream, and the stream grows with each branch.",
        ),
        Mistake(
            "one branch",
            lambda branch, n_sublayers, norm: 1 / (1 + branch),
            "only one branch was counted: this is the share after the first sub-layer.",
        ),
    ],
    right="`share_left` is right: post-norm multiplies, pre-norm adds up",
)
