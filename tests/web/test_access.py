"""Who is answered by the page, and with what headers: nobody but the browser that came by the link."""

from __future__ import annotations

import pytest

from limpet.features.web import access as accesses
from tests.web.conftest import HOME, LINK, PORT, Browser, open_page

PAGES = [
    "/",
    "/memories",
    "/review",
    "/why",
    "/brief",
    "/beliefs",
    "/sessions",
    "/graph",
    "/changes",
    "/care",
    "/scopes",
]


@pytest.fixture
def stranger(memory, clock):
    return open_page(memory, clock)


def test_nothing_is_shown_to_who_has_not_the_cookie(stranger):
    for path in [*PAGES, "/memory/x", "/nowhere"]:
        answer = stranger.get(path)
        assert (answer.status_code, "Postgres" in answer.text) == (401, False), path


def test_the_link_lets_one_browser_in_once(stranger, memory):
    assert stranger.get("/enter").status_code == 401
    assert stranger.get("/enter", params={"link": LINK[:-1]}).status_code == 401
    stranger.enter()
    assert stranger.get("/").status_code == 200

    other = Browser(stranger.app, base_url=HOME)
    assert other.get("/enter", params={"link": LINK}).status_code == 401
    assert other.get("/").status_code == 401


def test_the_cookie_is_not_to_be_read_by_scripts_nor_sent_by_other_sites(stranger):
    header = stranger.get("/enter", params={"link": LINK}).headers["set-cookie"].lower()

    assert "httponly" in header and "samesite=strict" in header and "path=/" in header
    assert "domain" not in header and str(PORT) in header.split("=")[0]


def test_a_cookie_that_was_there_before_is_never_taken_over(stranger):
    name = stranger.site.access.cookie
    stranger.cookies.set(name, "chosen-by-somebody-else", domain="127.0.0.1")
    stranger.get("/enter", params={"link": LINK})

    planted = Browser(stranger.app, base_url=HOME)
    planted.cookies.set(name, "chosen-by-somebody-else", domain="127.0.0.1")
    assert planted.get("/").status_code == 401


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        f"evil.example:{PORT}",
        f"127.0.0.1.evil.example:{PORT}",
        "127.0.0.1",
        "127.0.0.1:1",
        "",
        f"[::1]:{PORT}",
    ],
)
def test_a_name_that_was_made_to_point_here_is_not_answered(page, host):
    for path in ("/", "/static/limpet.css", f"/enter?link={LINK}"):
        assert page.get(path, headers={"host": host}).status_code in (400, 421)


@pytest.mark.parametrize(
    "origin",
    [
        "http://evil.example",
        "null",
        f"https://127.0.0.1:{PORT}",
        "http://127.0.0.1:1",
        f"http://localhost.evil.example:{PORT}",
    ],
)
def test_a_page_of_another_origin_can_neither_read_nor_send(page, memory, origin):
    id = memory.remember("We chose Postgres").id

    assert page.get("/", headers={"origin": origin}).status_code == 403
    form = {"token": page.site.access.owner.form_token}
    assert page.post(f"/memory/{id}/archive", data=form, headers={"origin": origin}).status_code == 403
    assert memory.get(id).state == "active"


def test_a_form_that_does_not_say_where_it_is_from_is_not_taken(page, memory):
    id = memory.remember("We chose Postgres").id

    assert page.post(f"/memory/{id}/archive", data={"token": page.site.access.owner.form_token}).status_code == 403
    assert memory.get(id).state == "active"


def test_a_form_needs_the_token_of_this_start(page, memory):
    id = memory.remember("We chose Postgres").id

    for token in ("", "guessed", page.site.access.owner.form_token[:-1]):
        assert page.submit(f"/memory/{id}/archive", token=token).status_code == 403
    assert page.post(f"/memory/{id}/archive", headers={"origin": HOME}).status_code == 403
    assert memory.get(id).state == "active"
    assert page.submit(f"/memory/{id}/archive").status_code == 200
    assert memory.get(id).state == "archived"


def test_nothing_is_changed_by_a_get(page, memory):
    id = memory.remember("We chose Postgres").id
    before = memory._context.store.ledger.watermark()

    for path in (*PAGES, f"/memory/{id}", f"/memory/{id}/purge", f"/memory/{id}/archive", "/undo"):
        page.get(path)
    assert memory._context.store.ledger.watermark() == before


def test_a_picture_of_another_site_is_not_answered(page):
    cross = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors"}

    assert page.get("/memories", headers=cross).status_code == 403
    assert page.get("/memories", headers={"sec-fetch-site": "same-site", "sec-fetch-mode": "cors"}).status_code == 403


def test_every_answer_forbids_code_and_frames_and_is_not_kept(page):
    for path in (*PAGES, "/nowhere", "/static/limpet.js", "/enter"):
        headers = page.get(path).headers
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy and "frame-ancestors 'none'" in policy
        assert "unsafe" not in policy and "http:" not in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["cache-control"] == "no-store"
        assert "access-control-allow-origin" not in headers


def test_other_methods_and_doubled_headers_are_refused(page):
    assert page.put("/").status_code == 405
    assert page.options("/", headers={"origin": HOME}).status_code == 405
    assert page.get("/", headers=[("host", f"127.0.0.1:{PORT}"), ("host", "evil.example")]).status_code == 400


def test_files_outside_of_the_page_are_not_given(page):
    for path in ("/static/../site.py", "/static/%2e%2e/site.py", "/static/..%2fsite.py", "/static//etc/passwd"):
        assert page.get(path).status_code in (400, 404)


def test_a_form_leads_back_to_this_site_only(page, memory):
    id = memory.remember("We chose Postgres").id

    for back in (
        "//evil.example",
        "http://evil.example",
        "/\\evil.example",
        "\\\\evil.example",
        "/\r\nset-cookie: a=b",
    ):
        answer = page.submit(f"/memory/{id}/pin", follow=False, back=back)
        assert answer.headers["location"].startswith("/?") or answer.headers["location"] == "/"


def test_a_read_only_page_takes_no_form_but_what_concerns_the_browser(path, memory, open_read_only, clock, read):
    id = memory.remember("We chose Postgres").id
    page = open_page(memory, clock, read_only=True).enter()

    assert page.submit(f"/memory/{id}/archive").status_code == 403
    assert page.submit(f"/memory/{id}/purge", typed=page.site.memory.abbreviate([id])[0]).status_code == 403
    assert memory.get(id).state == "active"
    assert page.submit("/view", theme="dark").status_code == 200
    shown = read(page.get(f"/memory/{id}"))
    assert all(action == "/view" for action in shown.values("form", "action"))

    alone = open_page(open_read_only, clock).enter()
    assert alone.get("/").status_code == 200 and alone.get("/memories?q=Postgres").status_code == 200
    assert alone.submit(f"/memory/{id}/archive").status_code == 403


def test_purges_are_few_and_each_is_typed(page, memory, read):
    ids = [memory.remember(f"Ana lives at {number} Elm Road").id for number in range(accesses.PURGES + 1)]

    assert page.submit(f"/memory/{ids[0]}/purge").status_code == 400
    assert page.submit(f"/memory/{ids[0]}/purge", typed="yes").status_code == 400
    assert memory.get(ids[0]).content
    for id in ids[:-1]:
        assert page.submit(f"/memory/{id}/purge", typed=memory.abbreviate([id])[0]).status_code == 200
        assert memory.get(id).state == "purged"
    last = page.submit(f"/memory/{ids[-1]}/purge", typed=memory.abbreviate([ids[-1]])[0])
    assert last.status_code == 429 and memory.get(ids[-1]).state == "active"


def test_a_form_of_any_size_is_answered(page):
    assert page.submit("/undo", event="x" * 5_000_000).status_code == 413
