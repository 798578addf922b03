"""The page of `limpet serve`: who logs in with a token sees and does what that token may, and nothing else."""

from __future__ import annotations

import re

import pytest
from starlette.testclient import TestClient

import limpet
from limpet.features.serve.page import page_of
from limpet.features.serve.tokens import now_us, tokens_of
from limpet.features.web.site import role_of
from limpet.model.ids import format_id

URL = "http://memory.test:8766"
PEOPLE = {
    "ben": ("read", ["project:api"]), "ana": ("write", ["project:api"]), "rita": ("review", ["project:api"]),
    "ada": ("admin", ["project:api"]), "root": ("admin", ["*"]),
}  # fmt: skip
READING = ["/", "/memories", "/memories?q=deploys", "/review", "/why?q=deploys", "/brief?q=deploys", "/beliefs",
           "/beliefs?q=vault", "/sessions", "/graph", "/changes", "/scopes"]  # fmt: skip


class Team:
    def __init__(self, path, url=URL):
        self.url, self.tokens = url, tokens_of(str(path))
        self.memory = limpet.open(path, scope="project:api")
        self.ids = {
            "api": self.memory.remember("Deploys go out on Tuesdays").id,
            "global": self.memory.in_scope("global").remember("The company is called Wombat", origin="user").id,
            "other": self.memory.in_scope("project:other").remember("The vault opens with the blue card").id,
        }
        self.given = {
            name: self.tokens.create(name, role=role, scopes=scopes, seconds=3_600)[1]
            for name, (role, scopes) in PEOPLE.items()
        }
        holds = lambda grant: any(one.id == grant.id and one.holds(now_us()) for one in self.tokens.grants())  # noqa: E731
        self.app = page_of(self.memory, [url], self.tokens.find, holds, lambda: None)

    def browser(self, name=None):
        browser = TestClient(self.app, base_url=self.url)
        if name:
            answer = self.log_in(browser, self.given[name])
            assert (answer.status_code, str(answer.url)) == (200, f"{self.url}/"), name
        return browser

    def log_in(self, browser, token, **given):
        return browser.post("/enter", data={"secret": token}, headers={"origin": self.url}, **given)

    def submit(self, browser, to, **fields):
        token = re.search(r'name="token" value="([^"]+)"', browser.get("/scopes").text)[1]
        fields = {"token": token, "back": "/"} | fields
        return browser.post(to, data=fields, headers={"origin": self.url}, follow_redirects=False).status_code


@pytest.fixture(scope="module")
def team(tmp_path_factory):
    made = Team(tmp_path_factory.mktemp("team") / "memory.db")
    with made.memory:
        yield made


def test_who_has_no_login_is_led_to_the_form_and_shown_nothing(team):
    stranger = team.browser()
    for path in [*READING, "/care", f"/memory/{team.ids['api']}"]:
        answer = stranger.get(path, follow_redirects=False)
        assert (answer.status_code, answer.headers["location"]) == (303, "/enter"), path
    assert team.log_in(stranger, "limpet_guessed").status_code == 401
    assert team.log_in(stranger, "x" * 20_000).status_code == 413
    assert "Deploys" not in stranger.get("/").text


def test_a_login_is_a_strict_cookie_of_its_own_and_the_token_is_in_no_page(team):
    browser = team.browser()
    header = team.log_in(browser, team.given["ana"], follow_redirects=False).headers["set-cookie"].lower()

    assert "httponly" in header and "samesite=strict" in header and "domain" not in header
    assert team.given["ana"] not in header and team.given["ana"] not in browser.get("/").text


def test_over_tls_the_cookie_is_sent_over_tls_alone(tmp_path):
    team = Team(tmp_path / "memory.db", "https://memory.example.org")
    with team.memory:
        header = team.log_in(team.browser(), team.given["ana"], follow_redirects=False).headers["set-cookie"]
        assert header.startswith("__Host-limpet=") and "Secure" in header and "Path=/" in header
        assert team.browser("ana").get("/memories").status_code == 200


def test_a_cookie_that_somebody_planted_is_never_a_login(team):
    browser = team.browser()
    browser.cookies.set("limpet-8766", "planted", domain="memory.test")
    made = team.log_in(browser, team.given["ana"], follow_redirects=False).cookies["limpet-8766"]
    planted = team.browser()
    planted.cookies.set("limpet-8766", "planted", domain="memory.test")
    assert made != "planted" and planted.get("/", follow_redirects=False).status_code == 303


@pytest.mark.parametrize("name", ["ben", "ana", "rita", "ada"])
def test_no_page_tells_of_a_scope_that_the_token_is_not_for(team, name):
    browser = team.browser(name)
    browser.cookies.set("limpet-scope", "project:other", domain="memory.test")
    for path in READING:
        answer = browser.get(path)
        assert answer.status_code in (200, 404), path
        assert "blue card" not in answer.text and "project:other" not in answer.text, path
        assert str(team.memory.path) not in answer.text, path
    assert browser.get(f"/memory/{team.ids['other']}").status_code == 404
    assert browser.get("/session?scope=project:other&name=x").status_code == 403
    assert browser.get(f"/memory/{team.ids['global']}").status_code == 200
    assert team.submit(browser, "/view", scope="project:other") == 303
    assert "blue card" not in browser.get("/memories").text


def test_who_may_see_all_sees_all(team):
    browser = team.browser("root")
    assert "blue card" in browser.get("/memories").text
    assert browser.get("/care").status_code == 200


def tried(team, id):
    """Every form of the page with what it needs."""
    one = f"/memory/{id}"
    return {
        **{("POST", f"/memory/{{id}}/{verb}"): (f"{one}/{verb}", {"content": "Deploys go out daily", "version": "1",
           "verdict": "useful", "add": "x", "why": "so", "typed": "no"})
           for verb in ("archive", "restore", "pin", "unpin", "reach", "promote", "edit", "correct", "retract", "tag",
                        "feedback", "purge")},
        ("POST", "/memories/change"): ("/memories/change", {"id": id, "action": "pin"}),
        ("POST", "/review"): ("/review", {"id": id, "verdict": "reject"}),
        ("POST", "/undo"): ("/undo", {"event": id}),
        ("POST", "/journal/drop"): ("/journal/drop", {"number": "1"}),
        ("POST", "/view"): ("/view", {"theme": "dark"}),
        ("POST", "/care/backup"): ("/care/backup", {}),
    }  # fmt: skip


def test_each_form_takes_its_role(team):
    ranks = ("read", "write", "review", "admin", "owner")
    for name in ("ben", "ana", "rita", "ada"):
        browser = team.browser(name)
        id = team.memory.remember(f"Deploys go out when {name} says so").id
        for (method, path), (to, fields) in tried(team, id).items():
            allowed = ranks.index(role_of(method, path)) <= ranks.index(PEOPLE[name][0])
            assert (team.submit(browser, to, **fields) != 403) == allowed, (name, path)
    assert {role_of("POST", f"/care/{one}") for one in ("backup", "work")} == {"owner"}


def test_the_table_of_forms_is_whole(team):
    from limpet.features.web import views_home, views_memories, views_recall

    modules = (views_home, views_memories, views_recall)
    forms = {(method, path) for module in modules for method, path, _ in module.VIEWS if method == "POST"}
    assert forms - set(tried(team, "x")) == {("POST", "/care/work")}


def test_what_is_of_every_scope_is_changed_by_who_has_a_token_for_it(team):
    browser, id = team.browser("ada"), team.ids["global"]
    event = team.memory.in_scope("global").log(limit=1)[0].id
    for to, fields in tried(team, id).values():
        if not to.startswith(("/view", "/journal", "/care", "/undo", "/review")):
            assert team.submit(browser, to, **fields) == 403, to
    assert team.submit(browser, "/undo", event=event) == 403
    assert team.submit(browser, "/undo") == 400
    team.memory.in_scope("global").feedback(id, "wrong")
    for verdict in ("accept", "reject"):
        assert team.submit(browser, "/review", id=id, verdict=verdict) == 403, verdict
    assert team.submit(browser, "/memories/change", id=team.ids["api"], action="move", value="project:other") == 403
    assert team.memory.get(id).content == "The company is called Wombat" and team.memory.get(id).state == "active"


def test_an_operation_that_changed_another_scope_is_taken_back_with_a_token_for_it_alone(tmp_path):
    team = Team(tmp_path / "memory.db")
    with team.memory as here:
        everywhere, other = here.in_scope("global"), here.in_scope("project:other")
        ids = [everywhere.remember(f"Everybody has locker {n}").id for n in range(3)]
        everywhere.session_start("monday")
        began = format_id(everywhere._context.store.ledger.newest(["global"], limit=1)[0].id)
        out = everywhere.move(ids[:1], "project:api")[0].event
        across = other.move([other.remember("Eve has the blue card").id], "project:api")[0].event
        everywhere.undo(everywhere.retract(ids[1], "no lockers").event)
        redone = everywhere.log(limit=1)[0].id
        many = everywhere.move([everywhere.remember(f"Locker {n} is red").id for n in range(30)], "project:api")[
            0
        ].event
        mine = here.remember("Deploys go out on Fridays").event
        before = [(one.id, one.undone) for one in here.in_all_scopes().log(limit=1_000)]
        browser = team.browser("ada")
        for event in (began, out, across, redone, many):
            assert team.submit(browser, "/undo", event=event) == 403
        assert [(one.id, one.undone) for one in here.in_all_scopes().log(limit=1_000)] == before
        assert everywhere.get(ids[1]).state == "active" and here.get(ids[0])
        assert team.submit(browser, "/undo", event=mine) == 303


@pytest.fixture
def leaving(tmp_path):
    """A team whose `project:api` has a memory that another project, `global` and files outside of the store quote."""
    made = Team(tmp_path / "memory.db")
    with made.memory as memory:
        everywhere = memory.in_scope("global")
        text = "The floor of the north gate is laid in grey zanzibarquartz"
        made.ids |= {
            "secret": memory.remember(text).id,
            "quoting here": memory.remember(f"Ben noted: {text}").id,
            "quoting in global": everywhere.remember(f"Everybody heard: {text}", origin="user").id,
            "quoting elsewhere": memory.in_scope("project:other").remember(f"Overheard: {text}").id,
        }
        made.files = {
            "whole": tmp_path / "whole.jsonl",
            "api": tmp_path / "api.amem",
            "backup": tmp_path / "backup.db",
        }
        memory.export_to("jsonl", made.files["whole"])
        memory.export_to("amem", made.files["api"])
        memory.backup(made.files["backup"])
        yield made


def purge_all(team, browser, name):
    """Purge a memory with everything that the form offers or does not offer."""
    typed = team.memory.in_all_scopes().abbreviate([team.ids[name]])[0]
    asked = {"typed": typed, "quoting": "on", "all_wordings": "on", "copies": "on"}
    return team.submit(browser, f"/memory/{team.ids[name]}/purge", **asked)


def states(team):
    return {name: team.memory.in_all_scopes().get(id).state for name, id in team.ids.items()}


def test_a_purge_reaches_no_further_than_the_token(leaving):
    browser, files = leaving.browser("ada"), {path: path.read_bytes() for path in leaving.files.values()}
    shown = browser.get(f"/memory/{leaving.ids['secret']}/purge").text
    assert "also 1 memory that quotes it" in shown and 'name="copies"' not in shown and "Everybody heard" not in shown
    assert not any(path.name in shown for path in files) and "who keeps the whole store" in shown

    assert purge_all(leaving, browser, "secret") == 303

    erased = {name for name, state in states(leaving).items() if state == "purged"}
    assert erased == {"secret", "quoting here"}
    assert {path: path.read_bytes() for path in files} == files
    assert leaving.memory.get(leaving.ids["quoting in global"]).content.endswith("zanzibarquartz")


def test_a_purge_leaves_the_wordings_in_scopes_that_the_token_is_not_for(leaving):
    memory, everywhere = leaving.memory, leaving.memory.in_scope("global")
    old = everywhere.remember("Lunch is served at twelve in the hall", origin="user").id
    new = memory.remember("Lunch is served at one in the hall", origin="user").id
    memory.link(new, "supersedes", old)
    leaving.ids |= {"old": old, "new": new}

    assert purge_all(leaving, leaving.browser("ada"), "new") == 303

    assert states(leaving)["new"] == "purged" and states(leaving)["old"] != "purged"


def test_the_page_of_a_purge_is_for_who_may_purge_that_memory(leaving):
    for name in ("quoting in global", "global"):
        assert leaving.browser("ada").get(f"/memory/{leaving.ids[name]}/purge").status_code == 403, name
        assert purge_all(leaving, leaving.browser("ada"), name) == 403, name
    assert purge_all(leaving, leaving.browser("ada"), "quoting elsewhere") == 404
    assert "purged" not in states(leaving).values()


def test_a_purge_of_two_scopes_reaches_both_and_no_file(leaving):
    leaving.given["both"] = leaving.tokens.create(
        "both", role="admin", scopes=["project:api", "global"], seconds=3_600
    )[1]
    files = {path: path.read_bytes() for path in leaving.files.values()}

    assert purge_all(leaving, leaving.browser("both"), "secret") == 303

    erased = {name for name, state in states(leaving).items() if state == "purged"}
    assert erased == {"secret", "quoting here", "quoting in global"}
    assert {path: path.read_bytes() for path in files} == files


def test_who_keeps_the_whole_store_purges_it_everywhere(leaving):
    browser = leaving.browser("root")
    shown = browser.get(f"/memory/{leaving.ids['secret']}/purge").text
    assert "also 3 memories that quote it" in shown and "also in 3 files outside of the store" in shown
    assert not any(path.name in shown for path in leaving.files.values())

    assert purge_all(leaving, browser, "secret") == 303

    assert {name for name, state in states(leaving).items() if state != "purged"} == {"api", "global", "other"}
    assert not leaving.files["whole"].exists() and not leaving.files["api"].exists()


def test_no_page_but_those_of_files_says_where_the_server_keeps_them(leaving):
    browser, folder = leaving.browser("root"), str(leaving.files["whole"].parent)
    purge = f"/memory/{leaving.ids['secret']}/purge"
    for page in [*READING, purge]:
        assert folder not in browser.get(page).text, page


def test_the_buttons_are_those_that_one_may_press(team):
    page = f"/memory/{team.ids['api']}"
    assert "<textarea" not in team.browser("ben").get(page).text
    assert "<textarea" in team.browser("ana").get(page).text
    assert "Erase for good" not in team.browser("rita").get(page).text
    assert "Erase for good" in team.browser("ada").get(page).text
    assert 'href="/care"' not in team.browser("ada").get("/").text


def test_a_form_of_another_login_or_of_another_site_is_not_taken(team):
    ana, root = team.browser("ana"), team.browser("root")
    token = re.search(r'name="token" value="([^"]+)"', root.get("/scopes").text)[1]
    to = f"/memory/{team.ids['api']}/archive"
    assert ana.post(to, data={"token": token}, headers={"origin": team.url}).status_code == 403
    assert ana.post("/enter", data={"secret": "x"}, headers={"origin": "http://evil.test"}).status_code == 403
    assert ana.get("/", headers={"host": "evil.test"}).status_code == 421


def test_a_revoked_token_ends_its_logins_at_once_and_so_does_leaving(team):
    one = team.tokens.create("guest", role="read", scopes=["project:api"], seconds=3_600)
    team.given["guest"] = one[1]
    browser = team.browser("guest")
    assert browser.get("/memories").status_code == 200
    team.tokens.revoke("guest")
    assert browser.get("/memories", follow_redirects=False).status_code == 303

    browser = team.browser("ana")
    value = browser.cookies["limpet-8766"]
    assert team.submit(browser, "/leave") == 303
    browser.cookies.set("limpet-8766", value, domain="memory.test")
    assert browser.get("/memories", follow_redirects=False).status_code == 303
