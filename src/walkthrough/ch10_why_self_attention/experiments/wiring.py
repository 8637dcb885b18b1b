"""Who reads whom in each layer type, as a graph, for chapter 10 (§4, Table 1).

A place is (layer, position), counted from 0; layer 0 is the input. An edge leads from a place to
each place that is computed from it directly. Two numbers of Table 1 are lengths in this graph:
the *longest* chain through one layer, and the *shortest* way between the two ends of a sentence.
"""

from collections import deque
from collections.abc import Mapping
from typing import Literal, get_args

Place = tuple[int, int]
Kind = Literal["self-attention", "recurrent", "convolutional", "dilated", "restricted"]
Wiring = Mapping[Place, list[Place]]
KINDS: tuple[Kind, ...] = get_args(Kind)


def wiring(kind: Kind, *, n: int, n_layers: int = 1, k: int = 3, r: int = 3) -> Wiring:
    """Return what each place of a stack of layers reads; places of the input read nothing.

    Recurrence and convolutions look at what came before; self-attention looks to both sides.

    Raises:
        ValueError: an unknown kind, or sizes below 1 (k and r: below 2, r even).
    """
    _check(kind, n=n, n_layers=n_layers, k=k, r=r)
    places = [(layer, position) for layer in range(n_layers + 1) for position in range(n)]
    return {place: _reads(kind, *place, n=n, k=k, r=r) for place in places}


def _reads(kind: Kind, layer: int, position: int, *, n: int, k: int, r: int) -> list[Place]:
    if layer == 0:
        return []
    if kind == "recurrent":  # the input here, and its own layer one step before
        before = [(layer, position - 1)] if position else []
        return [*before, (layer - 1, position)]
    gap = k ** (layer - 1) if kind == "dilated" else 1
    offsets = {
        "self-attention": range(-position, n - position),
        "restricted": range(-(r // 2), r // 2 + 1),
        "convolutional": range(1 - k, 1),
        "dilated": range(gap * (1 - k), 1, gap),
    }[kind]
    seen = (position + offset for offset in offsets)
    return [(layer - 1, other) for other in seen if 0 <= other < n]


def steps(reads: Wiring) -> dict[Place, int]:
    """Return the step at which each place can be computed, if all work is done at once (§4).

    A place waits for the last of the places that it reads; the input is there at step 0.
    """
    found: dict[Place, int] = {}
    for place in sorted(reads):  # by layer, then by position: what is read comes first
        found[place] = 1 + max((found[other] for other in reads[place]), default=-1)
    return found


def shortest_way(reads: Wiring, start: Place, end: Place) -> list[Place]:
    """Return the places on a shortest way, both ends included; none if there is no way.

    Breadth first, from the end down: the places one edge away, then those two edges away, …
    """
    toward_end: dict[Place, Place | None] = {end: None}
    queue = deque([end])
    while queue and start not in toward_end:
        place = queue.popleft()
        for other in reads[place]:
            if other not in toward_end:
                toward_end[other] = place
                queue.append(other)
    way, place_on_way = [], start if start in toward_end else None
    while place_on_way is not None:
        way.append(place_on_way)
        place_on_way = toward_end[place_on_way]
    return way


def layers_needed(kind: Kind, *, n: int, k: int = 3, r: int = 3) -> int:
    """Return the smallest number of layers in which the first input reaches the last output."""
    n_layers = 1
    while not shortest_way(
        wiring(kind, n=n, n_layers=n_layers, k=k, r=r), (0, 0), (n_layers, n - 1)
    ):
        n_layers += 1
    return n_layers


def longest_shortest_way(kind: Kind, *, n: int, k: int = 3, r: int = 3) -> int:
    """Return Table 1's maximum path length: edges between the two places that are worst connected.

    The stack has as many layers as it takes to connect the first input with the last output.
    Pairs that are not connected at all do not count: a recurrence never looks ahead.
    """
    n_layers = layers_needed(kind, n=n, k=k, r=r)
    reads = wiring(kind, n=n, n_layers=n_layers, k=k, r=r)
    return max(_farthest(reads, (n_layers, position)) for position in range(n))


def _farthest(reads: Wiring, end: Place) -> int:
    distance, queue = {end: 0}, deque([end])
    while queue:
        place = queue.popleft()
        for other in reads[place]:
            if other not in distance:
                distance[other] = distance[place] + 1
                queue.append(other)
    return max(edges for (layer, _), edges in distance.items() if layer == 0)


def _check(kind: str, *, n: int, n_layers: int, k: int, r: int) -> None:
    if kind not in KINDS:
        raise ValueError(f"kind must be one of {', '.join(KINDS)}, got {kind!r}")
    if n < 1 or n_layers < 1:
        raise ValueError(f"n and n_layers must be at least 1, got {n} and {n_layers}")
    if k < 2 or r < 3 or r % 2 == 0:
        raise ValueError(f"k must be at least 2, r at least 3 and odd; got {k} and {r}")
