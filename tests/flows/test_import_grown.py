"""Importing plain statements from a file that was mended or has grown since, and in their order."""

from __future__ import annotations

import json

import pytest


def file_of(folder, lines):
    path = folder / "lines.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in lines))
    return path


def test_lines_of_a_file_keep_their_order(memory, tmp_path):
    lines = [{"content": f"Step number {n} of the plan is done by machine {n}"} for n in range(12)]
    memory.import_from("jsonl", file_of(tmp_path, lines))
    assert [one.content for one in memory.list(limit=12).memories] == [one["content"] for one in reversed(lines)]


def said(words, speaker="ana", **more):
    return {"content": words, "kind": "episode", "speaker": speaker, "session": "s1", **more}


@pytest.mark.parametrize("gone", [(0,), (1,), (0, 1)])
@pytest.mark.parametrize("end", ["retract", "purge"])
@pytest.mark.parametrize("between", [0, 1_200])
def test_a_turn_that_is_said_once_more_is_new_though_one_like_it_is_gone(memory, tmp_path, gone, end, between):
    once, done = said("please deploy it now"), said("done", "agent")
    lines = [once, done, *(said(f"Shelf {n} holds part {n * 7}") for n in range(between)), once]
    memory.import_from("jsonl", file_of(tmp_path, lines))
    ids = [one.id for one in memory.list(limit=between + 9).memories if one.content == once["content"]]
    for place in gone:
        memory.retract(ids[place], "no") if end == "retract" else memory.purge(ids[place], confirm=True)
    for grown in ([], [once], [done, once, once]):
        lines += grown
        file = file_of(tmp_path, lines)
        tried, report = memory.import_from("jsonl", file, dry_run=True), memory.import_from("jsonl", file)
        assert (tried.new, tried.known) == (report.new, report.known) == (len(grown), len(lines) - len(grown))
    there = [one for one in memory.list(limit=between + 9).memories if one.content == once["content"]]
    assert len(there) == 5 - len(gone)


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ({"content": "Berlin", "key": "office.city", "valid_from": "2020-01-01"}, {"valid_from": "2021-05-01"}),
        ({"content": "Berlin", "key": "office.city", "valid_from": "2020-01-01"}, {"valid_from": None}),
        ({"content": "-v", "key": "run.flag"}, {"content": "-V"}),
    ],
    ids=["time", "no time", "value"],
)
def test_a_line_that_was_mended_is_new_though_the_wrong_one_was_retracted(memory, tmp_path, wrong, right):
    memory.import_from("jsonl", file_of(tmp_path, [wrong]))
    memory.retract(memory.list().memories[0].id, "wrong")
    mended = {name: value for name, value in (wrong | right).items() if value is not None}
    file = file_of(tmp_path, [wrong, mended])
    for new in (1, 0):
        report = memory.import_from("jsonl", file)
        assert (report.new, report.known) == (new, 2 - new)
    assert memory.fact(wrong["key"]).value == mended["content"]
