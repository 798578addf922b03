"""What only a browser can say: that no text runs, that keys do everything, that all is read without scripts."""

from __future__ import annotations

import json

import pytest

import limpet
from tests.ui.conftest import answering, listening, served
from tests.web.test_hostile_texts import TEXTS
from tests.web.test_team import Team

RULES = ("wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice")

PAGES = (
    "/", "/memories", "/memories?q=when+do+we+deploy", "/memories?view=cards&state=all", "/memories?view=table&state=all", "/review", "/why", "/why?q=when+do+we+deploy",
    "/brief?q=can+we+deploy+today", "/beliefs", "/beliefs?q=harbour.pilot", "/beliefs?q=deploys", "/sessions", "/session?name=monday&scope=project:harbour",
    "/graph", "/graph?q=tide+report", "/changes", "/care?check=1", "/scopes", "/nowhere",
)  # fmt: skip


def every_page(memory):
    ids = [one.id for one in memory.list(limit=50, all_states=True).memories]
    return [*PAGES, *(f"/memory/{id}" for id in ids[:12]), f"/memory/{ids[0]}/purge"]


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_on_any_page(life, enter, axe, theme):
    with served(life) as (home, _):
        tab = enter(home, color_scheme=theme)
        found = {}
        for path in every_page(life):
            page = tab.open(path)
            for part in page.query_selector_all("details"):
                part.evaluate("one => { one.open = true; }")
            for one in looked_over(page, axe):
                found.setdefault(one["id"], []).append(
                    (path, one["nodes"][0]["html"][:200], one["nodes"][0]["failureSummary"][:300])
                )
        assert found == {}


def looked_over(page, axe):
    """What axe-core has against a page. The page lets no script in; the browser's own tools do."""
    page.evaluate(axe)
    return page.evaluate(f"axe.run(document, {{ runOnly: {json.dumps(RULES)} }})")["violations"]


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1400])
def test_axe_finds_nothing_on_the_login_of_a_team_by_keys_alone(tmp_path, chromium, axe, theme, width):
    with listening() as (listener, url):
        team = Team(tmp_path / "memory.db", url)
        with team.memory, answering(listener, team.app):
            context = chromium.new_context(color_scheme=theme, viewport={"width": width, "height": 720})
            page = context.new_page()
            page.goto(url + "/memories")  # led to the form
            assert page.url == url + "/enter" and looked_over(page, axe) == []
            page.keyboard.press("Tab")
            page.keyboard.type("a wrong one")
            page.keyboard.press("Enter")
            page.wait_for_selector("text=This token is wrong")
            assert looked_over(page, axe) == []
            assert not page.evaluate("document.documentElement.scrollWidth > innerWidth")
            page.keyboard.press("Tab")
            page.keyboard.type(team.given["ana"])
            page.keyboard.press("Enter")
            page.wait_for_url(url + "/")
            assert looked_over(page, axe) == []
            context.close()


@pytest.mark.parametrize("width", [360, 800, 1400])
def test_nothing_is_wider_than_the_window(life, enter, width):
    with served(life) as (home, _):
        tab = enter(home, viewport={"width": width, "height": 800})
        wide = [
            path
            for path in every_page(life)
            if tab.open(path).evaluate("document.documentElement.scrollWidth > innerWidth")
        ]
        assert wide == [] and tab.wrong == []


def test_no_hostile_text_runs_asks_or_opens_anything(tmp_path, enter):
    with limpet.open(tmp_path / "hostile.db", scope="project:<img/src=x/onerror=alert(1)>") as memory:
        memory.remember_batch(
            [
                {
                    "content": text,
                    "topics": [text[:60]],
                    "session": text[:90],
                    "metadata": {text[:50]: text},
                    "source": text,
                }
                for text in TEXTS
            ]
        )
        ids = [one.id for one in memory.list(limit=300).memories]
        memory.link(ids[0], "contradicts", ids[1])
        with served(memory) as (home, _):
            tab = enter(home)
            page = tab.page
            for path in (*PAGES, *(f"/memories?part=1&q={number}" for number in range(3))):
                tab.open(path)
            for id in ids:
                tab.open(f"/memory/{id}")
            tab.open("/memories")
            for text in TEXTS[::20]:
                page.fill("input[name=q]", text)  # as one types: put into the page by our own script
                page.wait_for_timeout(250)
            assert len(ids) == 200
            assert tab.wrong == []


def test_code_that_got_into_a_page_would_not_run_and_be_told(life, enter):
    with served(life) as (home, _):
        tab = enter(home)
        page = tab.open("/")
        page.evaluate("document.body.insertAdjacentHTML('beforeend', '<img src=x onerror=\"document.title = 1\">')")
        page.wait_for_timeout(500)
        assert page.title() != "1"
        assert any("Content Security Policy" in str(one) for one in tab.wrong)


def test_a_list_changes_as_one_types(life, enter):
    with served(life) as (home, _):
        page = enter(home).open("/memories")
        page.focus("main input[name=q]")
        page.keyboard.type("when do we deploy", delay=20)
        page.wait_for_selector("#found li:first-child >> text=Wednesdays")
        assert "q=when+do+we+deploy" in page.url


def test_keys_do_everything(life, enter):
    with served(life) as (home, _):
        page = enter(home).open("/memories")
        page.keyboard.press("?")
        assert page.is_visible("#keys")
        page.keyboard.press("Escape")
        page.keyboard.press("/")
        page.keyboard.type("booking API calls")
        page.wait_for_selector("#found li:first-child >> text=booking API")
        page.keyboard.press("Escape")
        for key in ("j", "j", "k", "Enter"):
            page.keyboard.press(key)
        page.wait_for_url("**/memory/*")
        assert "booking API" in page.text_content(".body.large")

        page.keyboard.press("e")
        page.keyboard.press("Control+A")
        page.keyboard.type("The booking API allows 200 calls a minute")
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        page.wait_for_selector("text=Done: edit")
        page.wait_for_load_state()  # with its script, which reads the keys
        assert "200 calls" in page.text_content(".body.large")
        page.keyboard.press("u")
        page.wait_for_selector(".notice >> text=Taken back.")
        assert "100 calls" in page.text_content(".body.large")

        page.goto(home + "/review")
        before = len(life.review())
        for key in ("j", "a"):
            page.keyboard.press(key)
        page.wait_for_selector("text=Done:")
        page.wait_for_load_state()
        assert len(life.review()) == before - 1
        page.keyboard.press("u")
        page.wait_for_selector(".notice >> text=Taken back.")
        assert len(life.review()) == before


def test_the_tabulator_reaches_what_is_shown_and_it_can_be_seen(life, enter):
    with served(life) as (home, _):
        page = enter(home).open("/memories")
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.textContent") == "To the content"
        seen = set()
        for _ in range(60):
            page.keyboard.press("Tab")
            seen.add(page.evaluate("getComputedStyle(document.activeElement).outlineStyle"))
        assert seen <= {"solid", "none"} and "solid" in seen


def test_all_is_read_and_forms_work_without_scripts(life, enter):
    with served(life) as (home, _):
        tab = enter(home, java_script_enabled=False)
        for path in every_page(life):
            page = tab.open(path)
            assert len(page.text_content("main").strip()) > 40, path
        id = life.recall("booking API calls", k=1).items[0].id
        page = tab.open(f"/memory/{id}")
        page.click("text=Correct it: something else is true")
        page.fill("form[action$=correct] textarea", "The booking API allows 500 calls a minute")
        page.click("form[action$=correct] button")
        assert "500 calls" in page.text_content(".body.large") and life.get(id).state == "superseded"
        page.click("text=Undo")
        assert life.get(id).state == "active"


def test_two_tabs_and_an_agent_lose_no_edit(life, enter):
    with served(life) as (home, _):
        id = life.recall("booking API calls", k=1).items[0].id
        one = enter(home)
        other = enter(home, state=one.page.context.storage_state())
        for tab in (one, other):
            tab.open(f"/memory/{id}").click("text=Edit the words")
        life._context.clock.advance(hours=1)
        one.page.fill("form[action$=edit] textarea", "The booking API allows 200 calls a minute")
        one.page.click("form[action$=edit] button")
        other.page.fill("form[action$=edit] textarea", "The booking API allows 300 calls a minute")
        other.page.click("form[action$=edit] button")
        other.page.wait_for_selector("text=It was changed while you wrote")
        assert "200 calls" in other.page.text_content(".body.large") and "300" in other.page.input_value(
            "form textarea >> nth=0"
        )
        life._context.clock.advance(hours=1)
        life.edit(id, "The booking API allows 250 calls a minute")  # the agent
        other.page.click("text=Store this instead")
        other.page.wait_for_selector("text=It was changed while you wrote")
        assert life.get(id).content == "The booking API allows 250 calls a minute"


def test_colours_change_with_a_switch_and_stay(life, enter):
    with served(life) as (home, _):
        page = enter(home, color_scheme="light").open("/")
        light = page.evaluate("getComputedStyle(document.documentElement).backgroundColor")
        page.click("text=Light or dark")
        page.wait_for_selector("html[data-theme=dark]")
        page.wait_for_timeout(300)
        page.goto(home + "/memories")
        assert page.evaluate("getComputedStyle(document.documentElement).backgroundColor") != light
