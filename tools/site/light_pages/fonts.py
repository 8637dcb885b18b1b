"""Fonts with the letters that pages use and no others, to travel inside the stylesheet.

So no text is set twice, once before its font is there and once after.
"""

import base64
import html
import re
import unicodedata
from collections.abc import Iterable
from io import BytesIO
from pathlib import Path

from fontTools.subset import Options, Subsetter
from fontTools.ttLib import TTFont
from fontTools.ttLib.tables.otTables import MathGlyphConstruction
from fontTools.varLib.instancer import instantiateVariableFont

ROOT_SIGN = "√"
ITALIC = (0x210E, *range(0x1D434, 0x1D468), *range(0x1D6E2, 0x1D71C))
MATHEMATICS = re.compile(r"<math\b.*?</math>", re.DOTALL)
MATHEMATICAL_FEATURES = ["ssty", "dtls", "ss04"]  # indices, dotless letters, primes
FACE = re.compile(r"@font-face\s*\{[^}]*\}")
ICON_FILE = re.compile(r"url\([\"']?[^\"')]*/(fa-[a-z]+-\d+)\.woff2")
PRIVATE = re.compile(r"\\([ef][0-9a-f]{3})\b|([\ue000-\uf8ff])", re.IGNORECASE)
OUTLINED = re.compile(r'class="[^"]*\b(?:far|fa-regular)\b')


TEXT_FEATURES = ["ccmp", "kern", "liga", "mark", "tnum"]  # tnum: figures of one width, for tables
Weights = int | tuple[int, int]


def embedded(
    font: TTFont, letters: Iterable[str], features: list[str], weights: Weights | None = None
) -> str:
    """A font with these letters, and of a variable one these weights, as a source for a face."""
    options = Options()
    options.layout_features = features
    options.hinting = False
    options.name_IDs = []
    options.notdef_outline = True
    subsetter = Subsetter(options)
    subsetter.populate(text="".join(letters))
    subsetter.subset(font)
    if weights:
        instantiateVariableFont(font, {"wght": weights}, inplace=True)
    font.flavor = "woff2"
    out = BytesIO()
    font.save(out)
    data = base64.b64encode(out.getvalue()).decode()
    return f'url(data:font/woff2;base64,{data}) format("woff2")'


def text_face(family: str, file: Path, weights: Weights, letters: set[str]) -> str:
    """The `@font-face` of a font that words are set in; the file's name says whether it slants."""
    range_ = f"{weights}" if isinstance(weights, int) else "{} {}".format(*weights)
    style = "italic" if "italic" in file.name else "normal"
    with TTFont(file) as font:
        source = embedded(font, letters, TEXT_FEATURES, weights)
    return (
        f'@font-face{{font-family:"{family}";font-style:{style};font-weight:{range_};'
        f"src:{source}}}\n"
    )


def letters_of_formulas(pages: str) -> set[str]:
    """The letters of all formulas, with those that a browser draws in place of what is written.

    A single letter is drawn as the mathematical italic of it, which is a letter of its own.
    """
    written = re.sub(r"<[^>]*>", "", "".join(MATHEMATICS.findall(pages)))
    letters = set(html.unescape(written)) - set("\n")
    plain = {unicodedata.normalize("NFKC", letter) for letter in letters}
    italic = {chr(code) for code in ITALIC if unicodedata.normalize("NFKC", chr(code)) in plain}
    return letters | italic | {ROOT_SIGN} if letters else set()


def narrow_roots(font: TTFont) -> None:
    """Make the tall root signs as wide as the low one.

    Chromium keeps the room of the widest beside every root, of whatever height.
    """
    name = font.getBestCmap()[ord(ROOT_SIGN)]
    variants = font["MATH"].table.MathVariants
    position = variants.VertGlyphCoverage.glyphs.index(name)
    construction: MathGlyphConstruction = variants.VertGlyphConstruction[position]
    tall = [variant.VariantGlyph for variant in construction.MathGlyphVariantRecord]
    if construction.GlyphAssembly:
        tall += [part.glyph for part in construction.GlyphAssembly.PartRecords]
    width = font["hmtx"][name][0]
    for glyph_name in set(tall) - {name}:
        advance, bearing = font["hmtx"][glyph_name]
        factor = width / advance
        glyph = font["glyf"][glyph_name]
        glyph.expand(font["glyf"])
        glyph.coordinates.scale((factor, 1))
        glyph.recalcBounds(font["glyf"])
        font["hmtx"][glyph_name] = (width, round(bearing * factor))


def mathematical_face(family: str, file: Path, pages: str, symbols: Iterable[str] = ()) -> str:
    """The `@font-face` of the mathematical font, empty where no page has a formula.

    `symbols` are those of the text: arrows, roots, Greek letters, which the text's fonts lack.
    """
    letters = letters_of_formulas(pages)
    if not letters:
        return ""
    letters |= set(symbols)
    with TTFont(file) as font:
        narrow_roots(font)
        source = embedded(font, letters, MATHEMATICAL_FEATURES)
    return f"@font-face{{font-family:{family};src:{source}}}\n"


def with_icons(css: str, folder: Path, pages: str) -> str:
    """The stylesheet with its icon fonts inside, reduced to the icons that its rules name."""
    icons = {chr(int(escape, 16)) if escape else icon for escape, icon in PRIVATE.findall(css)}

    def reduced(face: re.Match[str]) -> str:
        file = ICON_FILE.search(face[0])
        if file is None:
            return face[0]
        if file[1].startswith("fa-regular") and not OUTLINED.search(pages):
            return ""
        with TTFont(folder / f"{file[1]}.ttf") as font:
            source = embedded(font, icons, [])
        return re.sub(r"src:[^;}]*", lambda _: f"src:{source}", face[0])

    return FACE.sub(reduced, css)
