"""Every claim of the ledger has a test or a reason, and every figure stands in a chapter's cell."""

import re
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import nbformat
import pytest
from mdit_py_plugins.anchors.index import slugify  # what makes the anchors of the site
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, output_from_msg
from tools.book import ledger
from tools.book.ledger import Chapter, Claim, LedgerError, problems
from tools.book.notebook_form import canonical

BOOK = Path(__file__).parents[2] / "book"
CLAIMS = ledger.read_claims((BOOK / "claims.toml").read_text(encoding="utf-8"))
CHAPTERS = ledger.read_chapters()
PAGE = (BOOK / "ledger.md").read_text(encoding="utf-8")

STORED = "variance 1.0 at 64\nvariance 1.1 at 512\n"
GOOD = Claim(
    id="3.2.1-variance",
    section="3.2.1, Eq. 1",
    claim="The variance is d_k.",
    boxes=("02 Section 3.2.1",),
    test=("02-attention", "The variance"),
    verdict="holds",
    made="page",
    size="random pairs",
    find=(r"^variance (?P<v>[\d.]+) at 64$",),
    figure="{v} at 64",
)
UNTESTED = replace(
    GOOD, verdict=ledger.CANNOT, made="", size="", find=(), figure="", reason="no GPU here"
)


def chapter(
    *, tags: tuple[str, ...] = ("claim-3.2.1-variance",), heading: str = "The variance"
) -> Chapter:
    """A chapter with one box and one compared cell, which carries these tags."""
    said = output_from_msg(
        {"header": {"msg_type": "stream"}, "content": {"name": "stdout", "text": STORED}}
    )
    cell = new_code_cell("print(variance)", outputs=[said])
    cell.metadata["tags"] = ["nbval-check-output", *tags]
    box = ":::{admonition} Paper, Section 3.2.1\n:class: paper\n\nIt is d_k.\n:::"
    cells = [new_markdown_cell(f"# A\n\n{box}"), new_markdown_cell(f"### {heading}"), cell]
    return Chapter("02-attention", new_notebook(cells=cells))


def found(*claims: Claim, tested: Chapter | None = None) -> str:
    """The problems of these claims, as one text."""
    here = tested or chapter()
    return "\n".join(problems(list(claims), {here.name: here}))


def test_every_claim_every_tag_and_every_box_of_the_book_is_in_order():
    assert problems(CLAIMS, CHAPTERS) == []


def test_the_page_is_current():
    assert ledger.page(CLAIMS, CHAPTERS) == PAGE, "run `python -m tools.book.ledger`"


def test_every_link_lands_on_a_heading():
    links = re.findall(r"\]\((\d\d-[\w-]+)\.ipynb#([^)]+)\)", PAGE)
    assert len(links) == len(CLAIMS)
    anchors = {name: [slugify(text) for text in one.headings] for name, one in CHAPTERS.items()}
    assert [link for link in links if anchors[link[0]].count(link[1]) != 1] == []
    asked = {one["experiment"] for claim in CLAIMS for one in claim.compare}
    assert {
        one for pair in re.findall(r"\[(\S+)\]\(laboratory\.md#(\S+)\)", PAGE) for one in pair
    } == asked


def test_rows_follow_the_paper_and_have_an_anchor_each():
    assert re.findall(r'<span id="claim-([^"]+)"></span>', PAGE) == [c.id for c in CLAIMS]
    sections = [[int(n) for n in c.id.split("-")[0].split(".")] for c in CLAIMS]
    assert sections == sorted(sections)


def test_every_row_has_the_columns_of_the_head():
    rows = [line for line in PAGE.splitlines() if line.startswith("|")]
    assert len(rows) == 2 + sum(len(claim.effects) or 1 for claim in CLAIMS)
    assert {len(re.findall(r"(?<!\\)\|", row)) for row in rows} == {12}


def test_the_line_above_the_table_counts_the_verdicts():
    one, counted = replace(GOOD, verdict="does not hold"), replace(GOOD, kind="arithmetic")
    assert ledger.counts([GOOD, GOOD, one]) == "**3 experiments: 2 hold · 1 does not hold.**"
    assert ledger.counts([GOOD, counted, UNTESTED]).splitlines() == [
        "**1 experiments: 1 holds.**",
        "1 definitions and counts: 1 holds.",
        "1 cannot be tested here.",
    ]


def test_a_verdict_of_the_laboratory_is_computed_and_not_typed():
    asked = {"experiment": "05-width", "figure": "test_combinations/exact"}
    row = {"id": "6.2-x", "expects": "better", "compare": [{**asked, "arm": "256"}]}
    found = ledger.computed(row)
    [(what, effect, pairs, rates, lengths, rival)] = found["effects"]
    assert what.startswith("256 against none, exact on test combinations, greedy: ")
    assert re.fullmatch(r"[\d.]+ points (better|worse)( \(−?[\d.]+ to [\d.]+\))?", effect)
    assert pairs.endswith(f" of {found['seeds']}")
    assert re.fullmatch(r"×[\d.]+ of [4-9] and ×[\d.]+ of [4-9]", rates)
    assert (lengths, rival) == ("2000 / 400", "256, no ReLU")
    for wrong, said in [
        ({"verdict": "holds"}, "types verdict"),
        ({"expects": "good"}, "`expects` one of"),
        ({"compare": [{**asked, "arm": "65"}]}, "no arm '65'"),
        ({"compare": [{**asked, "experiment": "05-wide", "arm": "256"}]}, "05-width"),
    ]:
        with pytest.raises(LedgerError, match=said):
            ledger.computed({**row, **wrong})


@pytest.mark.parametrize(
    ("expects", "verdict", "side", "said"),
    [
        ("better", "better", "better", ledger.HOLDS),
        ("level", "level", "", ledger.HOLDS),
        ("better", "worse", "worse", ledger.AGAINST),
        ("level", "worse", "worse", ledger.AGAINST),
        ("better", "turns with the rate", "better", ledger.PARTLY),
        ("better", "turns with the rate", "worse", ledger.AGAINST),
        ("worse", "one rate", "worse", ledger.PARTLY),
        ("level", "one rate", "worse", ledger.AGAINST),
        ("level", "turns with the length", "better", ledger.AGAINST),
        ("better", "ceiling", "better", ledger.UNTOLD),
        ("better", "not told apart", "", ledger.UNTOLD),
        ("worse", "not told apart", "worse", ledger.UNTOLD),  # by Holm
    ],
)
def test_a_claim_is_settled_by_what_it_expects_and_by_the_sign(expects, verdict, side, said):
    assert ledger.settled(expects, [SimpleNamespace(verdict=verdict, side=side)]) == said


@pytest.mark.parametrize(
    ("expects", "differences", "said"),
    [
        ("better", (1, 1, 1), ledger.PARTLY),
        ("worse", (1, 1, 1), ledger.AGAINST),
        ("better", (1, -1, 1), ledger.UNTOLD),
        ("worse", (-1, -1, 0), ledger.UNTOLD),
        ("level", (1, 1, 1), ledger.UNTOLD),
    ],
)
def test_of_too_few_pairs_all_have_to_agree(expects, differences, said):
    wins = sum(difference > 0 for difference in differences)
    told = {"verdict": "too few seeds", "side": "", "n": 3, "wins": wins}
    assert ledger.settled(expects, [SimpleNamespace(differences=differences, **told)]) == said


def test_of_several_comparisons_all_have_to_hold():
    better, worse, open_, turns = (
        SimpleNamespace(verdict=verdict, side=side)
        for verdict, side in (
            ("better", "better"),
            ("worse", "worse"),
            ("ceiling", ""),
            ("turns with the rate", "better"),
        )
    )
    assert ledger.settled("better", [better, better]) == ledger.HOLDS
    assert ledger.settled("better", [better, worse]) == ledger.MIXED
    assert ledger.settled("better", [turns, worse]) == ledger.MIXED
    assert ledger.settled("better", [better, open_]) == ledger.PARTLY
    assert ledger.settled("better", [better, turns]) == ledger.PARTLY
    assert ledger.settled("better", [worse, open_]) == ledger.AGAINST


def test_a_recorded_row_has_a_comparison_or_says_why_not():
    assert "why nothing is compared" in found(replace(GOOD, made="recorded"))
    assert found(replace(GOOD, made="recorded", typed="one arm, nothing to compare with")) == ""


def test_a_claim_in_order_passes_tested_or_not():
    assert found(GOOD) == ""
    assert found(UNTESTED, tested=chapter(tags=())) == ""


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"verdict": "mostly holds"}, "unknown verdict"),
        ({"kind": "opinion"}, "unknown kind 'opinion'"),
        ({"id": "variance"}, "the id is a section and words"),
        ({"section": "3.3"}, "does not begin with that of the id"),
        ({"boxes": ()}, "no paper box says it"),
        ({"boxes": ("02 Section 9",)}, "no chapter has the box '02 Section 9'"),
        ({"test": ("02-attention", "The bias")}, "has no one heading 'The bias'"),
        ({"test": ("99-nothing", "The variance")}, "there is no 99-nothing"),
        ({"find": ()}, "a test has `find`"),
        ({"figure": ""}, "a test has"),
        ({"made": "somewhere"}, "a test has"),
        ({"size": ""}, "a test has"),
        ({"reason": "too lazy"}, "needs no reason"),
        ({"seeds": 4}, "fewer than 5 seeds show a direction at most"),
        ({"find": (r"^bias (?P<v>\d)",)}, "matches 0 times, not once"),
        ({"find": (r"^variance (?P<v>[\d.]+)",)}, "matches 2 times, not once"),
        ({"figure": "{w} at 64"}, "wants 'w'"),
        ({"verdict": ledger.CANNOT}, "has a reason, and no figure"),
    ],
)
def test_a_claim_that_is_not_in_order_is_refused(change, message):
    assert message in found(replace(GOOD, **change))


def test_a_tag_without_its_claim_and_a_claim_without_its_tag_are_refused():
    assert "no claim is tested there" in found(GOOD, tested=chapter(tags=("claim-3.3-other",)))
    assert "no cell that readers see" in found(GOOD, tested=chapter(tags=()))
    assert "no claim is tested there" in found(UNTESTED)


def test_a_cell_that_is_removed_from_the_page_is_not_enough():
    hidden = chapter(tags=("claim-3.2.1-variance", "remove-cell"))
    assert "no cell that readers see" in found(GOOD, tested=hidden)


def test_a_cell_under_another_heading_is_refused():
    moved = chapter(heading="Elsewhere")
    assert "stands under 'Elsewhere'" in found(GOOD, tested=moved)


def test_an_id_twice_is_refused():
    assert "3.2.1-variance: twice" in found(GOOD, GOOD)


def test_a_box_without_a_claim_is_refused():
    assert "no claim covers this box" in found(tested=chapter(tags=()))


def test_an_assertion_serves_where_no_text_is_stored():
    cell = new_code_cell("x = 0.9\nassert recall['scaled'] > 0.97\nassert y[\n    1] < 0.3")
    cell.metadata["tags"] = ["claim-3.2.1-variance"]
    tested = Chapter("02-attention", new_notebook(cells=[cell]))
    claim = replace(
        GOOD, find=(r"> (?P<a>[\d.]+)$", r"y\[ 1\] < (?P<b>[\d.]+)$"), figure="{a:.0%}, {b}"
    )
    assert ledger.figure(claim, tested) == "97 %, 0.3"
    with pytest.raises(LedgerError, match="0 times"):
        ledger.figure(replace(claim, find=(r"x = (?P<a>.+)",)), tested)


def test_numbers_are_written_as_in_prose():
    assert f"{ledger.Found('-0.82')} {ledger.Found('8   16')} {ledger.Found('1e-5')}" == (
        "−0.82 8 16 1e-5"
    )


def test_the_command_writes_the_page(tmp_path, monkeypatch):
    monkeypatch.setattr(ledger, "PAGE", tmp_path / "ledger.md")
    assert ledger.main() == 0
    assert (tmp_path / "ledger.md").read_text(encoding="utf-8") == PAGE


def test_the_command_refuses_a_file_of_claims_that_is_wrong(tmp_path, monkeypatch, capsys):
    wrong = tmp_path / "claims.toml"
    monkeypatch.setattr(ledger, "CLAIMS", wrong)
    wrong.write_text('[[claims]]\nid = "1-a"\nverdickt = "holds"\n')
    assert ledger.main() == 1
    assert "verdickt" in capsys.readouterr().err


def test_formatting_keeps_the_tags():
    """They are what ties a claim to its cell."""
    book = nbformat.from_dict(canonical(new_notebook(cells=chapter().cells)))
    assert "claim-3.2.1-variance" in book.cells[-1].metadata.tags
