"""A still of each chart, for paper that is printed at once and for a page where no script runs.

It stands in `<noscript>` beside the chart's box: a page pays its bytes and no element. `charts.js`
takes it out before a page is printed. One node process draws all of a build.
"""

import html
import json
import re
import subprocess
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from tools.environment.steps import WEB, node_command

# What Altair writes: an empty box, and a script with the specification.
SPEC = re.compile(r"^ *\}\)\((?=\{)", re.MULTILINE)
BOX = re.compile(r'<div id="(altair-viz-\w+)"></div>(?=\s*<script.*?^ *\}\)\((\{))', re.S | re.M)
WIDTH = 400  # px of a plot: on paper its words are as large as the text's, on a phone they are read
UNSEEN = re.compile(r' (?:aria-[\w-]+|role|class|pointer-events|xmlns[\w:]*|version)="[^"]*"')
NAMED = re.compile(r'( id="|url\(#|href="#)')
WORDS = "The chart as it first stands: to change it takes JavaScript."


def pictures(specs: list[dict[str, Any]], web: Path = WEB) -> list[str]:
    """Vega-Lite charts as SVG; `web` is the folder with the browser libraries."""
    script = Path(__file__).with_name("chart_pictures.mjs")
    words = [*node_command(script), str(web)]
    done = subprocess.run(
        words, input=json.dumps(specs), capture_output=True, encoding="utf-8", check=True
    )
    found: list[str] = json.loads(done.stdout)
    return found


def on_paper(spec: dict[str, Any]) -> dict[str, Any]:
    """The chart without a ground; a single plot in one width, as no page says how wide it is."""
    single = "mark" in spec or ("layer" in spec and not {"row", "column"} & {*_encoding(spec)})
    stretches = single and not isinstance(spec.get("width", 0), dict)
    return {**spec, "background": "transparent", **({"width": WIDTH} if stretches else {})}


def _encoding(spec: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = spec.get("encoding", {})
    return found


def still(svg: str, name: str, description: str) -> str:
    """What stands beside the box of that name: a picture with few marks and ids of its own."""
    size = re.search(r' viewBox="[^"]*"', svg)
    inside = UNSEEN.sub("", svg[svg.index(">") + 1 :]).replace('"#000"', '"currentColor"')
    inside = NAMED.sub(rf"\1{name.replace('altair-viz', 'still')}-", inside)
    label = html.escape(description or "Chart")
    head = f'<svg role="img" aria-label="{label}"{size[0] if size else ""}>'
    return f'<noscript><div class="chart-still">{head}{inside}<p>{WORDS}</p></div></noscript>'


def write_stills(app: Sphinx, failure: Exception | None) -> None:
    """Put them into the pages that were written anew."""
    if failure or app.builder.format != "html":
        return
    texts, found = {}, []
    for path in sorted(Path(app.outdir).rglob("*.html")):
        text = path.read_text(encoding="utf-8")
        for box in BOX.finditer(text):
            texts[path] = text
            found.append((path, box, json.JSONDecoder().raw_decode(text, box.start(2))[0]))
    drawn = pictures([on_paper(spec) for *_, spec in found]) if found else []
    for (path, box, spec), svg in reversed(list(zip(found, drawn, strict=True))):
        beside = still(svg, box[1], spec.get("description", ""))
        texts[path] = texts[path][: box.end()] + beside + texts[path][box.end() :]
    for path, text in texts.items():
        path.write_text(text, encoding="utf-8")


def setup(app: Sphinx) -> dict[str, Any]:
    """Before the stylesheet looks at the pages."""
    app.connect("build-finished", write_stills, priority=800)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
