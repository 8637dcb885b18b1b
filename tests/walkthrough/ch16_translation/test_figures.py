"""Chapter 16's figures plot what was counted; its experiments count what they say."""

import pytest
from chart_specs import all_rows, inputs

from transformer.analysis.bleu import clipped_matches, corpus_bleu
from walkthrough.ch16_translation.experiments import published
from walkthrough.ch16_translation.figures import bleu as figures
from walkthrough.ch16_translation.figures import dots, translation

REFERENCE = ["the", "cat", "sees", "the", "dog", "."]
TRANSLATIONS = {"safe": ["the"] * 3, "near": ["the", "cat", "sees", "a", "dog", "."]}


# Runs of words ------------------------------------------------------------------------------------


def test_runs_that_match_are_as_many_as_the_count_says():
    for words in TRANSLATIONS.values():
        for n in range(1, 5):
            found = figures.states(words, REFERENCE, n)
            assert len(found) == max(len(words) - n + 1, 0)
            assert found.count(figures.MATCHED) == clipped_matches(words, REFERENCE, n)


def test_the_third_the_is_used_up_and_not_unknown():
    found = figures.states(["the"] * 3, REFERENCE, 1)
    assert found == [figures.MATCHED, figures.MATCHED, figures.CLIPPED]


def test_the_picture_has_a_frame_a_translation_and_says_each_score():
    shown = {name: (" ".join(t), " ".join(REFERENCE), "<3") for name, t in TRANSLATIONS.items()}
    picture = figures.shadows(shown)
    expected = corpus_bleu([TRANSLATIONS["near"]], [REFERENCE])
    assert f"BLEU {expected:.1f}, with a brevity penalty of 1.00. &lt;3" in picture.description
    assert picture.markup.count('type="radio"') == len(TRANSLATIONS)
    assert ">3 of 5 pairs</small>" in picture.markup  # the cat, cat sees, dog .


@pytest.mark.parametrize("translations", [{}, {"empty": ("", "a", "")}])
def test_a_picture_of_nothing_is_refused(translations):
    with pytest.raises(ValueError, match="at least one word"):
        figures.shadows(translations)


def test_the_picture_of_runs_says_every_value():
    picture = dots(
        {"ours": {"2016": [40.0, 41.0]}}, title="t", x_title="x", marks={"p": ("2016", 42.0)}
    )
    assert picture.alt == "t. x. ours, 2016: 40, 41; p, 2016: 42."
    with pytest.raises(ValueError, match="at least one group"):
        dots({}, title="t", x_title="x")


def test_the_agreed_way_stands_out():
    rows = all_rows(figures.ways_chart({"one": 20.0, "two": 30.5}, agreed="one"))
    assert {(r["way"], r["score"], r["kind"]) for r in rows if "way" in r} == {
        ("one", 20.0, "agreed"),
        ("two", 30.5, "other"),
    }
    with pytest.raises(ValueError, match=r"agreed must be one of .*got 'three'"):
        figures.ways_chart({"one": 20.0}, agreed="three")


# Table 2 -----------------------------------------------------------------------------------------


def test_the_chart_holds_every_row_of_table_2_that_has_both_numbers():
    chart = translation.cost_chart(published.TABLE_2)
    drawn = {(r["name"], r["pair"], r["bleu"], r["flops"]) for r in all_rows(chart)}
    assert len(drawn) == 7 + 9
    assert ("Transformer (big)", "English–French", 41.8, 2.3e19) in drawn
    assert ("ConvS2S", "English–German", 25.16, 9.6e18) in drawn
    assert not any(name == "ByteNet" for name, *_ in drawn)
    assert inputs(chart)["pair"]["options"] == ["English–German", "English–French"]


def test_the_best_before_is_found_by_kind():
    earlier = [published.SINGLE, published.ENSEMBLE]
    assert published.best(published.GERMAN, earlier).name == "ConvS2S ensemble"
    assert published.best(published.FRENCH, [published.SINGLE]).name == "MoE"
    with pytest.raises(ValueError, match="no system of"):
        published.best(published.GERMAN, [])


def test_a_chart_without_points_is_refused():
    with pytest.raises(ValueError, match="no system has both"):
        translation.cost_chart(published.TABLE_2[:1])


# Cards -------------------------------------------------------------------------------------------


def card(translated, points):
    return {
        "source": "Jane <rit>",
        "reference": "Jane laughs .",
        "translation": translated,
        "score": points,
    }


def test_cards_are_sorted_escaped_and_mark_what_the_reference_lacks():
    page = translation.translation_cards([card("Jane cries .", 40.0), card("Jane laughs .", 100.0)])
    html = page._repr_html_()
    assert html.index("<b>100.0</b>") < html.index("<b>40.0</b>")
    assert html.count("<mark>") == 1
    assert "<mark>cries</mark>" in html
    assert "Jane &lt;rit&gt;" in html
    assert str(page).splitlines()[0].split() == ["100.0", "Jane", "laughs", "."]


def test_no_cards_say_so_and_a_lacking_field_is_named():
    assert "none & here" in repr(translation.translation_cards([], empty="none & here"))
    assert "none &amp; here" in translation.translation_cards([], empty="none & here")._repr_html_()
    with pytest.raises(ValueError, match="needs a reference, score"):
        translation.translation_cards([{"source": "a", "translation": "b"}])
