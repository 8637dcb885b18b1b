"""The check of chapter 21 on finding a matrix again among the tensors of a graph."""

from collections.abc import Callable, Mapping

import torch
from torch import Tensor

from walkthrough.checking import Arguments, Case, Check, Mistake, arguments

Tensors = Mapping[str, Tensor]


def _is(one: Tensor, other: Tensor) -> bool:
    return one.shape == other.shape and bool((one == other).all())


def _named(test: Callable[[Tensor, Tensor], bool]) -> Callable[[Tensor, Tensors], list[str]]:
    return lambda matrix, tensors: sorted(n for n, t in tensors.items() if test(matrix, t))


def _turned(matrix: Tensor, tensor: Tensor) -> bool:
    return tensor.dim() == 2 and _is(matrix, tensor.T)


def _nearly(one: Tensor, other: Tensor) -> bool:
    return one.shape == other.shape and torch.allclose(one, other)


def _either_way(test: Callable[[Tensor, Tensor], bool]) -> Callable[[Tensor, Tensor], bool]:
    return lambda m, t: test(m, t) or (t.dim() == 2 and test(m, t.T))


def _case(
    label: str,
    shape: tuple[int, int],
    turned: str = "val_7",
    *,
    own: bool = False,
    there: bool = True,
) -> Case:
    def make(generator: torch.Generator) -> Arguments:
        matrix = torch.randn(shape, generator=generator)
        matrix = matrix + matrix.T if own else matrix
        one_off = matrix.clone()
        one_off[1, 2] += 0.5
        tensors = {
            turned: matrix.T.contiguous(),
            "embedding": matrix.clone(),
            "other": torch.randn(shape, generator=generator),
            "one_off": one_off,
            "shuffled": matrix.flip(0),
            "negative": -matrix,
            "in_a_batch": matrix[None],
            "one_bit_more": matrix.nextafter(torch.tensor(9.0)),
            "rounded": matrix.half().float(),
            "bias": torch.randn(shape[1], generator=generator),
            "count": torch.tensor(3),
        }
        if not there:
            del tensors[turned], tensors["embedding"]
        return arguments(matrix, tensors)

    return Case(label, make)


names_of = Check(
    name="the names of a matrix",
    reference=_named(lambda m, t: _is(m, t) or _turned(m, t)),
    cases=[
        _case("a wide matrix", (4, 6)),
        _case("a square matrix", (5, 5), turned="b_T"),
        _case("a matrix that is its own transpose", (3, 3), own=True),
        _case("a matrix that is not there", (3, 4), there=False),
    ],
    mistakes=[
        Mistake(
            "upright only",
            _named(_is),
            "you find the matrix where it stands as it is. An exporter may have turned it on its "
            "side, to save a transposition at run time: compare with `tensor.T` too.",
        ),
        Mistake(
            "by shape",
            _named(lambda m, t: t.shape in (m.shape, m.T.shape)),
            "you compare shapes. Other tensors have that shape too: compare the numbers.",
        ),
        Mistake(
            "nearly",
            _named(_either_way(_nearly)),
            "you accept what lies near. A copy that was rounded holds other numbers: ask for equal "
            "ones.",
        ),
        Mistake(
            "the first name",
            lambda m, t: _named(_either_way(_is))(m, t)[:1],
            "you return one name. The matrix may stand in a file twice: return them all.",
        ),
    ],
)
