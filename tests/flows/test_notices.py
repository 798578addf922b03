"""What a client tells its user when a session begins: that the store cannot be used."""

from __future__ import annotations

import json

import pytest

import limpet
from limpet.agents.hooks.entry import handle

MESSAGE = {"claude": "UserPromptSubmit", "gemini": "BeforeAgent"}


def said(path, clock, event="SessionStart", session="s1", client="claude", **data):
    raw = json.dumps({"session_id": session, "cwd": "/", "prompt": "Which port is it?", **data}).encode()
    out = handle([client, event, "--store", str(path), "--scope", "global"], raw, clock).decode()
    return json.loads(out) if out else {}


def test_a_damaged_store_is_said_to_the_user_when_a_session_begins(path, clock):
    path.write_bytes(b"these are my notes, not a store")
    for client in ("claude", "gemini"):
        out = said(path, clock, client=client, session=client)
        assert list(out) == ["systemMessage"]
        assert "limpet cannot use its memory" in out["systemMessage"] and str(path) in out["systemMessage"]
        assert said(path, clock, MESSAGE[client], client=client, session=client) == {}


def test_a_store_of_another_limpet_is_said(path, clock):
    limpet.open(path).close()
    import apsw

    con = apsw.Connection(str(path))
    con.execute("PRAGMA user_version = 999")
    con.close()
    assert "another version of limpet" in said(path, clock)["systemMessage"]


def test_nothing_is_said_in_the_midst_of_work_or_where_no_store_is_yet(path, clock):
    path.write_bytes(b"these are my notes, not a store")
    for event in ("PostToolUse", "Stop", "PreCompact", "SessionEnd"):
        assert said(path, clock, event, tool_name="Edit", tool_input={"file_path": "a"}) == {}
    assert said(path.with_name("none.db"), clock) == {}, "nobody is told that there is no store yet"


@pytest.mark.parametrize(
    ("client", "event", "field"),
    [
        ("codex", "SessionStart", "hookSpecificOutput"),
        ("qwen", "SessionStart", "hookSpecificOutput"),
        ("copilot", "sessionStart", "additionalContext"),
        ("cursor", "sessionStart", "additional_context"),
        ("opencode", "session.created", "additionalContext"),
        ("cline", "TaskStart", "contextModification"),
    ],
)
def test_a_client_that_shows_its_user_nothing_has_its_model_say_that_the_store_is_damaged(
    path, clock, client, event, field
):
    path.write_bytes(b"these are my notes, not a store")
    names = {"sessionId": "s", "conversation_id": "s", "sessionID": "s", "taskId": "s"}
    out = json.dumps(said(path, clock, event, client=client, **names)[field])
    assert str(path) in out and "tell the user" in out and "limpet doctor" in out


def test_a_store_in_order_says_nothing(path, clock):
    limpet.open(path).close()
    assert said(path, clock) == {}
