"""What figure tests look at: the specification that the page gets, never pixels."""

import json
from collections.abc import Iterator
from typing import Any

import altair as alt


def spec(chart: alt.TopLevelMixin) -> dict[str, Any]:
    return json.loads(chart.to_json())


def views(node: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Every single view inside layers and concatenations."""
    inside = node.get("layer", []) + node.get("vconcat", []) + node.get("hconcat", [])
    if not inside:
        yield node
    for child in inside:
        # a layer hands its data, transforms and encodings down
        inherited = {k: v for k, v in node.items() if k in {"data", "encoding", "transform"}}
        yield from views({**inherited, **child})


def rows(node: dict[str, Any], whole: dict[str, Any] | None = None) -> list[dict[str, Any]]:
    """The rows a view draws from."""
    data = node["data"]
    if "name" in data:
        return list((whole or node)["datasets"][data["name"]])
    return list(data["values"])


def all_rows(chart: alt.TopLevelMixin) -> list[dict[str, Any]]:
    whole = spec(chart)
    found: list[dict[str, Any]] = []
    for view in views(whole):
        found += [row for row in rows(view, whole) if row not in found]
    return found


def numbers(value: Any) -> Iterator[float]:
    if isinstance(value, dict):
        for item in value.values():
            yield from numbers(item)
    elif isinstance(value, list):
        for item in value:
            yield from numbers(item)
    elif isinstance(value, float):
        yield value


def axis_titles(chart: alt.TopLevelMixin, channel: str) -> set[str]:
    titles = set()
    for view in views(spec(chart)):
        field = view["encoding"].get(channel, {})
        titles.add((field.get("axis") or {}).get("title", field.get("title")))
    return {title for title in titles if title}


def inputs(chart: alt.TopLevelMixin) -> dict[str, dict[str, Any]]:
    """The sliders and selectors by their label."""
    found = {}
    for param in spec(chart)["params"]:
        bind = param.get("bind", {})
        for field, item in [(param["name"], bind)] if "input" in bind else bind.items():
            found[field] = item
    return found
