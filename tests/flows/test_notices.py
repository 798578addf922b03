"""What a client tells its user when a session begins: that the store cannot be used."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

import limpet
from limpet.agents.hooks.entry import handle

LIMPET = [sys.executable, "-m", "limpet"]
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


@pytest.mark.skipif(shutil.which("setpriv") is None or os.geteuid() != 0, reason="needs root, to become somebody else")
def test_a_store_that_cannot_be_written_is_said_beside_what_it_holds(path, clock, request):
    folder = Path(tempfile.mkdtemp())  # pytest's own folders let nobody else in
    request.addfinalizer(lambda: shutil.rmtree(folder))
    with limpet.open(path, scope="global", clock=clock) as memory:
        memory.remember("The port is 5433", kind="preference")
        memory.backup(str(folder / "memory.db"))
    assert "systemMessage" not in said(path, clock)
    (folder / "memory.db").chmod(0o644)
    folder.chmod(0o555)

    def by_nobody(event, **data):
        who = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
        argv = [*who, *LIMPET, "hook", "claude", event, "--store", str(folder / "memory.db"), "--scope", "global"]
        given = json.dumps({"session_id": "s1", "cwd": "/", "prompt": "Which port is it?", **data})
        done = subprocess.run(argv, input=given, capture_output=True, text=True, cwd="/", env={"HOME": "/"}, check=True)
        return json.loads(done.stdout) if done.stdout else {}

    out = by_nobody("SessionStart", source="startup")
    assert "5433" in out["hookSpecificOutput"]["additionalContext"] and "cannot write" in out["systemMessage"]
    for event, source in (("UserPromptSubmit", ""), ("SessionStart", "compact")):
        out = by_nobody(event, source=source)
        assert "5433" in out["hookSpecificOutput"]["additionalContext"] and "systemMessage" not in out
    assert by_nobody("SessionStart", source="resume") == {}
