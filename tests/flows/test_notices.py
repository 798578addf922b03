"""What a client tells its user about the store: that it is not there, or cannot be used; once a session."""

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
from limpet.agents.hooks.client_adapters import SHOWS_NOTICES, parse_event, shape
from limpet.agents.hooks.entry import handle
from limpet.agents.hooks.notices import MOST_BYTES, read_only

LIMPET = [sys.executable, "-m", "limpet"]
MESSAGE = {"claude": "UserPromptSubmit", "gemini": "BeforeAgent", "codex": "UserPromptSubmit"}


def said(path, clock, event="SessionStart", session="s1", client="claude", **data):
    raw = json.dumps({"session_id": session, "cwd": "/", "prompt": "Which port is it?", **data}).encode()
    out = handle([client, event, "--store", str(path), "--scope", "global"], raw, clock).decode()
    return json.loads(out) if out else {}


def test_a_damaged_store_is_said_to_the_user_once_a_session(path, clock):
    path.write_bytes(b"these are my notes, not a store")
    for client in ("claude", "gemini"):
        out = said(path, clock, client=client, session=client)
        assert list(out) == ["systemMessage"]
        assert "limpet cannot use its memory" in out["systemMessage"] and str(path) in out["systemMessage"]
        assert said(path, clock, MESSAGE[client], client=client, session=client) == {}
        assert said(path, clock, client=client, session=client + " the next")


def test_what_is_damaged_in_the_midst_of_a_session_is_said_at_the_next_message(path, clock):
    with limpet.open(path, scope="global", clock=clock) as memory:
        memory.remember("The port is 5433")
    assert "systemMessage" not in said(path, clock)
    for file in path.parent.glob("memory.db*"):
        file.unlink()
    path.write_bytes(b"SQLite format 3\0" + b"garbage" * 2_000)
    assert "damaged" in said(path, clock, "UserPromptSubmit")["systemMessage"]
    assert said(path, clock, "UserPromptSubmit") == {}


def test_a_store_of_another_limpet_is_said(path, clock):
    limpet.open(path).close()
    import apsw

    con = apsw.Connection(str(path))
    con.execute("PRAGMA user_version = 999")
    con.close()
    assert "another version of limpet" in said(path, clock)["systemMessage"]


def test_a_missing_store_is_said_to_the_user_once_a_session(path, clock):
    out = said(path, clock)
    assert str(path) in out["systemMessage"] and "no memory" in out["systemMessage"]
    assert said(path, clock, "UserPromptSubmit") == {} and said(path, clock, "UserPromptSubmit") == {}
    assert not path.exists()


def test_a_folder_that_is_not_there_is_said_at_the_beginning_alone(path, clock):
    gone = path.parent / "unmounted" / "memory.db"
    assert "no memory" in said(gone, clock)["systemMessage"]
    assert said(gone, clock, "UserPromptSubmit") == {}
    assert not gone.parent.exists()


def test_nothing_is_said_in_the_midst_of_work_or_by_clients_without_a_way_to(path, clock):
    path.write_bytes(b"these are my notes, not a store")
    for event in ("PostToolUse", "Stop", "PreCompact", "SessionEnd"):
        assert said(path, clock, event, tool_name="Edit", tool_input={"file_path": "a"}) == {}
    assert said(path.with_name("none.db"), clock, client="codex") == {}, (
        "a model is not told that there is no store yet"
    )


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
    assert said(path, clock, event, client=client, **names) == {}, "once a session"


def test_a_store_in_order_says_nothing(path, clock):
    limpet.open(path).close()
    assert said(path, clock) == {} and not path.with_name("memory.db.told").exists()


def test_the_list_of_who_was_told_does_not_grow_for_ever(path, clock):
    path.with_name("memory.db.told").write_text("x\n" * MOST_BYTES)
    assert said(path, clock)
    assert path.with_name("memory.db.told").stat().st_size < 10


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


def test_what_the_user_is_told_stands_beside_what_the_model_gets_and_never_tells_a_password():
    told = read_only("postgresql://ana:s3cret@host/name?tenant=a&replica=yes")
    assert "s3cret" not in told and "host/name" in told
    for client, event in (("claude", "SessionStart"), ("gemini", "SessionStart"), ("codex", "SessionStart")):
        call = parse_event(client, event, {"session_id": "s1"})
        both, alone = shape(call, "a memory", told), shape(call, "", told)
        assert "a memory" in both
        assert (told in both, alone != "") == (client in SHOWS_NOTICES, client in SHOWS_NOTICES)
