"""limpet as a Python library: answers are sequences, times are datetimes, names are alike, and nothing is ignored."""

from __future__ import annotations

import inspect
import pickle
import traceback
from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta, timezone

import pytest

import limpet
from limpet.cli.main import main
from limpet.features import organize, usefulness
from limpet.history.queries import History


@pytest.fixture
def clock():
    return limpet.FixedClock("2026-03-01T12:00:00Z")


@pytest.fixture
def memory(tmp_path, clock):
    with limpet.open(tmp_path / "memory.db", scope="project:api", clock=clock) as opened:
        yield opened


def contents(found):
    return [one.content for one in found]


# -- answers are sequences


def test_a_recall_is_the_sequence_of_its_items(memory):
    for day in ("Monday", "Tuesday", "Friday"):
        memory.remember(f"The deploy on {day} went well")
    found = memory.recall("the deploy", lexical_only=True)

    assert isinstance(found, Sequence)
    assert len(found) == 3 and found
    assert list(found) == found.items
    assert (found[0], found[-1], found[:2]) == (found.items[0], found.items[2], found.items[:2])
    assert found.items[1] in found
    assert found.query == "the deploy"  # and what it had before


def test_an_answer_without_anything_is_false(memory):
    assert not memory.recall("anything", lexical_only=True)
    assert not memory.recall_sessions("anything", lexical_only=True)
    assert not memory.prepare("anything", lexical_only=True)
    assert not memory.list()
    assert not memory.graph.contradictions()
    with pytest.raises(IndexError):
        memory.list()[0]


def test_a_page_is_the_sequence_of_its_memories_and_says_how_to_go_on(memory):
    for day in ("Monday", "Tuesday", "Friday"):
        memory.remember(f"The deploy on {day} went well")
    page = memory.list(limit=2)

    assert contents(page) == contents(page.memories) and len(page) == 2
    assert contents(memory.list(limit=2, cursor=page.cursor)) == ["The deploy on Monday went well"]


def test_every_answer_that_is_a_list_with_something_beside_is_a_sequence(memory):
    slow = memory.remember("The report takes an hour", session="s1", speaker="Ana").id
    cache = memory.remember("We cache the report", kind="decision", because=[slow]).id
    other = memory.remember("The report takes a second").id
    memory.link(slow, "contradicts", other)

    assert contents(memory.why(cache)) == ["The report takes an hour"]
    assert [one.node.id for one in memory.impact(slow)] == [cache]
    assert [one.id for one in memory.graph.path(cache, slow)] == [cache, slow]
    assert len(memory.graph.contradictions()) == memory.graph.contradictions().count == 1
    assert [one.node.id for one in memory.graph.timeline()] == [one.node.id for one in memory.graph.timeline().moments]
    assert len(memory.graph.gaps()) == len(memory.graph.gaps().found)
    assert memory.audit(cache)[0].node.id == cache
    assert [one.id for one in memory.prepare("the report", lexical_only=True)]
    assert memory.recall_sessions("how long does the report take", lexical_only=True)[0].name == "s1"
    assert memory.graph.context([slow], depth=1)[0].id == slow
    assert list(memory.graph.consolidate()) == []


# -- times


def test_times_come_out_as_datetimes_in_utc_with_their_microseconds_beside_them(memory, clock):
    id = memory.remember("Deploys go out on Tuesdays", session="s1", valid_to="2027-01-01").id
    now = datetime(2026, 3, 1, 12, tzinfo=UTC)
    one = memory.get(id)

    assert (one.created_at, one.valid_from, one.recorded_at, one.observed_at) == (now, now, now, now)
    assert one.created_at.tzinfo is UTC
    assert (one.valid_to, one.retired_at, one.used_at) == (datetime(2027, 1, 1, tzinfo=UTC), None, None)
    assert (one.created_at_us, one.used_at_us) == (clock.now(), None)
    (item,) = memory.recall("deploys", lexical_only=True)
    assert (item.valid_from, item.valid_from_us, item.recorded_at) == (now, clock.now(), now)
    assert item.as_dict()["valid_from"] == "2026-03-01T12:00:00Z"  # JSON is as it was
    assert (memory.session("s1").started_at, memory.session("s1").ended_at) == (now, None)
    assert (memory.stats().oldest, memory.stats().newest_us) == (now, clock.now())
    assert memory.graph.timeline()[0].at == now
    assert memory.prepare("deploys", lexical_only=True)[0].recorded_at == now


def test_a_batch_takes_plain_texts_among_objects(memory):
    receipts = memory.remember_batch(["The office is in Tampa", {"content": "Ana owns billing"}, 7])

    assert [one.status for one in receipts] == ["created", "created", "rejected"]
    assert receipts[2].reason == "an item must be a text or an object, not int"


@pytest.mark.parametrize(
    "time",
    [
        datetime(2026, 1, 1, tzinfo=UTC),
        datetime(2026, 1, 1, 2, tzinfo=timezone(timedelta(hours=2))),
        date(2026, 1, 1),
        "2026-01-01",
        "2026-01-01T00:00:00Z",
        1_767_225_600_000_000,
    ],
    ids=repr,
)
def test_a_time_is_said_in_any_of_these_ways(memory, time):
    memory.set_fact("user.city", "Warsaw", valid_from="2024-01-01")
    memory.set_fact("user.city", "Tampa", valid_from=time)

    assert memory.fact("user.city", as_of=time).valid_from == datetime(2026, 1, 1, tzinfo=UTC)
    assert contents(memory.list(since=time)) == ["Tampa"]
    assert contents(memory.recall("Warsaw Tampa", as_of=time, lexical_only=True)) == ["Tampa"]
    assert memory.graph.timeline("user.city", as_of=time)
    assert len(memory.graph.diff(time).began) == 1
    assert memory.remember_batch([{"content": "x", "valid_from": time}])[0].status == "created"


def test_what_comes_out_goes_in_again(memory, clock):
    id = memory.remember("The limit is 100").id
    then = memory.get(id).created_at
    clock.advance(days=1)
    memory.edit(id, "The limit is 500")

    assert memory.get(id, known_at=then).content == "The limit is 100"
    assert contents(memory.recall("limit", known_at=then, lexical_only=True)) == ["The limit is 100"]


def test_a_datetime_without_a_time_zone_is_refused_by_every_verb(memory):
    naive = datetime(2026, 1, 1)

    for call in (
        lambda: memory.remember("x", valid_from=naive),
        lambda: memory.recall("x", since=naive),
        lambda: memory.list(until=naive),
        lambda: memory.fact("user.city", as_of=naive),
        lambda: memory.graph.diff(naive),
        lambda: memory.why("0" * 8, known_at=naive),
    ):
        with pytest.raises(limpet.BadInput, match="time zone"):
            call()
    assert "time zone" in memory.remember_batch([{"content": "x", "valid_from": naive}])[0].reason


# -- states


def test_the_state_of_a_memory_says_what_became_of_it(memory):
    old = memory.remember("The limit is 100").id
    new = memory.correct(old, "The limit is 500").id
    gone, put_away, erased = (memory.remember(text).id for text in ("The lift is broken", "An old page", "A secret"))
    memory.retract(gone, "it was mended")
    memory.archive(put_away)
    memory.purge(erased, confirm=True)

    states = {one.id: one.state for one in memory.list(all_states=True)}
    assert states == {old: "superseded", new: "active", gone: "retracted", put_away: "archived", erased: "purged"}
    assert {id: memory.get(id).state for id in states} == states
    assert [one.state for one in memory.history(old)] == ["active", "superseded"]
    assert memory.get(old).as_dict()["state"] == "superseded"
    assert memory.stats().by_state == {"active": 1, "archived": 1, "purged": 1, "retracted": 1, "superseded": 1}
    memory.undo(memory.history(new)[0].id)


def test_a_memory_that_was_current_then_is_active_as_known_then(memory, clock):
    old = memory.remember("The limit is 100").id
    then = clock.now()
    clock.advance(days=1)
    memory.correct(old, "The limit is 500")

    assert memory.get(old, known_at=then).state == "active"


# -- names


def test_what_is_written_is_filtered_by_the_same_names(memory):
    memory.remember(
        "By Ana", kind="note", topics=["a"], session="s1", speaker="Ana", metadata={"ticket": 7, "open": True}
    )
    memory.remember("By Ben", kind="goal", topics=["b"], session="s2", speaker="Ben", metadata={"ticket": 8})
    memory.remember("The engine", key="db.engine")
    memory.remember("Everywhere", scope="global")

    for asked, expected in (
        ({"kind": "note"}, ["By Ana"]),
        ({"kind": ["note", "goal"]}, ["By Ana", "By Ben"]),
        ({"topics": ["a"]}, ["By Ana"]),
        ({"session": "s2"}, ["By Ben"]),
        ({"speaker": "Ana"}, ["By Ana"]),
        ({"key": "DB.engine"}, ["The engine"]),
        ({"metadata": {"ticket": 7}}, ["By Ana"]),
        ({"metadata": {"ticket": 7, "open": False}}, []),
        ({"metadata": {"open": None}, "kind": "goal"}, ["By Ben"]),
        ({"scope": "global"}, ["Everywhere"]),
        ({"scope": "project:other"}, ["Everywhere"]),
    ):
        assert sorted(contents(memory.list(**asked))) == expected, asked
        assert memory.count(**asked) == len(expected), asked
        found = memory.recall("by Ana, Ben, the engine, everywhere", **asked)
        assert sorted(contents(found)) == expected, asked
        again = memory.recall("by Ana, Ben, the engine, everywhere", **asked)  # from arrays, where they have it
        assert contents(again) == contents(found), asked


def test_the_verbs_that_filter_have_the_same_filters():
    common = ("kind", "topics", "since", "until", "session", "speaker", "key", "metadata", "scope")
    for verb in ("recall", "recall_sessions", "list", "count"):
        assert set(common) <= set(inspect.signature(getattr(limpet.Limpet, verb)).parameters), verb


def test_an_explanation_says_which_filter_left_a_memory_out(memory):
    memory.remember("By Ana: the deploy", speaker="Ana", metadata={"ticket": 7})

    for asked, why in (
        ({"speaker": "Ben"}, "another speaker"),
        ({"key": "a.b"}, "another key"),
        ({"metadata": {"ticket": 8}}, "other metadata"),
    ):
        found = memory.recall("deploy", explain=True, lexical_only=True, **asked)
        assert [one.why for one in found.explained.left_out] == [why]


# -- nothing is ignored


@pytest.mark.parametrize(
    ("call", "fix"),
    [
        (lambda m, id: m.remember("x", topics="api"), "topics=['api']"),
        (lambda m, id: m.remember("x", because=id), "because=["),
        (lambda m, id: m.correct(id, "y", topics="api"), "topics=['api']"),
        (lambda m, id: m.recall("x", topics="api"), "topics=['api']"),
        (lambda m, id: m.list(topics="api"), "topics=['api']"),
        (lambda m, id: m.recall("x", without="vector"), "without=['vector']"),
        (lambda m, id: m.tag(id, add="api"), "add=['api']"),
        (lambda m, id: m.tag(id, remove="api"), "remove=['api']"),
        (lambda m, id: m.abbreviate(id), "ids=["),
        (lambda m, id: m.graph.context(id), "ids=["),
        (lambda m, id: m.graph.path(id, id, types="supports"), "types=['supports']"),
        (lambda m, id: organize.run(m, "notes.md"), "paths=['notes.md']"),
        (lambda m, id: organize.run(m, [], clients="claude"), "clients=['claude']"),
        (lambda m, id: m.remember_batch({"content": "x"}), "items=[{"),
        (lambda m, id: m.remember_batch("x"), "items=['x']"),
    ],
)
def test_a_text_where_a_list_is_meant_is_refused_and_told_what_to_write(memory, call, fix):
    id = memory.remember("The limit is 100").id

    with pytest.raises(limpet.BadInput) as refused:
        call(memory, id)
    assert fix in refused.value.hint and str(refused.value).endswith(f" (hint: {refused.value.hint})")
    assert memory.count() == 1


def test_metadata_is_filtered_by_plain_values_alone(memory):
    for asked in ({"line": [7]}, {"line": {"$gt": 7}}, {7: "line"}, "line=7"):
        with pytest.raises(limpet.BadInput, match="metadata"):
            memory.list(metadata=asked)


def test_a_purge_that_is_not_confirmed_raises(memory):
    id = memory.remember("Ana lives at 5 Elm Road").id

    with pytest.raises(limpet.BadInput, match="not confirmed"):
        memory.purge(id)
    assert memory.purge(id, dry_run=True).purged is False
    assert memory.purge(id, confirm=True, dry_run=True).purged is False
    assert memory.get(id).content
    assert memory.purge(id, confirm=True).purged is True


# -- what is shown


def test_the_module_shows_what_is_public_and_nothing_else():
    assert dir(limpet) == sorted(limpet.__all__)


def test_an_error_says_its_hint_and_its_fields_are_as_they_were(memory):
    """A notebook shows the last line of a traceback alone."""
    with pytest.raises(limpet.NotFound) as missing:
        memory.get("zzzzzz")
    error = pickle.loads(pickle.dumps(missing.value))
    last = traceback.format_exception(error)[-1].rstrip()
    assert last.startswith("limpet.model.errors.NotFound: no memory with the id zzzzzz")
    assert last.endswith(" (hint: `limpet list` shows ids, scope=NAME looks elsewhere)")
    assert "hint" not in error.message and error.as_dict().keys() == {"error", "message", "hint"}


def test_what_is_shown_of_an_answer_is_short(memory):
    for number in range(8):
        memory.remember(f"The limit of stage {number} is 100, " + "and so on " * 200, topics=["limits"])
    found = memory.recall("limit of stage 3", explain=True, lexical_only=True)

    for answer in (found, found.items[0], memory.list(), memory.list().memories[0], memory.log()[0], memory.graph.timeline(),
                   memory.prepare("limit of stage 3"), memory.audit("limit"), memory.forget(topics=["limits"], dry_run=True)):  # fmt: skip
        assert len(repr(answer)) < 800 and repr(answer).startswith(f"{type(answer).__name__}(")
    assert repr(memory.list()).endswith("... 5 more])") and "The limit of stage 7" in repr(memory.list())
    assert "valid_from=20" in repr(found.items[0]) and "=None" not in repr(memory.remember("Short"))


def test_the_receipts_of_an_undo_say_how_each_memory_stands(memory, path, capsys):
    old = memory.remember("The limit is 100")
    new = memory.correct(old.id, "The limit is 1000")

    assert {one.id: one.reason for one in memory.undo()} == {old.id: "held", new.id: "no longer held"}
    assert main(["--store", str(path), "--scope", "project:api", "undo", "--redo"]) == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert sorted(line[2] for line in lines) == ["held", "no"]


def test_every_public_verb_has_a_docstring_and_a_whole_signature():
    for owner in (limpet.Limpet, History):
        for name, verb in vars(owner).items():
            if not name.startswith("_") and inspect.isfunction(verb):
                assert verb.__doc__, name
                assert inspect.signature(verb).parameters["self"], name


@pytest.mark.parametrize("confirm", ["false", "no", "yes", 1])
def test_only_true_confirms_a_purge(memory, confirm):
    """A text is true to Python, whatever it says."""
    id = memory.remember("The limit is 100").id

    with pytest.raises(limpet.BadInput, match="not confirmed"):
        memory.purge(id, confirm=confirm)
    assert memory.get(id).content == "The limit is 100"


@pytest.mark.parametrize(
    "call",
    [
        lambda memory, id: memory.count_by(["kind"]),
        lambda memory, id: memory.list(session="\ud800"), lambda memory, id: memory.list(speaker="\ud800"),
        lambda memory, id: memory.list(metadata={"a": "\ud800"}), lambda memory, id: memory.list(metadata={"\ud800": 1}),
        lambda memory, id: memory.list(topics=["\ud800"]), lambda memory, id: memory.list(key="a.\ud800"),
        lambda memory, id: memory.remember("x\ud800"), lambda memory, id: memory.remember("x", topics=["\ud800"]),
        lambda memory, id: memory.set_fact("a.\ud800", "x"), lambda memory, id: memory.set_fact("a.b", "\ud800"),
        lambda memory, id: memory.remember("x", session="\ud800"), lambda memory, id: memory.remember("x", source="\ud800"),
        lambda memory, id: usefulness.note_action(memory, "s", "did", "\ud800"), lambda memory, id: usefulness.note_action(memory, "s", "foo", "x"),
        lambda memory, id: usefulness.note_action(memory, "s\0", "did", "a"),
        lambda memory, id: usefulness.note_exposures(memory, [(id, 5)], client="\ud800", via="x"),
        lambda memory, id: usefulness.note_exposures(memory, [(id, -5)], client="a", via="x"),
        lambda memory, id: usefulness.note_exposures(memory, [5], client="a", via="x"),
        lambda memory, id: memory.journal(limit=-1), lambda memory, id: memory.journal(limit=0),
        lambda memory, id: memory.work(limit=-1), lambda memory, id: memory.session("\ud800"),
        lambda memory, id: memory.move(None, "global"),
        lambda memory, id: memory.remember("\u200b\u2060 \ufeff"), lambda memory, id: memory.edit(id, "\u200b"),
    ],
)  # fmt: skip
def test_a_wrong_argument_is_bad_input_and_changes_nothing(memory, call):
    id = memory.remember("The limit is 100").id
    before = memory.log()

    with pytest.raises(limpet.BadInput):
        call(memory, id)
    assert memory.log() == before and memory.journal() == [] == list(usefulness.exposures(memory))


def test_half_a_character_in_a_question_is_read_over(memory):
    """What can be read of a question is asked."""
    id = memory.remember("The limit is 100").id

    assert [one.id for one in memory.recall("limit \ud800").items] == [id]


def test_what_is_missing_is_called_by_its_name(memory):
    id = memory.remember("The limit is 100").id

    for why in (None, "", "\ud800"):
        with pytest.raises(limpet.BadInput, match="why "):
            memory.retract(id, why)


def test_a_correction_that_says_the_same_changes_nothing(memory):
    id = memory.remember("The limit is 100", topics=["api"]).id

    assert memory.correct(id, "The limit is 100", why="asked again").status == "unchanged"
    assert memory.correct(id, "The limit is 100", topics=["ops"]).status == "created"
    with pytest.raises(limpet.BadInput, match="superseded"):
        memory.correct(id, "The limit is 100")


@pytest.mark.parametrize(
    "more",
    [{"valid_to": "2100-01-01"}, {"confidence": 0.0}, {"anyway": True, "origin": "user"}, {"topics": []}],
    ids=lambda more: next(iter(more)),
)
def test_a_correction_that_adds_something_is_one(memory, more):
    id = memory.remember("The limit is 100", topics=["api"]).id
    cause = memory.remember("The gateway counts calls").id

    assert memory.correct(id, "The limit is 100", source="a", session="s", because=()).status == "unchanged"
    assert memory.correct(id, "The limit is 100", **more).status == "created"
    assert memory.correct(cause, "The gateway counts calls", because=[id]).status == "created"


def test_an_emoji_is_a_text(memory):
    assert memory.remember("👩‍💻").status == "created"


def test_an_open_store_says_what_it_is(path):
    with limpet.open(path, scope="project:api") as memory:
        assert repr(memory) == f"<Limpet {path} in project:api>"
        other = memory.in_scope("project:web")
    assert repr(other) == f"<Limpet {path} in project:web, closed>"
