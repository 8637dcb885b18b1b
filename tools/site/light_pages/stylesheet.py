"""One stylesheet for the whole site, with the rules, the icons and the letters that its pages use.

The theme and the extensions bring eleven files of 550 kB, and 1 400 icons in three fonts.
"""

import html
import json
import re
import subprocess
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.errors import ExtensionError
from tools.environment.steps import WEB, node_command
from tools.site.light_pages.fonts import FACE, Weights, mathematical_face, text_face, with_icons

MODULES = WEB / "node_modules"
NAME = "site.css"
THEME = ("_static/styles/theme.css", "_static/styles/pydata-sphinx-theme.css")
ICONS = "_static/vendor/fontawesome/webfonts"
MATH_STYLE = MODULES / "temml" / "dist" / "Temml-STIX2.css"
MATH_FONT = MODULES / "@fontsource/stix-two-math/files/stix-two-math-latin-400-normal.woff"
MATH_FAMILY = "STIX2"  # as the style names it
# The fonts of the text: family, file, and the weights that pages use.
VARIABLE = MODULES / "@fontsource-variable"
TEXT: list[tuple[str, Path, Weights]] = [
    (family, VARIABLE / name / "files" / f"{name}-latin-wght-{style}.woff2", weights)
    for family, name, style, weights in (
        ("Source Serif 4", "source-serif-4", "normal", (400, 700)),
        ("Source Serif 4", "source-serif-4", "italic", 400),
        ("Source Sans 3", "source-sans-3", "normal", (400, 700)),
        ("JetBrains Mono", "jetbrains-mono", "normal", 400),
    )
]
ASCII = {chr(code) for code in range(32, 127)}
GREEK = "\u0370"  # what comes after the letters that the fonts of the text have
NOTE = """\
/* Icons: Font Awesome Free 6.5.2, https://fontawesome.com, SIL OFL 1.1, those used.
   Formulas: STIX Two Math, https://github.com/stipub/stixfonts, SIL OFL 1.1, the letters used, with
   narrower root signs; rules of Temml, MIT.
   Text: Source Serif 4 and Source Sans 3, https://github.com/adobe-fonts, and JetBrains Mono,
   https://github.com/JetBrains/JetBrainsMono, SIL OFL 1.1, the letters used.
   Theme: pydata-sphinx-theme and sphinx-book-theme, BSD 3-Clause, with Bootstrap, MIT.
   Made of: {files} */
"""
# What the theme's template writes by itself: its two stylesheets, a script that draws icons, and
# that two scripts which run at the end are to be loaded first.
WRITTEN = re.compile(
    r"<(?:link|script)\b[^>]*_static/(?:styles/(?:theme|pydata-sphinx-theme)\.css"
    r"|scripts/(?:fontawesome|bootstrap|pydata-sphinx-theme)\.js)[^>]*>(?:</script>)?\s*"
)


def without_the_theme_s(head: str) -> str:
    """The head of a page without the theme's own stylesheets and its script of icons."""
    return WRITTEN.sub("", head)


def replace_stylesheets(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: object
) -> None:
    """Make a page load the one stylesheet, and remember what it is made of."""
    named = (str(getattr(file, "filename", file)) for file in context["css_files"])
    local = [file for file in named if file.startswith("_static/")]
    found = app.builder.__dict__.setdefault("_stylesheets", dict.fromkeys(THEME))
    found.update(dict.fromkeys(local))
    context["css_files"] = [f"_static/{NAME}"]
    context["without_the_theme_s"] = without_the_theme_s


def joined(site: Path, files: list[str], own: set[str]) -> str:
    """The rules of these files that the site's pages or scripts could need, and all of our own.

    Raises:
        ExtensionError: node could not join them, with what it said.
    """
    styles = [{"file": file, "own": Path(file).name in own} for file in files]
    made = subprocess.run(
        node_command(Path(__file__).with_name("make_stylesheet.mjs")),
        input=json.dumps({"site": str(site), "styles": styles}),
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    if made.returncode:
        raise ExtensionError(f"the stylesheet was not made:\n{made.stderr}")
    return made.stdout


def write_stylesheet(app: Sphinx, failure: Exception | None) -> None:
    """Write the stylesheet when all pages are there to be looked at."""
    files = getattr(app.builder, "_stylesheets", None)
    if failure or not files:
        return
    site = Path(app.outdir)
    ours = (name for name in app.config.html_static_path if not Path(name).is_absolute())
    own = {path.name for name in ours for path in (Path(app.confdir) / name).glob("*.css")}
    formulas = site / "_static" / "formulas.css"
    formulas.write_text(FACE.sub("", MATH_STYLE.read_text(encoding="utf-8")), encoding="utf-8")
    made_of = sorted([*files, "_static/formulas.css"], key=lambda file: Path(file).name in own)
    css = joined(site, made_of, own)
    pages = "\n".join(page.read_text(encoding="utf-8") for page in sorted(site.rglob("*.html")))
    css = with_icons(css, site / ICONS, pages)
    written = set(html.unescape(pages)) | ASCII
    symbols = {letter for letter in written if letter >= GREEK}
    faces = [text_face(family, file, weights, written) for family, file, weights in TEXT]
    faces.append(mathematical_face(MATH_FAMILY, MATH_FONT, pages, symbols))
    (site / "_static" / NAME).write_text(
        NOTE.format(files=" ".join(made_of)) + "".join(faces) + css, encoding="utf-8"
    )


def setup(app: Sphinx) -> None:
    """After all others that add stylesheets."""
    app.connect("html-page-context", replace_stylesheets, priority=950)
    app.connect("build-finished", write_stylesheet, priority=900)
