"""What each client's own way of keeping a conversation holds, and where it keeps it."""

from __future__ import annotations

import hashlib
import json

import limpet
from limpet.features import organize
from tests import transcripts
from tests.transcripts import CORRECTION, DECISION, STEPS

RULE = "We use Perl, not Raku."


def taken(memory, path, **given):
    return sorted(one["content"] for one in organize.run(memory, [path], **given).taken)


def gemini(tmp_path, rows, name="session-1.jsonl"):
    head = {"sessionId": "7d1c2b3a", "projectHash": "3f1e", "kind": "main"}
    (tmp_path / name).write_text(transcripts.lines([head, *rows]))
    return tmp_path / name


def test_gemini_s_rows_count_without_ids_and_in_the_form_of_its_model(memory, tmp_path):
    rows = [
        {"type": "user", "content": RULE},
        {"role": "user", "parts": [{"text": "Our CI runs on GitLab."}]},
        {"type": "info", "content": "Our update is ready to be installed."},
    ]
    assert taken(memory, gemini(tmp_path, rows)) == ["Our CI runs on GitLab.", RULE]


def test_gemini_s_typed_words_count_and_not_the_files_they_name(memory, tmp_path):
    pasted = "look at @notes.md\nWe always paste the whole file here."
    rows = [
        {"id": "1", "type": "user", "content": [{"text": pasted}], "displayContent": [{"text": "look at @notes.md"}]},
        {
            "id": "2",
            "type": "user",
            "content": [{"text": f"<hook_context>Our store runs on Mars.</hook_context>\n{RULE}"}],
        },
        {
            "$set": {
                "messages": [{"id": "3", "type": "user", "content": "<state_snapshot>We use Ada.</state_snapshot>"}]
            }
        },
    ]
    assert taken(memory, gemini(tmp_path, rows)) == [RULE]


def test_gemini_s_rewind_to_what_is_not_there_takes_all_back(memory, tmp_path):
    rows = [
        {"id": "1", "type": "user", "content": RULE},
        {"$rewindTo": "gone"},
        {"id": "2", "type": "user", "content": "Our CI runs on GitLab."},
    ]
    assert taken(memory, gemini(tmp_path, rows)) == ["Our CI runs on GitLab."]


def test_what_gemini_was_shown_in_its_escaped_form_is_an_echo(memory, tmp_path):
    shown = (
        "&lt;limpet-memory&gt;\n- We decided on Postgres because a sequence must never skip.\n&lt;/limpet-memory&gt;"
    )
    rows = [
        {"id": "1", "type": "user", "content": f"<hook_context>{shown}</hook_context>\nwhich database?"},
        {"id": "2", "type": "gemini", "content": "We decided on Postgres because a sequence must never skip."},
    ]
    assert taken(memory, gemini(tmp_path, rows)) == []


def test_a_gemini_conversation_goes_to_the_project_that_its_client_knows(path, tmp_path, monkeypatch):
    """By its short name, and by the digest that older versions name the folder after."""
    monkeypatch.setenv("GEMINI_CLI_HOME", str(tmp_path))
    projects = {}
    for name in ("shop", "api"):
        (tmp_path / name / ".git").mkdir(parents=True)
        projects[str(tmp_path / name)] = name
    (tmp_path / ".gemini").mkdir()
    (tmp_path / ".gemini" / "projects.json").write_text(json.dumps({"projects": projects}))
    digest = hashlib.sha256(str(tmp_path / "api").encode()).hexdigest()
    for folder, said in (("shop", RULE), (digest, "Our CI runs on GitLab.")):
        chats = tmp_path / ".gemini" / "tmp" / folder / "chats"
        chats.mkdir(parents=True)
        gemini(chats, [{"id": "1", "type": "user", "content": said}])
    with limpet.open(path, scope="project:other") as memory:
        report = organize.run(memory, clients=["gemini"], by_folder=True)
    assert {one["scope"]: one["content"] for one in report.taken} == {
        "project:shop": RULE,
        "project:api": "Our CI runs on GitLab.",
    }


def test_a_codex_log_of_events_alone_is_a_conversation(memory, tmp_path):
    item = {"type": "UserMessage", "id": "u1", "content": [{"type": "text", "text": RULE}]}
    rows = [
        {"timestamp": "2026-02-20T09:00:00Z", "type": "session_meta", "payload": {"id": "s"}},
        {"timestamp": "2026-02-20T09:00:01Z", "type": "event_msg", "payload": {"type": "item_completed", "item": item}},
        {
            "timestamp": "2026-02-20T09:00:02Z",
            "type": "event_msg",
            "payload": {"type": "agent_message", "message": DECISION},
        },
    ]
    (tmp_path / "rollout-1.jsonl").write_text(transcripts.lines(rows))
    assert taken(memory, tmp_path / "rollout-1.jsonl") == [DECISION, RULE]


def test_opencode_is_found_where_its_data_was_moved_to(memory, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    (tmp_path / "data" / "opencode").mkdir(parents=True)
    transcripts.opencode(tmp_path / "data" / "opencode" / "opencode.db", STEPS)
    report = organize.run(memory, clients=["opencode"])
    assert CORRECTION in {one["content"] for one in report.taken}
