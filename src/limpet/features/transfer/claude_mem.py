"""claude-mem: `claude-mem.db`, of all its schemas since observations have titles. Its vectors lie elsewhere."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ...store.foreign import Cell, ForeignFile
from .records import Record, TransferReport, kind_of, moment, text_list, time_or_note, topics
from .source import database, json_object, plain, records_of

FILE = "claude-mem.db"
# Its types that are no kinds of ours; the type stays in the metadata too.
KINDS = {"bugfix": "lesson", "feature": "episode", "refactor": "episode", "change": "episode"}
OBSERVATIONS = (
    "id", "memory_session_id", "project", "text", "type", "title", "subtitle", "facts", "narrative", "concepts",
    "files_read", "files_modified", "prompt_number", "created_at", "agent_type", "generated_by_model", "metadata",
    "merged_into_project",
)  # fmt: skip
# What a summary says, in its order.
PARTS = ("request", "investigated", "learned", "completed", "next_steps", "notes")
SUMMARIES = (
    "id", "memory_session_id", "project", *PARTS, "files_read", "files_edited", "prompt_number", "created_at",
    "merged_into_project",
)  # fmt: skip
PROMPTS = ("id", "content_session_id", "prompt_number", "prompt_text", "created_at")
# Cells that are lists in JSON.
LISTS = ("facts", "concepts", "files_read", "files_modified", "files_edited")
KEPT = ("project", "type", "prompt_number", "agent_type", "generated_by_model", "merged_into_project")
LEFT_OUT = ("tool_uses", "pending_messages")


def read(path: Path, report: TransferReport) -> Iterator[Record]:
    """`path`: the database, or the folder that holds it. Raises BadInput."""
    what, needs = "database of claude-mem", {"observations": ("id", "memory_session_id", "title", "narrative")}
    with database(path, report, what=what, rows="observations", needs=needs, inner=FILE) as file:
        for name in LEFT_OUT:
            if name in file.tables and (count := file.count(name)):
                report.note(f"rows of {name} are not memories and were left out", count)
        sessions = _sessions(file)

        def observation(row: dict[str, Cell], place: str) -> Record:
            one = _cells(row, place, report)
            body = one["narrative"] or one["text"]
            text = [one["title"], one["subtitle"], body, *(f"- {fact}" for fact in text_list(one["facts"]))]
            return _record("observation", one, place, "\n".join(part for part in text if part), sessions, report)

        def summary(row: dict[str, Cell], place: str) -> Record:
            one = _cells(row, place, report)
            said = (f"{name.replace('_', ' ').capitalize()}: {one[name]}" for name in PARTS if one[name])
            return _record("summary", one, place, "\n".join(said), sessions, report)

        def prompt(row: dict[str, Cell], place: str) -> Record:
            one = _cells(row, place, report)
            return _record("prompt", one, place, one["prompt_text"] or "", sessions, report, speaker="user")

        yield from records_of(file, "observations", OBSERVATIONS, report, observation, named="observation")
        if file.has("session_summaries", *SUMMARIES[:3]):
            yield from records_of(file, "session_summaries", SUMMARIES, report, summary, named="summary")
        if file.has("user_prompts", *PROMPTS):
            yield from records_of(file, "user_prompts", PROMPTS, report, prompt, named="prompt")


def _cells(row: dict[str, Cell], place: str, report: TransferReport) -> dict[str, Any]:
    """Texts, numbers and lists; a list that cannot be read is reported."""
    found: dict[str, Any] = {name: value for name, value in plain(row).items() if isinstance(value, str | int)}
    for name in LISTS:
        if name in found:
            try:
                found[name] = text_list(json.loads(str(found[name])))
            except (ValueError, RecursionError) as error:
                report.bad(place, f"{name} is not JSON: {error}; taken without it")
                del found[name]
    return dict.fromkeys(row) | found


def _record(
    what: str,
    one: dict[str, Any],
    place: str,
    content: str,
    sessions: dict[str, str],
    report: TransferReport,
    speaker: str | None = None,
) -> Record:
    theirs = str(one.get("memory_session_id") or one.get("content_session_id") or "")
    files = {name: one[name] for name in LISTS[2:] if one.get(name)}
    given = json_object(str(one.get("metadata") or ""), "metadata", place, report)
    return Record(
        # Its own ids are numbers that begin at 1 on each device.
        id=f"{what}/{theirs[:200]}/{one['id']}",
        place=place,
        content=content,
        kind=kind_of(one["type"], KINDS) if what == "observation" else "episode",
        topics=topics(one.get("concepts"), one.get("project") if isinstance(one.get("project"), str) else None),
        created=time_or_note(moment, one["created_at"], place, "created_at", report),
        session=sessions.get(theirs, theirs)[:200] or None,
        speaker=speaker,
        metadata=given | {name: one[name] for name in KEPT if one.get(name) is not None} | files | {"claude_mem": what},
    )


def _sessions(file: ForeignFile) -> dict[str, str]:
    """Its own session -> the session of the client that it watched."""
    if not file.has("sdk_sessions", "memory_session_id", "content_session_id"):
        return {}
    rows = file.rows("sdk_sessions", ("memory_session_id", "content_session_id"))
    return {
        own.decode("utf-8", "replace"): theirs.decode("utf-8", "replace")
        for own, theirs in rows
        if isinstance(own, bytes) and isinstance(theirs, bytes)
    }
