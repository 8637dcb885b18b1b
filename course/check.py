"""Check what is handed in for a problem set; its code is executed.

    python course/check.py set_1.py [FILE …]

A file is checked for every function of both sets that it holds. One line a task; the exit status
is 1 where one is not right.
"""

import math
import runpy
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from transformer.attention import scaled_dot_product_attention

Answer = Callable[..., Any]


class WrongError(Exception):
    """What is wrong with an answer, for its author."""


def need(holds: bool, said: str) -> None:
    """Stop with a sentence where something does not hold."""
    if not holds:
        raise WrongError(said)


def close(found: Any, wanted: Tensor, name: str, case: str) -> None:
    """Compare a tensor with the right one."""
    need(isinstance(found, Tensor), f"{name} should be a tensor; got {type(found).__name__}")
    shapes = f"{tuple(found.shape)}, not {tuple(wanted.shape)}"
    need(found.shape == wanted.shape, f"{name} has the shape {shapes} ({case})")
    same = torch.allclose(found.double(), wanted.double(), atol=1e-4, rtol=1e-4)
    need(same, f"{name} is not right: {case}")


def window_mask(answer: Answer) -> None:
    """A row has itself and what lies at most `width` before it, and nothing else."""
    for length, width in ((5, 2), (6, 0), (4, 9), (1, 3)):
        mask, case = answer(length, width), f"length {length}, width {width}"
        need(isinstance(mask, Tensor), "the mask should be a tensor")
        need(mask.dtype == torch.bool, f"the mask should be boolean; it is {mask.dtype}")
        need(mask.shape == (length, length), f"{case}: its shape is {tuple(mask.shape)}")
        need(bool(mask.diagonal().all()), f"{case}: a word may attend to itself")
        need(not bool(mask.triu(1).any()), f"{case}: a query sees what comes later")
        counts = [min(row, width) + 1 for row in range(length)]
        need(mask.sum(1).tolist() == counts, f"{case}: the rows should have {counts} open keys")
        first_open = mask.int().argmax(1).tolist()
        need(first_open == [max(0, n - width) for n in range(length)], f"{case}: rows have gaps")


def attention_gradients(answer: Answer) -> None:
    """What autograd finds for the package's attention."""
    generator = torch.Generator().manual_seed(1)

    def draw(*shape: int, scale: float = 1.0) -> Tensor:
        return scale * torch.randn(*shape, generator=generator)

    for queries, keys, d_k, d_v, scale in ((3, 4, 5, 2, 1.0), (1, 1, 4, 3, 1.0), (4, 6, 8, 7, 6.0)):
        given = [draw(queries, d_k, scale=scale), draw(keys, d_k, scale=scale), draw(keys, d_v)]
        mask = draw(queries, keys) > 0
        mask[:, 0] = True
        upstream = draw(queries, d_v)
        watched = [one.clone().requires_grad_() for one in given]
        _attention(*watched, mask).backward(upstream)
        with torch.no_grad():
            found = answer(*given, mask, upstream)
        need(isinstance(found, tuple | list) and len(found) == 3, "return three tensors")
        case = f"{queries} queries, {keys} keys, d_k {d_k}, d_v {d_v}, some of them masked"
        for one, right, name in zip(found, watched, "QKV", strict=True):
            assert right.grad is not None
            close(one, right.grad, f"the gradient of {name}", case)


def merge(answer: Answer) -> None:
    """The attention over all keys, in whatever way they were cut in two."""
    generator = torch.Generator().manual_seed(2)
    query, key, value = (torch.randn(5, 4, generator=generator) for _ in range(3))
    mask = torch.rand(5, 5, generator=generator) > 0.3
    mask[1, :2] = False  # nothing in the first part
    mask[2, 2:] = False  # nothing in the second
    mask[3] = False  # nothing at all
    for scale, case in ((1.0, "scores near 1"), (400.0, "scores of several hundred")):
        whole = _part(scale * query, key, value, mask)
        parts = [
            _part(scale * query, key[s], value[s], mask[:, s]) for s in (slice(2), slice(2, 5))
        ]
        kept = [[one.clone() for one in part] for part in parts]
        found = answer(*parts)
        need(isinstance(found, tuple | list) and len(found) == 2, "return output and log_total")
        close(found[0], whole[0], "the output", f"{case}; some queries have no key in a part")
        need(not bool(torch.isnan(found[1]).any()), f"log_total has NaN: {case}")
        close(found[1].clamp(-1e30), whole[1].clamp(-1e30), "log_total", case)
        for part, before in zip(parts, kept, strict=True):
            same = all(map(torch.equal, part, before))
            need(same, "the parts that were given have been changed")


def _part(query: Tensor, key: Tensor, value: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
    scores = (query @ key.T / math.sqrt(key.shape[1])).masked_fill(~mask, -math.inf)
    return _attention(query, key, value, mask), scores.logsumexp(1)


def _attention(query: Tensor, key: Tensor, value: Tensor, mask: Tensor) -> Tensor:
    output, _ = scaled_dot_product_attention(query, key, value, mask)
    return output


def log_probability(answer: Answer) -> None:
    """Minus the summed cross-entropy of each sentence, padding left out."""
    generator = torch.Generator().manual_seed(3)
    for size, pad, scale in ((7, 0, 1.0), (5, 3, 90.0)):
        logits = scale * torch.randn(3, 4, size, generator=generator)
        target = torch.randint(0, size, (3, 4), generator=generator)
        target[target == pad] = (pad + 1) % size
        target[1, 2:] = pad
        target[2] = pad
        losses = F.cross_entropy(logits.transpose(1, 2), target, ignore_index=pad, reduction="none")
        case = f"pad = {pad}, logits near ±{scale:.0f}; the last sentence is padding alone"
        close(answer(logits, target, pad), -losses.sum(1), "the log probability", case)


def no_repeat(answer: Answer) -> None:
    """A word is closed if and only if it would make a sequence stand twice."""
    generator = torch.Generator().manual_seed(4)
    texts = [], [1], [1, 2, 1], [1, 2, 3, 1, 2], [4, 4, 4], [0, 1, 0, 2, 0], [1, 2, 3, 4, 1, 2, 3]
    for written in texts:
        for n in (1, 2, 3):
            logits = torch.randn(6, generator=generator)
            before, ids = logits.clone(), list(written)
            found = answer(logits, ids, n)
            case = f"written {written}, n = {n}"
            need(torch.equal(logits, before), f"the logits that were given are changed: {case}")
            need(ids == written, f"the list that was given is changed: {case}")
            pieces = {tuple(written[i : i + n]) for i in range(len(written) - n + 1)}
            for word in range(6):
                end = tuple([*written, word][-n:])
                closed = len(end) == n and end in pieces
                is_closed = bool(found[word] == -math.inf)
                need(is_closed == closed, f"{case}: is {word} closed? {is_closed}, not {closed}")
                need(
                    closed or bool(found[word] == before[word]), f"{case}: {word} has another logit"
                )


def averaged(answer: Answer) -> None:
    """The mean of what has a fraction; what is counted stays whole; names must agree."""
    generator = torch.Generator().manual_seed(5)
    states = [
        {
            "half": torch.randn(3, generator=generator).half(),
            "steps": torch.tensor(10 + n),
            "weight": 1e4 + torch.randn(2, 3, generator=generator),
        }
        for n in range(3)
    ]
    kept = [{name: one.clone() for name, one in state.items()} for state in states]
    found = answer(states)
    need(list(found) == list(states[0]), f"the names should be {list(states[0])}")
    for name in ("half", "weight"):
        mean = sum(state[name].double() for state in states) / 3
        need(found[name].dtype == states[0][name].dtype, f"{name} has become {found[name].dtype}")
        close(found[name], mean.to(states[0][name].dtype), name, "the mean of three states")
    need(found["steps"].tolist() == 12, "whole numbers are those of the last state")
    for now, then in zip(states, kept, strict=True):
        same = all(torch.equal(now[name], then[name]) for name in then)
        need(same, "the states that were given have been changed")
    for wrong in ([], [states[0], {"other": torch.zeros(1)}]):
        try:
            answer(wrong)
        except ValueError:
            continue
        raise WrongError(f"{len(wrong)} states that have no mean should be a ValueError")


CHECKS = (window_mask, attention_gradients, merge, log_probability, no_repeat, averaged)


def said(check: Callable[[Answer], None], answer: Answer) -> str:
    """Return "right", "nothing yet", or what is wrong."""
    try:
        check(answer)
    except NotImplementedError:
        return "nothing yet"
    except WrongError as error:
        return f"wrong: {error}"
    except Exception as error:  # whatever a student's code raises
        return f"stopped: {type(error).__name__}: {error}"
    return "right"


def main(files: list[str]) -> int:
    """Print a line for each task of each file; return the exit status."""
    if not files:
        print(__doc__)
        return 2
    all_right = True
    for file in files:
        try:
            held = runpy.run_path(file)
        except Exception as error:  # whatever a student's file raises
            print(f"{Path(file).name}: not read: {type(error).__name__}: {error}")
            all_right = False
            continue
        found = {
            one.__name__: said(one, held[one.__name__]) for one in CHECKS if one.__name__ in held
        }
        lines = [f"{name}: {verdict}" for name, verdict in found.items()]
        for line in lines or ["none of the functions of a set is in it"]:
            print(f"{Path(file).name}: {line}")
        all_right &= bool(found) and set(found.values()) == {"right"}
    return int(not all_right)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
