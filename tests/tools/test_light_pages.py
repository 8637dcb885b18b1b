"""Pages are light, and nothing that a reader sees is lost by it.

Guards against what was tried: a font without the root sign, which no formula writes; a comma that
begins a line; a rule behind an `@import` that has no effect further down; a class that only a
script sets.
"""

import base64
import colorsys
import io
import os
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from docutils import nodes
from fontTools.ttLib import TTFont
from sphinx.builders.html._assets import _JavaScript as Script
from sphinx.errors import ExtensionError
from tools.site.light_pages import fonts, markup, mathematics, stylesheet

from walkthrough.drawing.style import ROLES, contrast

FORMULA = "<p>Divide by (<math><msqrt><mi>d</mi></msqrt></math>), then.</p>"


def font_in(css: str) -> TTFont:
    data = re.search(r"font/woff2;base64,([^)]*)", css)
    assert data
    return TTFont(io.BytesIO(base64.b64decode(data[1])))


def test_a_formula_becomes_mathml():
    assert "<msqrt>" in mathematics.mathml(r"\sqrt{d_k}")
    assert 'display="block"' in mathematics.mathml("x", display=True)


@pytest.mark.parametrize("tex", [r"\frac{a", r"\unknown{x}", r"\begin{aligned} x"])
def test_a_formula_that_does_not_parse_ends_the_build_with_page_and_formula(tex):
    translator = SimpleNamespace(builder=SimpleNamespace(current_docname="book/02"), body=[])
    with pytest.raises(ExtensionError) as caught:
        mathematics.visit_inline(translator, nodes.math(tex, tex))
    assert "book/02" in str(caught.value)
    assert repr(tex) in str(caught.value)


def test_the_setter_goes_on_after_a_formula_that_does_not_parse():
    with pytest.raises(mathematics.FormulaError):
        mathematics.mathml(r"\frac{b")
    assert "<mi>b</mi>" in mathematics.mathml("b")


def test_a_formula_in_a_line_has_no_row_around_it():
    assert mathematics.mathml("x + y") == "<math><mi>x</mi><mo>+</mo><mi>y</mi></math>"
    assert mathematics.mathml(r"(x) (y)").count("<mrow>") == 2


@pytest.mark.parametrize("tex", [r"\hat{y}", r"\vec v", r"\sqrt{\hat{\bar x}}"])
def test_a_hat_is_said_to_be_an_accent(tex):
    """Firefox guesses it, and complains of it on every page."""
    assert '<mover accent="true">' in mathematics.mathml(tex)
    assert "accent" not in mathematics.mathml(r"\overset{a}{=}")


def test_functions_stand_apart_as_tex_has_it():
    space = '<mspace width="0.1667em"></mspace>'
    assert f"</msub>{space}<mrow><mi>log" in mathematics.mathml(r"q_k \log p")
    assert space not in mathematics.mathml(r"\tanh")


def test_blank_lines_separate_equations():
    assert mathematics.aligned("a = b\n") == "a = b"
    assert mathematics.mathml(mathematics.aligned("a\n\nb"), display=True).count("<mtr>") == 2


@pytest.mark.parametrize(
    ("html", "kept"),
    [
        ("is <math>x</math>, and", 'is <span class="together"><math>x</math>,</span> and'),
        ("(<math>x</math>) and", '<span class="together">(<math>x</math>)</span> and'),
        ("<math>x</math>-th<br>", '<span class="together"><math>x</math>-th</span><br>'),
        ("is <math>x</math> and", "is <math>x</math> and"),
        ("<math>x</math>&lt; y", '<span class="together"><math>x</math>&lt;</span> y'),
    ],
)
def test_what_is_written_against_a_formula_stays_with_it(html, kept):
    assert mathematics.kept_together(html) == kept


def test_a_number_is_one_piece_and_code_keeps_its_spaces():
    kept = "1\N{NBSP}000 of 12\N{NBSP}345\N{NBSP}678 in 2017, 20 40, page 1 2000"
    code = "<code>1 000</code><pre class='x'>1 000</pre><script>1 000</script>"
    html = f"<p title='1 000'>{kept.replace(chr(160), ' ')}</p>{code}"
    assert markup.unbroken(html) == f"<p title='1 000'>{kept}</p>{code}"


def test_code_loses_the_marks_that_do_not_show_and_keeps_its_text():
    text = (
        '<div class="highlight"><pre><span></span><span class="n">a</span> <span class="o">=</span>'
        '<span class="o">-</span>'
        '<span class="p">(</span><span class="mi">1</span><span class="p">)</span></pre></div>'
    )
    light = markup.unmarked(text)
    assert re.sub(r"<[^>]*>", "", light) == re.sub(r"<[^>]*>", "", text)
    assert re.findall(r'class="(\w+)"', light) == ["highlight", "o", "mi"]
    assert markup.unmarked('<p><span class="n">not code</span></p>').count("span") == 2
    formula = '<div class="math nohighlight">x</div><span>a button</span><pre>code</pre>'
    assert markup.unmarked(formula) == formula


def test_what_stands_alone_in_a_cell_needs_no_paragraph():
    row = '<td class="a"><p>one <em>two</em></p></td><td><p>three</p><p>four</p></td>'
    assert markup.ALONE.sub(r"\1\2", row) == (
        '<td class="a">one <em>two</em></td><td><p>three</p><p>four</p></td>'
    )


def test_the_mathematical_font_has_the_letters_that_formulas_use():
    css = fonts.mathematical_face("M", stylesheet.MATH_FONT, FORMULA)
    letters = font_in(css).getBestCmap()
    assert ord("√") in letters  # no formula writes it
    assert 0x1D451 in letters  # the italic d, which stands for a single d
    assert ord("Q") not in letters
    assert len(css) < 12_000
    assert fonts.mathematical_face("M", stylesheet.MATH_FONT, "<p>no formula</p>") == ""


def test_a_text_font_has_the_letters_of_the_pages_in_the_weights_that_they_use():
    family, file, weights = stylesheet.TEXT[0]
    css = fonts.text_face(family, file, weights, set("Where does a word look?"))
    font = font_in(css)
    assert ord("W") in font.getBestCmap()
    assert ord("Q") not in font.getBestCmap()
    assert [(axis.minValue, axis.maxValue) for axis in font["fvar"].axes] == [(400, 700)]
    assert css.startswith(f'@font-face{{font-family:"{family}";font-style:normal;')
    assert len(css) < 12_000


def test_the_parts_of_attention_have_their_colours_and_an_index_has_none():
    tex = r"\frac{QK^\top}{\sqrt{d_k}} V, q \cdot k"
    page = markup.coloured(f"{mathematics.mathml(tex)}<p>V</p>")
    marked = re.findall(r'<mi class="(\w+)">(\w)</mi>', page)
    assert sorted(marked) == [
        ("key", "K"),
        ("key", "k"),
        ("query", "Q"),
        ("query", "q"),
        ("value", "V"),
    ]
    assert (
        markup.coloured('<span class="n">weights</span>') == '<span class="weight">weights</span>'
    )
    assert markup.unmarked('<div class="highlight"><pre><span class="query">q</span></pre>') == (
        '<div class="highlight"><pre><span class="query">q</span></pre>'
    )


def test_figures_and_pages_give_one_thing_the_same_hue():
    css = (stylesheet.MODULES.parent / "book.css").read_text(encoding="utf-8")
    for role, colour in ROLES.items():
        inks = re.findall(rf"--{role}: (#\w+);", css)
        for ink, ground in zip(inks, ("#ffffff", "#14181d"), strict=True):
            assert contrast(ink, ground) >= 4.5, role
            assert abs(hue(ink) - hue(colour)) < 0.06, role


def hue(colour: str) -> float:
    return colorsys.rgb_to_hsv(*(int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)))[0]


def test_root_signs_of_all_heights_are_equally_wide():
    before = TTFont(stylesheet.MATH_FONT)
    assert before["hmtx"]["uni221A.s1"][0] > before["hmtx"]["uni221A"][0]
    fonts.narrow_roots(before)
    assert len({before["hmtx"][f"uni221A{kind}"][0] for kind in ("", ".s1", ".s3", ".x")}) == 1


def written(site: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = site / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def test_the_stylesheet_holds_what_pages_and_scripts_name(tmp_path):
    written(
        tmp_path,
        {
            "page.html": '<p class="seen">unseen</p>',
            "_static/do.js": "box.classList.add('opened')",
            "_static/styles/theme.css": '@import "../basic.css"; .unseen{color:red}',
            "_static/basic.css": ".seen{color:blue}.opened{color:green}",
            "_static/book.css": ".whatever{color:pink}",
        },
    )
    files = ["_static/styles/theme.css", "_static/book.css"]
    css = stylesheet.joined(tmp_path, files, {"book.css"})
    kept = re.findall(r"\.(\w+)\s*\{", css)
    assert kept == ["seen", "opened", "whatever"]


def test_a_stylesheet_that_is_not_there_is_named(tmp_path):
    with pytest.raises(ExtensionError, match=r"lost\.css"):
        stylesheet.joined(tmp_path, ["_static/lost.css"], set())


def theme_icons() -> Path:
    import pydata_sphinx_theme

    theme = Path(pydata_sphinx_theme.__file__).parent / "theme" / "pydata_sphinx_theme" / "static"
    return theme / "vendor" / "fontawesome" / "webfonts"


def test_icon_fonts_hold_the_icons_that_rules_name():
    face = "@font-face{font-family:F;src:url(../w/fa-%s-%d.woff2) format('woff2'),url(x.ttf)}"
    css = face % ("solid", 900) + face % ("regular", 400) + r'.fa-bars:before{content:"\f0c9"}'
    made = fonts.with_icons(css, theme_icons(), '<i class="fa-solid fa-bars"></i>')
    assert made.count("@font-face") == 1  # nothing is drawn in outlines
    assert set(font_in(made).getBestCmap()) == {0xF0C9}
    assert "url(x.ttf)" not in made
    assert len(made) < 2_000
    outlined = fonts.with_icons(css, theme_icons(), '<i class="far fa-bars"></i>')
    assert outlined.count("@font-face") == 2


def test_the_theme_s_own_links_are_left_out():
    head = (
        '<link href="../_static/styles/theme.css?digest=1" rel="stylesheet" />\n'
        '<link href="../_static/styles/pydata-sphinx-theme.css?digest=1" rel="stylesheet" />'
        '<script defer src="../_static/scripts/fontawesome.js?digest=1"></script>'
        '<link rel="preload" as="script" href="../_static/scripts/bootstrap.js?digest=1" />'
        '<link href="../_static/site.css" rel="stylesheet" />'
    )
    assert stylesheet.without_the_theme_s(head).count("<") == 1


def test_scripts_wait_but_for_the_early_ones():
    def script(name, priority, **attributes):
        return Script(name, priority=priority, **attributes)

    found = [
        script("_static/charts.js", 100),
        script("_static/page.js", 500),
        script(None, 500, body="DOCUMENTATION_OPTIONS.pagename = 'x';"),
        script(None, 500, body="let hint = 'Show';"),
    ]
    context = {"script_files": found}
    markup.defer_scripts(None, "book/02", "page.html", context, None)
    made = [{**one.attributes} for one in context["script_files"]]
    assert made[0] == {}
    assert made[1] == {"defer": "defer"}
    assert made[2]["type"] == "module"
    assert made[3] == {"body": "let hint = 'Show';"}
    assert found[1].attributes == {}  # shared by all pages

    searching = {"script_files": found}
    markup.defer_scripts(None, "search", "search.html", searching, None)
    assert searching["script_files"] is found


def built(folder: Path, text: str) -> subprocess.CompletedProcess[str]:
    """A page of MyST, made by Sphinx with the renderer and what looks after lines."""
    parts = (f"tools.site.light_pages.{name}" for name in ("mathematics", "markup"))
    extensions = ["myst_parser", *parts]
    conf = f"""
extensions = {extensions}
myst_enable_extensions = ["dollarmath", "amsmath"]
html_math_renderer = "mathml"
"""
    written(folder, {"conf.py": conf, "index.md": text})
    command = [sys.executable, "-m", "sphinx", "-q", "-W", str(folder), str(folder / "out")]
    path = {"PYTHONPATH": str(Path(stylesheet.__file__).parents[3])}
    return subprocess.run(command, capture_output=True, text=True, env={**os.environ, **path})


def test_equations_have_numbers_and_references_find_them(tmp_path):
    text = "# Title\n\n$$a$$ (first)\n\nand\n\n$$b$$ (second)\n\nas {eq}`second` in $x$, says.\n"
    done = built(tmp_path, text)
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "out" / "index.html").read_text()
    assert '<span class="eqno">(2)' in page
    assert re.search(r'href="#equation-second">\(2\)', page)
    assert 'id="equation-second"' in page
    assert 'class="together"><math>' in page
    assert not re.search(r"mathjax@|MathJax\.js", page)


def test_a_page_with_a_formula_that_does_not_parse_is_not_built(tmp_path):
    done = built(tmp_path, "# Title\n\nIs $\\frac{a$ here?\n")
    assert done.returncode != 0
    assert "index" in done.stderr
    assert "frac{a" in done.stderr
