"""Constituency trees, as they are written in brackets and as treebanks have them (§6.3)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

# A tree is (label, child, …) where a child is a tree or a token. `tuple[str, ...]` cannot say
# that the tail nests, so the alias stays loose and `leaves` and `parse_brackets` check instead.
Tree = tuple[Any, ...]


def leaves(tree: Tree) -> Iterator[str]:
    """Yield the tokens of a tree from left to right."""
    for child in tree[1:]:
        if isinstance(child, str):
            yield child
        else:
            yield from leaves(child)


def brackets(tree: Tree) -> str:
    """Write a tree as a bracket string: `(S (NP Jane) (VP sings))`."""
    parts = (child if isinstance(child, str) else brackets(child) for child in tree[1:])
    return f"({tree[0]} {' '.join(parts)})"


def parse_brackets(text: str) -> Tree:
    """Read a bracket string back into nested tuples.

    Raises:
        ValueError: the brackets do not close, a node has no label or child, or text follows.
    """
    stack: list[list[Any]] = []
    symbols = text.replace("(", " ( ").replace(")", " ) ").split()
    for position, symbol in enumerate(symbols):
        if symbol == "(":
            stack.append([])
            continue
        if not stack:
            raise ValueError(f"expected '(' before {symbol!r} in {text!r}")
        if symbol != ")":
            stack[-1].append(symbol)
            continue
        node = tuple(stack.pop())
        if len(node) < 2 or not isinstance(node[0], str):
            raise ValueError(f"expected a label and at least one child, got {node!r} in {text!r}")
        if stack:
            stack[-1].append(node)
        elif position + 1 < len(symbols):
            raise ValueError(f"expected the end after the tree, got {symbols[position + 1]!r}")
        else:
            return node
    if not stack:
        raise ValueError(f"expected a tree, got {text!r}")
    raise ValueError(f"expected {len(stack)} more ')' at the end of {text!r}")


class TaggedTree(NamedTuple):
    """A treebank's tree without its tags, and the tag of each word."""

    tree: Tree
    tags: tuple[str, ...]


def read_penn(text: str) -> TaggedTree:
    """Read a tree as the Penn Treebank writes it: its constituents, and apart from them its tags.

    Without the outer bracket that has no label; without traces (`-NONE-`) and what holds nothing
    else; without the functions behind a label (`NP-SBJ-1` is `NP`, Section 6.3's labels).

    Raises:
        ValueError: the brackets do not close, text follows them, or no constituent is left.
    """
    node = _read_brackets(text)
    if node and not isinstance(node[0], str):
        if len(node) != 1:
            raise ValueError(f"expected one tree inside the outer bracket, got {len(node)}")
        (node,) = node
    tags: list[str] = []
    tree = _without_tags(node, tags, text)
    if not isinstance(tree, tuple):
        raise ValueError(f"a tree needs a constituent above its words, got {_short(text)}")
    return TaggedTree(tree, tuple(tags))


def _read_brackets(text: str) -> list[Any]:
    """Return nested lists; a hair space inside a word does not part it."""
    stack: list[list[Any]] = []
    whole: list[Any] | None = None
    for symbol in re.findall(r"[()]|[^() \t\r\n]+", text):
        if whole is not None:
            raise ValueError(f"expected the end after the tree, got {symbol!r}")
        if symbol == "(":
            stack.append([])
        elif not stack:
            raise ValueError(f"expected '(' before {symbol!r} in {_short(text)}")
        elif symbol == ")":
            node = stack.pop()
            if stack:
                stack[-1].append(node)
            else:
                whole = node
        else:
            stack[-1].append(symbol)
    if whole is None:
        raise ValueError(f"expected {len(stack) or 'one tree and its'} more ')' in {_short(text)}")
    return whole


def _without_tags(node: list[Any], tags: list[str], text: str) -> Tree | str | None:
    if len(node) < 2 or not isinstance(node[0], str):
        raise ValueError(f"a node needs a label and a child, got {node!r} in {_short(text)}")
    if len(node) == 2 and isinstance(node[1], str):
        if node[0] == "-NONE-":
            return None
        tags.append(_label(node[0]))
        return node[1]
    if any(isinstance(child, str) for child in node[1:]):
        raise ValueError(f"every word needs a tag of its own, got {node!r} in {_short(text)}")
    children = [_without_tags(child, tags, text) for child in node[1:]]
    kept = [child for child in children if child is not None]
    return (_label(node[0]), *kept) if kept else None


def _label(raw: str) -> str:
    # -LRB- is a tag as it stands; NP-SBJ=2 is a noun phrase
    return raw if raw.startswith("-") else re.split(r"[-=|]", raw)[0] or raw


def _short(text: str) -> str:
    text = text.strip()
    return repr(text if len(text) <= 80 else f"{text[:77]}…")
