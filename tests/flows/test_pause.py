"""Not now: paused, incognito, off in a folder, ignored; for hooks, the MCP server and the organizer."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest

import limpet
from limpet import pause
from limpet.agents.hooks.entry import handle
from limpet.agents.protocol import Service
from limpet.agents.tools import Tools
from limpet.cli.main import main
from limpet.features import organize, usefulness
from limpet.model.clock import FixedClock

ASK = "Which port does the staging database listen on?"
PORT = "The staging database listens on port 5433"
SPEAK = {
    "start": ("SessionStart", {"source": "startup"}),
    "message": ("UserPromptSubmit", {"prompt": ASK}),
    "tool": ("PostToolUse", {"tool_name": "Edit", "tool_input": {"file_path": "a.py"}}),
    "compact": ("PreCompact", {"trigger": "auto"}),
    "subagent": ("SubagentStart", {"agent_id": "a1", "agent_type": "Explore"}),
    "turn": ("Stop", {"last_assistant_message": "It is 5433."}),
    "end": ("SessionEnd", {"reason": "exit"}),
}


@pytest.fixture
def now():
    """Commands go by the clock of the machine, so do these tests: a fixed moment of it."""
    return FixedClock("2026-03-01T12:00:00Z")


@pytest.fixture
def project(tmp_path, monkeypatch):
    folder = tmp_path / "shop"
    (folder / "src").mkdir(parents=True)
    monkeypatch.chdir(folder)
    monkeypatch.delenv("CLAUDE_CODE_SESSION_ID", raising=False)
    return folder


@pytest.fixture
def memory(path, project):
    with limpet.open(path, scope="global") as opened:
        opened.remember(PORT, kind="preference")
        yield opened


@pytest.fixture
def hook(path, project):
    def call(role="message", session="s1", folder=None, **more):
        event, data = SPEAK[role]
        raw = json.dumps({"session_id": session, "cwd": str(folder or project), **data, **more}).encode()
        out = handle(["claude", event, "--store", str(path), "--scope", "global"], raw)
        return out.decode()

    return call


@pytest.fixture
def run(path, capsys):
    """A command; what it prints, as JSON."""

    def call(*argv):
        assert main(["--store", str(path), "--json", *argv]) == 0
        out = capsys.readouterr().out
        return json.loads(out) if out.strip() else None

    return call


def traces(memory):
    """What anything left in the store beside memories."""
    return (memory.journal(), list(usefulness.exposures(memory)), [one.name for one in memory.sessions()])


def nothing_happens(hook, memory, **given):
    return all(hook(role, **given) == "" for role in SPEAK) and traces(memory) == ([], [], [])


# -- the store


def test_while_paused_no_hook_shows_or_notes_anything(hook, memory, run):
    assert run("pause")["on"] is False
    assert nothing_happens(hook, memory)
    assert run("resume")["on"] is True
    assert "5433" in hook()


def test_a_pause_ends_by_itself(path, memory, run):
    run("pause", "--for", "2h")
    now = time.time_ns() // 1_000
    assert pause.look(str(path), "/", "", now + 7_000_000_000).why.startswith("limpet is paused until 20")
    assert pause.look(str(path), "/", "", now + 7_300_000_000).why == ""


def test_the_last_pause_says_until_when(path, run):
    """A person who says `pause` after `pause --for 10m` does not expect it to end in ten minutes."""
    run("pause", "--for", "10m")
    assert run("pause")["why"] == "limpet is paused"
    assert run("pause", "--for", "1d")["why"].startswith("limpet is paused until 20")
    run("pause", "--for", "2h")
    now = time.time_ns() // 1_000
    assert pause.look(str(path), "/", "", now + 7_100_000_000).why
    assert pause.look(str(path), "/", "", now + 7_300_000_000).why == ""
    assert run("resume")["on"] is True


@pytest.mark.parametrize(
    ("text", "minutes"),
    [("90", 90), ("90 min", 90), ("1h30m", 90), ("1h 30m", 90), ("1.5h", 90), ("1 hour and 30 minutes", 90), ("2 hours", 120),
     ("an hour", 60), ("1 day, 2 hrs", 1_560), ("1 Week", 10_080), ("30s", 0.5)],
)  # fmt: skip
def test_a_length_of_time_is_read_as_people_write_it(path, run, text, minutes):
    run("pause", "--for", text)
    ((begin, end),) = pause.read_pauses(str(path)).spans
    assert end - begin == minutes * 60_000_000


@pytest.mark.parametrize("wrong", ["", "2 moons", "0h", "-1h", "h", "1 month", "2h ago", "1h30", "999999w"])
def test_a_length_of_time_that_is_none_is_refused(path, wrong, capsys):
    assert main(["--store", str(path), "pause", f"--for={wrong}"]) == 2
    assert "2h" in capsys.readouterr().err and not Path(f"{path}.pause").exists()


def test_to_resume_what_is_not_paused_is_no_trouble(path, run):
    assert run("resume")["on"] is True and not Path(f"{path}.pause").exists()


def test_the_file_is_the_owners_alone_and_is_no_target(path, run, memory):
    os.umask(0)
    run("pause")
    assert Path(f"{path}.pause").stat().st_mode & 0o777 == 0o600
    assert main(["--store", str(path), "export", "jsonl", f"{path}.pause", "--force"]) == 2


# -- a session


def test_an_incognito_session_by_its_environment_leaves_nothing(hook, memory, monkeypatch):
    monkeypatch.setenv("LIMPET_INCOGNITO", "1")
    assert nothing_happens(hook, memory)
    monkeypatch.delenv("LIMPET_INCOGNITO")
    assert nothing_happens(hook, memory), "the session stays what it was"
    assert "5433" in hook(session="s2")


def test_a_session_becomes_incognito_by_a_message(hook, memory):
    told = json.loads(hook(prompt="limpet pause --session"))
    assert list(told) == ["systemMessage"] and "off for this session" in told["systemMessage"]
    assert nothing_happens(hook, memory)
    assert "5433" in hook(session="s2")


def test_neither_case_nor_space_around_the_message_matters(hook, memory):
    assert "off for this session" in json.loads(hook(prompt="  LIMPET Pause --session\n"))["systemMessage"]
    assert nothing_happens(hook, memory)


@pytest.mark.parametrize(
    "message", ["limpet pause --session, please", "limpet pause --session?", "limpet pause hangs on Windows"]
)
def test_any_other_message_is_an_ordinary_one(hook, memory, message):
    assert "off for this session" not in hook(prompt=message)
    assert [one.what for one in memory.journal()] == [message]


def test_where_no_session_is_told_it_says_so(hook, memory):
    assert "cannot tell which session" in hook(prompt="limpet pause --session", session="")
    assert "5433" in hook(prompt="Which port has limpet, by the staging database?", session="")


def test_a_session_becomes_incognito_by_a_command_in_it(hook, memory, run, monkeypatch):
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", "s1")
    assert run("pause", "--session") == {"incognito": "s1"}
    assert nothing_happens(hook, memory)
    assert run("status")["why"] == "this session is incognito"
    assert "5433" in hook(session="s2")


def test_a_command_that_cannot_tell_the_session_says_what_to_do(path, project, monkeypatch, capsys):
    monkeypatch.delenv("COPILOT_AGENT_SESSION_ID", raising=False)
    assert main(["--store", str(path), "pause", "--session"]) == 2
    assert "LIMPET_INCOGNITO=1" in capsys.readouterr().err


# -- a folder


def test_a_folder_is_off_and_what_is_below_it(hook, memory, project, run):
    assert run("pause", "--folder")["on"] is False
    assert (project / ".limpet").read_text() == "off\n"
    assert nothing_happens(hook, memory)
    assert nothing_happens(hook, memory, folder=project / "src")
    assert "5433" in hook(folder=project.parent)
    assert run("resume", "--folder")["on"] is True and not (project / ".limpet").exists()


def test_what_else_a_folders_file_says_stays(project, run, monkeypatch):
    (project / ".limpet").write_text("ignore *.pem\n")
    run("pause", "--folder")
    assert (project / ".limpet").read_text() == "off\nignore *.pem\n"
    monkeypatch.chdir(project / "src")
    run("resume", "--folder")
    assert (project / ".limpet").read_text() == "ignore *.pem\n"


def test_a_repository_below_takes_nothing_back(hook, memory, project, run, monkeypatch):
    """Its `.limpet` may say more, and not less, than those above it."""
    (project / ".limpet").write_text("ignore secret\n")
    cloned = project / "src"
    (cloned / ".limpet").write_text("ignore *.pem\n")
    monkeypatch.chdir(cloned)
    assert set(run("status")["ignore"]) == {"secret", "*.pem"}
    (project / ".limpet").write_text("off\n")
    assert nothing_happens(hook, memory, folder=cloned)
    assert str(project / ".limpet") in run("status")["why"]
    run("resume", "--folder")
    assert (cloned / ".limpet").read_text() == "ignore *.pem\n" and run("status")["on"]


# -- what is ignored


@pytest.mark.parametrize(
    ("text", "pattern", "fits"),
    [
        ("Edit: /work/shop/.env", "*.env", True),
        ("Edit: /work/shop/secret/a.py", "*/secret/*", True),
        ("Edit: a.py", "*.env", False),
        ("We met about Project Nightjar today", "project nightjar", True),
        ("cat `keys/prod.pem`, then go", "*.pem", True),
        ("the environment", "*.env", False),
        ("see /x/prod.env.", "*.env", True),
        ("is it in /x/prod.env?", "*.env", True),
        ("the file prod.env:12 is wrong", "*.env", True),
        ("ENV=keys/prod.pem!", "*.pem", True),
        ("prod.env... and then", "*.env", True),
        ("anything", "", False),
    ],
)
def test_a_pattern_fits_a_path_or_stands_in_the_text(text, pattern, fits):
    assert pause.is_ignored(text, [pattern] if pattern else []) is fits


def test_what_is_ignored_is_never_journaled(hook, memory, project, run):
    assert run("ignore", "*.env", "Project Nightjar") == {"ignore": ["*.env", "Project Nightjar"]}
    (project / ".limpet").write_text("ignore codeword\n")
    hook("tool", tool_input={"file_path": "/work/shop/.env"})
    hook("message", prompt="What about project nightjar and its budget?")
    hook("message", prompt="Say the codeword to the staging database")
    hook("turn", last_assistant_message="Project Nightjar is late.")
    assert memory.journal() == []
    hook("tool")
    assert [one.what for one in memory.journal()] == ["Edit: a.py"]
    assert run("ignore", "--remove", "*.env") == {"ignore": ["Project Nightjar"]}
    assert run("status")["ignore"] == ["Project Nightjar", "codeword"]


@pytest.mark.parametrize("line", [b"of\n", b"\xff\xfe\n"])
def test_a_line_that_means_nothing_in_a_folders_switch_is_told(path, memory, project, line, capsys):
    (project / ".limpet").write_bytes(b"# mine\nignore x\n" + line)
    assert main(["--store", str(path), "status"]) == 0
    assert "means nothing" in capsys.readouterr().err
    main(["--store", str(path), "doctor"])
    assert "means nothing" in capsys.readouterr().out
    (project / ".limpet").write_text("# mine\nignore x\noff\n")
    main(["--store", str(path), "status"])
    assert "means nothing" not in capsys.readouterr().err


def test_an_agent_stores_nothing_that_is_ignored(memory, project, run):
    run("ignore", "nightjar")
    tools = Tools(memory, lambda: None)
    stored = tools.remember([{"content": "The Nightjar project starts in May"}, {"content": "The VPN is needed"}])
    assert [one["status"] for one in stored["results"]] == ["rejected", "created"]
    assert "ignored" in stored["results"][0]["reason"]
    for call in (
        lambda: tools.fact(key="nightjar.start", value="May"),
        lambda: tools.correct(id=stored["results"][1]["id"], content="Nightjar needs the VPN"),
    ):
        with pytest.raises(limpet.BadInput, match="ignored"):
            call()
    assert not any("ightjar" in one.content for one in memory.list())


# -- the MCP server


READS = [
    ("recall", {"query": ASK}), ("prepare", {"message": ASK}), ("fact", {"key": "user.city"}),
    ("explain", {"what": "review"}), ("session", {"action": "list"}), ("session", {"action": "journal"}),
]  # fmt: skip
WRITES = [
    ("remember", {"items": [{"content": "The VPN is needed"}]}), ("feedback", {"ids": ["x"], "verdict": "useful"}),
    ("fact", {"key": "user.city", "value": "Oslo"}), ("session", {"action": "start"}),
    ("correct", {"id": "x", "action": "archive"}),
]  # fmt: skip


def turn_off(how, path, monkeypatch):
    if how == "paused":
        pause.append(str(path), [f"pause {time.time_ns() // 1_000}"])
    elif how == "incognito":
        monkeypatch.setenv("LIMPET_INCOGNITO", "1")
    elif how == "session":
        pause.append(str(path), ["incognito s1"])
    else:
        Path(".limpet").write_text("off\n")


@pytest.mark.parametrize("how", ["paused", "incognito", "session", "folder"])
def test_the_server_reads_nothing_and_stores_nothing_and_says_so(memory, path, monkeypatch, how):
    service = Service(memory)
    before = memory.count()
    turn_off(how, path, monkeypatch)
    for name, given in READS + WRITES:
        answer = service.answer("tools/call", {"name": name, "arguments": given}, "s1")
        (text,) = [one["text"] for one in answer["content"]]
        assert text.startswith("limpet is off: ") and "Nothing is read or stored" in text and answer["isError"]
        assert "5433" not in json.dumps(answer)
    page = service.answer("resources/read", {"uri": "memory://index"}, "s1")["contents"][0]["text"]
    prompt = service.answer("prompts/get", {"name": "brief", "arguments": {"task": ASK}}, "s1")
    assert "limpet is off" in page and "limpet is off" in json.dumps(prompt) and "5433" not in json.dumps(prompt)
    assert len(service.answer("tools/list", {}, "s1")["tools"]) == 8, "a client sees the same server"
    assert memory.count() == before


def test_the_server_is_on_again_without_a_restart(memory, path):
    service = Service(memory)
    pause.append(str(path), [f"pause {time.time_ns() // 1_000}"])
    asked = {"name": "recall", "arguments": {"query": ASK}}
    assert "5433" not in json.dumps(service.answer("tools/call", asked))
    pause.append(str(path), [f"resume {time.time_ns() // 1_000}"])
    assert "5433" in json.dumps(service.answer("tools/call", asked))


# -- the organizer


def transcript(folder, cwd, session="s1", said="Remember that the orders are always kept in Postgres."):
    file = folder / f"{session}.jsonl"
    row = {"type": "user", "uuid": f"u-{session}", "sessionId": session, "cwd": str(cwd),
           "timestamp": "2026-03-01T12:00:00.000Z", "message": {"role": "user", "content": said}}  # fmt: skip
    file.write_text(json.dumps(row) + "\n", encoding="utf-8")
    return file


def test_the_organizer_reads_what_nothing_forbids(memory, tmp_path, project):
    report = organize.run(memory, [transcript(tmp_path, project)])
    assert report.new == 1


def test_the_organizer_does_nothing_while_paused(memory, path, tmp_path, project):
    pause.append(str(path), [f"pause {time.time_ns() // 1_000}"])
    report = organize.run(memory, [transcript(tmp_path, project)])
    assert (report.files, report.new) == (0, 0) and "limpet is paused: nothing was read" in report.notes


def test_the_organizer_never_reads_an_incognito_session(memory, path, tmp_path, project):
    pause.append(str(path), ["incognito s1"])
    assert organize.run(memory, [transcript(tmp_path, project)]).new == 0
    assert organize.run(memory, [transcript(tmp_path, project, "s2")]).new == 1


def test_the_organizer_never_reads_what_was_said_during_a_pause(memory, path, tmp_path, project, now):
    begun = now.now() - 60_000_000
    pause.append(str(path), [f"pause {begun}", f"resume {begun + 120_000_000}"])
    assert organize.run(memory, [transcript(tmp_path, project)]).new == 0


def test_the_organizer_leaves_out_folders_that_are_off(memory, tmp_path, project):
    (project / ".limpet").write_text("off\n")
    elsewhere = tmp_path / "kept"
    elsewhere.mkdir()
    os.chdir(elsewhere)
    assert organize.run(memory, [transcript(tmp_path, project)]).new == 0


@pytest.mark.parametrize("pattern", ["postgres", "*s1.jsonl"])
def test_the_organizer_takes_nothing_that_is_ignored(memory, path, tmp_path, project, pattern):
    pause.append(str(path), [f"ignore {pattern}"])
    assert organize.run(memory, [transcript(tmp_path, project)]).new == 0


# -- what says so


def test_doctor_and_status_say_that_it_is_off(path, memory, capsys, project):
    pause.append(str(path), [f"pause {time.time_ns() // 1_000}"])
    assert main(["--store", str(path), "status"]) == 0
    assert "off: limpet is paused -> limpet resume" in capsys.readouterr().out
    main(["--store", str(path), "doctor"])
    assert "limpet is paused -> limpet resume" in " ".join(capsys.readouterr().out.split())


def test_a_file_that_nobody_understands_is_passed_over(path, memory, hook):
    Path(f"{path}.pause").write_bytes(b"pause\npause x y\nresume\n\xff\xfe\nincognito\nunignore z\nwhat is this\n")
    assert "5433" in hook()


def test_a_link_in_the_files_place_is_not_followed(path, tmp_path, memory):
    target = tmp_path / "other"
    target.write_text("mine")
    Path(f"{path}.pause").symlink_to(target)
    with pytest.raises(limpet.StoreError):
        pause.append(str(path), ["pause 1"])
    assert target.read_text() == "mine"
