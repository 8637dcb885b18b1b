"""The ledger in a browser: filters by keyboard, a phone, no script; marks in chapters that land."""

from collections import Counter
from pathlib import Path

import pytest
from browsing import ROOT, axe_violations, open_page, overflowing, set_theme
from playwright.sync_api import Browser, Page
from tools.book import ledger

pytestmark = pytest.mark.site

CLAIMS = ledger.read_claims((ROOT / "book" / "claims.toml").read_text(encoding="utf-8"))
N_OF_VERDICT = Counter(claim.verdict for claim in CLAIMS)
ROWS = "table:has([id^='claim-']) tbody tr:has([id^='claim-'])"
LEAST_TARGET = 24  # px


def of_section(section: str) -> list[ledger.Claim]:
    return [claim for claim in CLAIMS if claim.id.startswith(f"{section}-")]


def shown(page: Page) -> int:
    return page.locator(f"{ROWS}:visible").count()


def counted(page: Page) -> str:
    return page.locator(".ledger-filters output").inner_text()


def test_section_and_verdict_narrow_the_table(page: Page, site_url: str) -> None:
    visit = open_page(page, f"{site_url}/book/ledger.html")
    assert counted(page) == f"{len(CLAIMS)} of {len(CLAIMS)} claims"
    assert shown(page) == len(CLAIMS)

    page.get_by_label("Verdict").select_option("holds")
    assert shown(page) == N_OF_VERDICT["holds"]  # and not "holds in direction"

    page.get_by_label("Section").select_option("3.2.1")
    both = [claim for claim in of_section("3.2.1") if claim.verdict == "holds"]
    assert shown(page) == len(both) < len(of_section("3.2.1"))
    assert counted(page) == f"{len(both)} of {len(CLAIMS)} claims"

    set_theme(page, "light")
    assert axe_violations(page) == []
    set_theme(page, "dark")
    assert axe_violations(page, contrast=True) == []

    page.get_by_label("Section").select_option("all")
    page.get_by_label("Kind").select_option("arithmetic")
    assert shown(page) == sum(c.kind == "arithmetic" and c.verdict == "holds" for c in CLAIMS)
    page.get_by_label("Kind").select_option("all")
    page.get_by_label("Verdict").select_option("all")
    assert shown(page) == len(CLAIMS)
    assert visit.errors == []


def test_a_chapters_claims_are_shown_alone_and_rates_on_demand(page: Page, site_url: str) -> None:
    open_page(page, f"{site_url}/book/ledger.html")
    page.get_by_label("Chapter").select_option("08")
    links = page.locator(f"{ROWS}:visible td:nth-child(3)").all_inner_texts()
    assert links
    assert all(link.startswith("08:") for link in links)
    rates = page.locator("th", has_text="Rates")
    assert not rates.is_visible()
    assert page.locator("table:has([id^='claim-'])").evaluate(
        "({ parentElement: box }) => box.scrollWidth <= box.clientWidth + 1"
    )
    page.get_by_label("rates, lengths, rivals").check()
    assert rates.is_visible()
    wide = page.locator(f"{ROWS}:visible td:nth-child(2)").first.bounding_box()
    assert wide
    assert wide["width"] > 200


def test_heads_sort_the_table_and_say_so(page: Page, site_url: str) -> None:
    open_page(page, f"{site_url}/book/ledger.html")
    pairs = page.get_by_role("button", name="Pairs")
    for said in ("ascending", "descending"):
        pairs.click()
        cells = page.locator(f"{ROWS} td:nth-child(6)").all_inner_texts()
        numbers = [int(cell.split()[-1].replace("–", "0")) for cell in cells]
        assert numbers == sorted(numbers, reverse=said == "descending")
        assert page.locator("th[aria-sort]").get_attribute("aria-sort") == said
    page.get_by_role("button", name="Section").click()
    ids = page.locator(f"{ROWS} [id^='claim-']").evaluate_all("all => all.map(one => one.id)")
    assert ids == [claim.tag for claim in CLAIMS]
    several = next(claim for claim in CLAIMS if len(claim.effects) > 1)
    row = page.locator(f"tr:has([id='{several.tag}'])")
    assert row.locator("td").first.get_attribute("rowspan") == str(len(several.effects))
    assert row.locator("xpath=following-sibling::tr[1]/td[4]").inner_text() == several.effects[1][0]


def test_only_experiments_are_counted(page: Page, site_url: str) -> None:
    open_page(page, f"{site_url}/book/ledger.html")
    counted_ones = page.locator(".claim-key b").all_inner_texts()
    tried = [claim for claim in CLAIMS if claim.kind == "experiment"]
    assert sum(map(int, counted_ones)) == len(tried) < len(CLAIMS)
    assert page.locator(".claim-squares a").count() == len(CLAIMS)


def test_filters_work_by_keyboard_and_are_announced(page: Page, site_url: str) -> None:
    open_page(page, f"{site_url}/book/ledger.html")
    page.get_by_label("Section").focus()
    for _ in ("Chapter", "Kind", "Verdict"):
        page.keyboard.press("Tab")
    assert page.evaluate("() => document.activeElement.labels[0].innerText").startswith("Verdict")
    page.keyboard.type("cannot")
    n = N_OF_VERDICT["cannot be tested here"]
    page.wait_for_function(f"() => document.querySelector('output').value.startsWith('{n} of')")
    assert shown(page) == n
    assert page.get_by_role("status").filter(has_text=counted(page)).count() == 1


def test_a_link_to_a_row_finds_it_whatever_is_filtered(page: Page, site_url: str) -> None:
    open_page(page, f"{site_url}/book/ledger.html")
    page.get_by_label("Section").select_option("1")
    hidden = CLAIMS[-1].id
    page.evaluate("(id) => { location.hash = `claim-${id}`; }", hidden)
    row = page.locator(f"tr:has([id='claim-{hidden}'])")
    row.wait_for(state="visible")
    assert shown(page) == len(CLAIMS)
    box = row.bounding_box()
    assert box
    assert 0 <= box["y"] < 800


def test_it_fits_a_phone_and_rows_keep_their_meaning(phone: Page, site_url: str) -> None:
    open_page(phone, f"{site_url}/book/ledger.html")
    assert overflowing(phone) == []
    assert phone.evaluate(
        "() => { const box = document.querySelector(\"table:has([id^='claim-'])\").parentElement;"
        "return box.scrollWidth <= box.clientWidth + 1; }"
    )
    assert phone.get_by_role("columnheader").count() == 7
    phone.get_by_label("rates, lengths, rivals").check()
    assert phone.get_by_role("columnheader").count() == 11
    assert phone.get_by_role("row").count() == 1 + sum(len(c.effects) or 1 for c in CLAIMS)
    phone.get_by_label("Verdict").select_option("does not hold")
    assert shown(phone) == N_OF_VERDICT["does not hold"]
    assert axe_violations(phone) == []


def test_it_reads_without_any_script(browser: Browser, built_site: Path) -> None:
    context = browser.new_context(java_script_enabled=False)
    still = context.new_page()
    still.goto((built_site / "book" / "ledger.html").as_uri())
    assert still.locator(ROWS).count() == len(CLAIMS)
    assert still.locator(".ledger-filters").count() == 0
    context.close()


def test_a_mark_is_large_enough_and_leads_to_its_row(phone: Page, site_url: str) -> None:
    open_page(phone, f"{site_url}/book/02-scaled-dot-product-attention.html")
    mark = phone.locator(".claim-marks a", has_text="§3.2.1, tested: variance")
    box = mark.bounding_box()
    assert box
    assert box["height"] >= LEAST_TARGET
    assert overflowing(phone) == []
    mark.click()
    phone.wait_for_url("**/book/ledger.html#claim-3.2.1-variance")
    assert phone.locator("tr:has(:target)").is_visible()
