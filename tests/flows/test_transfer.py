"""A store as JSONL: out, in and out again, byte by byte."""

from __future__ import annotations

import io
import json

import pytest

import limpet
from tests.hostile import numbers


@pytest.fixture
def lived(memory, clock):
    """A store in which everything happened: changes, undo, purge, use, links, vectors."""
    memory.session_start("s1", title="Release")
    one = memory.remember(
        "Deploys run on Friday", topics=["ops"], metadata={"a": [1, None, "é"]}, session="s1", speaker="Ann"
    )
    clock.advance(days=1)
    two = memory.remember("The limit is 100", key="api.limit", because=[one.id], importance=0.9, origin="user")
    memory.remember("deploys run on friday", speaker="Ann", source="log:1")
    memory.correct(two.id, "The limit is 1000\nand \u2028 more 😀", why="raised")
    clock.advance(seconds=1)
    memory.edit(one.id, "Deploys run on Friday afternoon")
    memory.tag(one.id, add=["ci"])
    memory.pin(one.id)
    memory.undo()
    memory.redo()
    gone = memory.remember("A word to forget: Zanzibarquartz", metadata={"z": "Zanzibarquartz"})
    memory.work()
    memory.purge(gone.id, confirm=True)
    memory.retract(memory.remember("wrong").id, "never true")
    memory.session_end("s1", summary="The release went out")
    memory.session_start("s2")
    memory.undo()
    memory.remember_batch([{"content": "shared", "scope": "global"}, {"content": "elsewhere", "scope": "project:web"}])
    memory.show(one.id)
    memory.feedback(one.id, "not_useful")
    memory.feedback(one.id, "wrong")
    memory.work()
    return memory


@pytest.fixture
def other(tmp_path, clock):
    with limpet.open(tmp_path / "other.db", scope="project:api", clock=clock) as opened:
        yield opened


def exported(memory, **how):
    text = io.StringIO()
    memory.export_to("jsonl", text, **how)
    return text.getvalue()


def imported(memory, *lines, **how):
    return memory.import_from(
        "jsonl",
        io.StringIO("\n".join(one if isinstance(one, str) else json.dumps(one) for one in lines)),
        **how,
        trust=True,
    )


def test_export_import_export_is_byte_identical(lived, other, tmp_path):
    lines = lived.export_to("jsonl", tmp_path / "a.jsonl").new

    report = other.import_from("jsonl", tmp_path / "a.jsonl", trust=True)
    assert other.export_to("jsonl", tmp_path / "b.jsonl").new == lines

    assert (tmp_path / "a.jsonl").read_bytes() == (tmp_path / "b.jsonl").read_bytes()
    assert (report.new, report.known, report.rejected) == (lived.stats().events, 0, [])
    assert b"Zanzibarquartz" not in (tmp_path / "a.jsonl").read_bytes()
    shown = [[one.as_dict() for one in store.list(all_states=True).memories] for store in (lived, other)]
    assert shown[0] == shown[1]
    assert lived.sessions() == other.sessions() and lived.session("s1").title == "Release"
    for one in lived.list(all_states=True).memories:
        assert other.history(one.id) == lived.history(one.id)
    assert other.verify() == []


def test_an_import_can_be_undone_and_purged_like_what_was_said_here(lived, other):
    imported(other, exported(lived))
    id = next(one.id for one in other.list().memories if one.content.startswith("Deploys"))

    other.purge(id, confirm=True)

    assert other.get(id).content == ""
    assert lived.get(id).content.startswith("Deploys")


def test_importing_twice_is_importing_once(lived, other):
    text = exported(lived)
    first = imported(other, text)
    second = imported(other, text)

    assert (second.new, second.known, second.rejected) == (0, first.new, [])
    assert exported(other) == text


def test_a_later_export_brings_only_what_is_new(lived, other):
    imported(other, exported(lived))
    lived.remember("A newer thing")

    report = imported(other, exported(lived))

    assert report.new == 1
    assert exported(other) == exported(lived)


def test_bad_lines_are_reported_with_their_numbers_and_stop_no_other(lived, other):
    good = [line for line in exported(lived).splitlines() if '"type":"remembered"' in line]
    invented = json.loads(good[0]) | {"type": "invented", "event": "01890000-0000-7000-8000-000000000001"}
    lines = [good[0], "not json", "[1]", "", '{"content": ""}', '{"content": "plain", "kind": "rumour"}',
             '{"event": "zz"}',
             '{"usage": 3}', '{"usage": {"id": "zz"}}', '{"vector": {"id": "zz"}}', '{"content": "fine"}',
             json.dumps(invented)]  # fmt: skip

    report = imported(other, *lines)

    assert numbers(report) == [2, 3, 5, 6, 7, 8, 9, 10, 12]
    assert all(reason for _, reason in report.rejected)
    assert report.new == 2
    assert {one.content for one in other.list().memories} == {"Deploys run on Friday", "fine"}


def test_an_event_of_a_memory_that_is_not_there_is_reported(lived, other):
    edit = next(line for line in exported(lived).splitlines() if '"edited"' in line)

    report = imported(other, edit)

    assert numbers(report) == [1]
    assert other.stats().events == 0


@pytest.mark.parametrize(
    "broken",
    [
        {"kind": "rumour"}, {"scope": "two words"}, {"content": "a\0b"}, {"valid_from": "soon"},
        {"recorded_at": 10**30},
        {"type": "session_started", "name": "s1"}, {"type": "session_ended"}, {"type": "session_started", "name": "a\nb"},
        {"topics": "x"}, {"topics": [1]}, {"metadata": []}, {"importance": "high"}, {"origin": "rumour"},
    ],
    ids=str,
)  # fmt: skip
def test_an_event_with_a_bad_field_is_reported_and_does_no_harm(lived, other, broken):
    line = next(one for one in map(json.loads, exported(lived).splitlines()) if one["type"] == "remembered") | broken

    report = imported(other, line, {"content": "fine"})

    assert numbers(report) == [1]
    assert [one.content for one in other.list(all_states=True).memories] == ["fine"]
    assert other.verify() == []


def test_plain_statements_are_remembered(other):
    report = imported(
        other, {"content": "one", "topics": ["a"]}, {"content": "two", "scope": "global"}, {"content": "one"}
    )

    assert (report.new, report.known, report.rejected) == (2, 1, [])
    assert {one.content: one.scope for one in other.list().memories} == {"one": "project:api", "two": "global"}


def test_a_dry_run_reports_and_stores_nothing(lived, other, tmp_path):
    lived.export_to("jsonl", tmp_path / "a.jsonl")

    report = other.import_from("jsonl", tmp_path / "a.jsonl", dry_run=True, trust=True)

    assert report.new == lived.stats().events
    assert other.stats().events == other.stats().vectors == 0
    assert lived.import_from("jsonl", tmp_path / "a.jsonl", dry_run=True, trust=True).known == report.new


def test_a_file_with_a_byte_order_mark_or_windows_lines_is_read(other, tmp_path):
    (tmp_path / "a.jsonl").write_bytes(b'\xef\xbb\xbf{"content": "one"}\r\n\r\n{"content": "two"}')
    assert other.import_from("jsonl", tmp_path / "a.jsonl", trust=True).new == 2


def test_files_that_cannot_be_used_are_refused(lived, tmp_path):
    for source in (tmp_path / "nothing.jsonl", tmp_path):
        with pytest.raises(limpet.BadInput):
            lived.import_from("jsonl", source, trust=True)
    for target in (tmp_path, tmp_path / "no" / "folder.jsonl"):
        with pytest.raises(limpet.BadInput):
            lived.export_to("jsonl", target)
    assert not list(tmp_path.glob("*.partial"))


def test_progress_ends_at_its_total(lived, other, tmp_path):
    seen = []
    lived.export_to("jsonl", tmp_path / "a.jsonl", progress=lambda done, total: seen.append((done, total)))
    assert seen[-1][0] == seen[-1][1]
    other.import_from(
        "jsonl", tmp_path / "a.jsonl", progress=lambda done, total: seen.append((done, total)), trust=True
    )
    assert seen[-1][0] == seen[-1][1]


def test_an_empty_store_exports_nothing(other):
    assert exported(other) == ""
    assert imported(other).new == 0
