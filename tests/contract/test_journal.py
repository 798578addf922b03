"""The journal: lines in order, a session's own lines, and an end to its growth."""

from __future__ import annotations

import pytest

from limpet.features.usefulness import ExposureRow, Exposures, UseCount
from limpet.store.records import OBJECTION, Action, Proposal

from .conftest import open_engine


def line(number, session="s1", scope="project:api"):
    return Action(scope, session, number, "did", f"Bash: make {number}")


def lines(store, scope, **which):
    return [action for _, action in store.journal.numbered(scope, **which)]


def test_the_last_lines_come_oldest_first(store):
    for number in range(5):
        store.journal.note(line(number, session="s1" if number % 2 else "s2"))
    store.journal.note(line(9, scope="global"))

    assert [one.at_us for one in lines(store, "project:api", limit=3)] == [2, 3, 4]
    assert [one.at_us for one in lines(store, "project:api", session="s1", limit=10)] == [1, 3]
    assert lines(store, "project:api", limit=1) == [line(4, session="s2")]
    assert lines(store, "project:web", limit=10) == []


def test_a_purge_removes_the_lines_of_the_scopes_that_the_memory_was_in(store, scribe):
    """What was erased may be quoted in any of them."""
    id = scribe.remember("the Zanzibar secret")
    store.journal.note(line(1))
    scribe.change("archived", id)
    assert len(lines(store, "project:api", limit=9)) == 1
    scribe.purge(id)
    assert lines(store, "project:api", limit=9) == []
    store.journal.note(line(2))
    assert lines(store, "project:api", limit=9) == [line(2)]
    moved = scribe.remember("the pumpkin goes out at eight", scope="project:web")
    scribe.change("moved", moved, scope="project:api", was="project:web")
    store.journal.note(line(3, scope="project:web"))
    scribe.purge(moved)
    assert [lines(store, f"project:{name}", limit=9) for name in ("api", "web")] == [[], []]


@pytest.mark.parametrize(
    ("scope", "text", "quote", "goes"),
    [
        (
            "project:web",
            "the north gate opens with the word zanzibarquartz",
            "say: The north\ngate opens with the WORD",
            True,
        ),
        ("project:web", "the north gate opens with the word zanzibarquartz", "the north gate is closed", False),
        ("global", "the north gate opens with the word zanzibarquartz", "gate opens with the word zan", True),
        ("global", "PIN 4711", "Bash: unlock --with 'pin 4711'", True),
        ("project:web", "PIN 4711", "Bash: unlock --with 'pin 4711'", False),
    ],
)
def test_a_purge_leaves_the_lines_of_other_scopes_that_do_not_quote_it(store, scribe, scope, text, quote, goes):
    store.journal.note(line(1))
    store.journal.note(line(2)._replace(what=quote))
    pairs = [(scribe.remember(f"statement {n}"), reason) for n, reason in enumerate(("it is old", quote))]
    objections = [
        Proposal(scribe.id(), OBJECTION, "project:api", about, about, reason, 0.0, 1) for about, reason in pairs
    ]
    store.reviews.propose(objections)
    scribe.purge(scribe.remember(text, scope=scope))

    assert [one.at_us for one in lines(store, "project:api", limit=9)] == [1, 2][: 2 - goes]
    left = store.reviews.waiting(["project:api"], limit=9)
    assert [one.reason for one in left] == ["it is old", quote][: 2 - goes]


def test_the_journal_is_a_ring(tmp_path):
    store = open_engine("memory", tmp_path)
    for number in range(10_003):
        store.journal.note(line(number))
    kept = lines(store, "project:api", limit=20_000)
    assert (len(kept), kept[0].at_us, kept[-1].at_us) == (10_000, 3, 10_002)


def seen(number, session="s1", shown=True, used=None, drawn=False, scope="project:api"):
    memory = bytes([number]) * 16
    return ExposureRow(scope, session, "claude", number, "message", memory, 10 * shown, shown, drawn, used)


def test_what_was_surfaced_comes_newest_first(store):
    store.journal.note(line(1))
    Exposures(store).note([seen(1), seen(2)])
    Exposures(store).note([seen(3, session="s2", shown=False, drawn=True, used=True), seen(4, scope="global")])

    def latest(scope="project:api", **where):
        return [(one.at_us, one.tokens, one.shown, one.used) for one in Exposures(store).latest(scope, **where)]

    second = (2, 10, True, None)
    assert latest(limit=2) == [(3, 0, False, True), second]
    assert latest(session="s1", limit=9) == [second, (1, 10, True, None)]
    assert latest("project:web", memory=seen(2).memory, limit=9) == [second]
    assert lines(store, "project:api", limit=9) == [line(1)]


def test_what_comes_often_in_a_session_is_judged_once(store):
    """Three times in one work is one observation; each time costs its tokens."""
    Exposures(store).note([seen(1, used=False), seen(1, used=True), seen(1)])
    Exposures(store).note([seen(1, session="s2", used=False), seen(1, session="s3"), seen(2, shown=False, drawn=True)])

    memory, other = bytes([1]) * 16, bytes([2]) * 16
    assert Exposures(store).counts("project:api") == [
        UseCount(memory, True, False, 5, 50, 2, 1),
        UseCount(other, False, True, 1, 0, 0, 0),
    ]
    assert Exposures(store).counts("project:web") == []


def test_of_what_was_drawn_the_first_time_in_a_session_counts(store):
    """What is shown is shown once; what is held out fits message after message, and is not looked for more often."""
    held = {"shown": False, "drawn": True}
    Exposures(store).note([seen(1, **held, used=False), seen(1, **held, used=True), seen(1, session="s2", **held)])
    Exposures(store).note([seen(1, session="s2", **held, used=True), seen(1, drawn=True, session="s3", used=True)])

    memory = bytes([1]) * 16
    assert Exposures(store).counts("project:api") == [
        UseCount(memory, False, True, 4, 0, 1, 0),
        UseCount(memory, True, True, 1, 10, 1, 1),
    ]


def test_what_a_session_began_with_is_known_while_it_says_the_same(store, scribe):
    same, changed = scribe.remember("the VPN is needed"), scribe.remember("the port is 5433")
    rows = [ExposureRow("project:api", "s1", "claude", 10**15 * 3, "start", id, 9) for id in (same, changed)]
    Exposures(store).note(rows)
    Exposures(store).note([ExposureRow("project:api", "s2", "claude", 10**15 * 3, "message", same, 9)])
    assert store.journal.began_with("s1", [same, changed]) == {same, changed}
    assert store.journal.began_with("s1", [same]) == {same}
    assert store.journal.began_with("s2", [same]) == set()


def test_lines_are_dropped_by_number_in_their_scope(store):
    for number in range(4):
        store.journal.note(line(number, scope="project:api" if number != 2 else "global"))
    (first, _), _, (last, _) = store.journal.numbered("project:api")
    assert store.journal.drop("global", [first]) is True
    assert store.journal.drop("project:api", [first, last]) is True
    assert [one.at_us for _, one in store.journal.numbered("project:api")] == [1]
    assert [one.at_us for _, one in store.journal.numbered("global")] == [2]
