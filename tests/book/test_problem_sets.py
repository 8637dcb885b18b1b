"""The checks of `course/`: an empty file is nothing yet, right answers pass, slips are named."""

import runpy
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F

COURSE = Path(__file__).resolve().parents[2] / "course"
CHECK = runpy.run_path(str(COURSE / "check.py"))


def backwards(query, key, value, attend_mask, upstream):
    """Not what the sheet asks for: autograd. The check sees results alone."""
    with torch.enable_grad():
        given = [one.clone().requires_grad_() for one in (query, key, value)]
        F.scaled_dot_product_attention(*given, attn_mask=attend_mask).backward(upstream)
    return [one.grad for one in given]


def one_softmax(query, key, value, attend_mask, upstream):
    """The gradient of a softmax without what its sum takes back."""
    weights = (query @ key.T / query.shape[1] ** 0.5).masked_fill(~attend_mask, -torch.inf)
    weights = weights.softmax(-1)
    scores = weights * (upstream @ value.T) / query.shape[1] ** 0.5
    return scores @ key, scores.T @ query, weights.T @ upstream


def merged(first, second, shift=True):
    top = torch.maximum(first[1], second[1]).clamp(min=-1e30) if shift else 0.0
    shares = [(part[1] - top).exp() for part in (first, second)]
    total = shares[0] + shares[1]
    output = sum(share[:, None] * part[0] for share, part in zip(shares, (first, second)))  # noqa: B905
    return output / total[:, None].where(total[:, None] > 0, 1.0), top + total.log()


def window(length, width):
    return torch.tensor([[0 <= i - j <= width for j in range(length)] for i in range(length)])


def probability(logits, target, pad):
    rows = zip(logits.log_softmax(-1), target, strict=True)
    return torch.stack(
        [
            sum((a[t] for a, t in zip(r, ts, strict=True) if t != pad), torch.zeros(()))
            for r, ts in rows
        ]
    )


def closed(logits, written, n):
    seen = {tuple(written[i : i + n]) for i in range(len(written) - n + 1)}
    start = tuple(written[len(written) - n + 1 :]) if len(written) >= n - 1 else None
    repeats = [start is not None and (*start, word) in seen for word in range(len(logits))]
    return logits.masked_fill(torch.tensor(repeats), -torch.inf)


def mean(states):
    if not states or any(state.keys() != states[0].keys() for state in states):
        raise ValueError("no mean")
    last = states[-1]
    return {
        name: torch.stack([s[name].double() for s in states]).mean(0).to(one.dtype)
        if one.is_floating_point()
        else one
        for name, one in last.items()
    }


RIGHT = {
    "window_mask": window,
    "attention_gradients": backwards,
    "merge": merged,
    "log_probability": probability,
    "no_repeat": closed,
    "averaged": mean,
}
WRONG = [
    ("window_mask", lambda n, w: window(n, w + 1), "open keys"),
    ("window_mask", lambda n, w: window(n, w).T, "sees what comes later"),
    ("window_mask", lambda n, w: window(n, w).float(), "boolean"),
    ("attention_gradients", one_softmax, "gradient of Q is not right"),
    ("merge", lambda a, b: merged(a, b, shift=False), "is not right|NaN"),
    ("log_probability", lambda x, y, pad: probability(x, y, -1), "not right: pad = 0"),
    ("no_repeat", lambda x, ids, n: closed(x, ids, n + 1), "is 1 closed"),
    ("no_repeat", lambda x, ids, n: x.copy_(closed(x, ids, n)), "logits that were given"),
    ("averaged", lambda states: states[-1], "half is not right"),
]


@pytest.mark.parametrize("number", [1, 2])
def test_a_set_as_it_is_handed_out_is_nothing_yet(number, capsys):
    assert CHECK["main"]([str(COURSE / f"set_{number}.py")]) == 1
    said = capsys.readouterr().out.splitlines()
    assert len(said) == 3
    assert all(line.endswith(": nothing yet") for line in said)


@pytest.mark.parametrize("name", RIGHT)
def test_a_right_answer_is_right(name):
    assert CHECK["said"](CHECK[name], RIGHT[name]) == "right"


@pytest.mark.parametrize(("name", "answer", "said"), WRONG)
def test_a_slip_is_told(name, answer, said):
    assert RIGHT.keys() == {one.__name__ for one in CHECK["CHECKS"]}
    found = CHECK["said"](CHECK[name], answer)
    assert found.startswith("wrong: ")
    assert any(one in found for one in said.split("|")), found


def test_a_file_that_stops_or_holds_nothing_is_said_so(tmp_path, capsys):
    (tmp_path / "stops.py").write_text("raise KeyError('x')", encoding="utf-8")
    (tmp_path / "empty.py").write_text("", encoding="utf-8")
    assert CHECK["main"]([str(tmp_path / "stops.py"), str(tmp_path / "empty.py")]) == 1
    assert capsys.readouterr().out.splitlines() == [
        "stops.py: not read: KeyError: 'x'",
        "empty.py: none of the functions of a set is in it",
    ]
