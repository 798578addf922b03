"""`limpet doctor` about clients: their own command lines are run with a message, on a store of samples."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from limpet.agents.hooks.client_adapters import CLIENT_ADAPTERS
from limpet.cli.main import main
from limpet.features.install import check


@pytest.fixture
def doctor(tmp_path, monkeypatch, capsys):
    """`limpet doctor` of a user with a home and a project of their own: findings about a client."""
    home, project = tmp_path / "user", tmp_path / "user" / "shop"
    (project / ".git").mkdir(parents=True)
    for name in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(name, str(home))
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "COPILOT_HOME", "XDG_CONFIG_HOME", "LIMPET_INCOGNITO"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("LIMPET_STORE", str(tmp_path / "doctor.db"))
    for name in ("GREETING_SECONDS", "PATIENCE_SECONDS"):
        monkeypatch.setattr(check, name, 60.0)  # a busy machine is no finding here
    monkeypatch.setenv("LIMPET_HOOK_SECONDS", "50")
    monkeypatch.chdir(project)

    def run(*argv):
        code = main([*argv, "--json"])
        return code, [json.loads(line) for line in capsys.readouterr().out.splitlines()]

    def about(client):
        code, (found,) = run("doctor")
        return code, {
            " ".join(one["message"].split(" ")[:4]): one for one in found["checks"] if one["name"].startswith(client)
        }

    return run, about, home


@pytest.mark.parametrize("client", sorted(CLIENT_ADAPTERS))
def test_doctor_tries_what_was_installed(doctor, client):
    run, about, home = doctor
    assert about(client) == (0, {})
    run("install", client)
    code, found = about(client)
    assert code == 0 and {one["status"] for one in found.values()} == {"ok"}
    said = " ".join(one["message"] for one in found.values())
    assert "MCP server answers after" in said and "hooks answer after" in said
    told = "message" in CLIENT_ADAPTERS[client].answers
    assert f"a sample message {'found its memory' if told else 'was noted'}" in said
    assert not (home.parent / "doctor.db").exists(), "nothing of it is in the user's store"


def test_doctor_names_what_is_missing_and_how_to_mend_it(doctor):
    run, about, home = doctor
    run("install", "claude")
    (home / ".claude" / "rules" / "limpet.md").unlink()
    (missing,) = [one for one in about("claude")[1].values() if one["status"] == "warn"]
    assert "instructions in" in missing["message"] and missing["hint"] == "limpet install claude"

    run("install", "codex")
    hooks = home / ".codex" / "hooks.json"
    hooks.write_text(hooks.read_text().replace("hook codex", "hook codex --store /nowhere/at/all >&2; exit 3 #"))
    code, found = about("codex")
    assert code == 3 and any("a hook ended with 3" in one["message"] for one in found.values())
    run("uninstall", "codex")

    servers = home / ".claude.json"
    entry = json.loads(servers.read_text())
    entry["mcpServers"]["limpet"] = {"command": "/no/such/limpet", "args": ["mcp"]}
    servers.write_text(json.dumps(entry))
    code, found = about("claude")
    assert code == 3 and any("/no/such/limpet cannot be started" in one["message"] for one in found.values())
    servers.write_text("{ not json")
    code, found = about("claude")
    assert code == 3 and any("cannot be edited" in one["message"] for one in found.values())


def test_doctor_looks_at_hooks_that_call_a_server_which_is_gone(doctor, monkeypatch):
    run, about, home = doctor
    monkeypatch.setenv("LIMPET_STORE", "doctor.db")  # a path from here is no other store
    run("install", "claude")
    for entry in ({}, {"limpet": {"type": "http", "url": "https://memory.example"}}):
        (home / ".claude.json").write_text(json.dumps({"mcpServers": entry}))
        code, found = about("claude")
        assert code == 0 and not any("works in the store" in one["message"] for one in found.values())


def test_doctor_says_why_a_server_ended(doctor):
    """A server that ends at once is not one that is late."""
    run, about, home = doctor
    run("install", "claude")
    servers = home / ".claude.json"
    entry = json.loads(servers.read_text())
    said = "import sys; sys.exit('the store is damaged')"
    entry["mcpServers"]["limpet"] = {"command": sys.executable, "args": ["-c", said]}
    servers.write_text(json.dumps(entry))
    code, found = about("claude")
    assert code == 3 and "the MCP server ended: the store is damaged" in [one["message"] for one in found.values()]
    assert any("a hook ended with 1: the store is damaged" in one["message"] for one in found.values())


def test_doctor_looks_into_the_project_too(doctor):
    run, about, _ = doctor
    run("install", "codex", "--project", ".")
    code, found = about("codex, project")
    assert code == 0 and [one["message"].partition(":")[0] for one in found.values()] == ["not tried"]
    assert set(about("codex")[1]) == set(found)


def test_doctor_runs_the_very_line_that_stands_in_the_file(doctor):
    """A line that runs, and brings nothing to the model: a client without its event, a hook that is another's."""
    run, about, home = doctor
    run("install", "claude")
    settings = home / ".claude" / "settings.json"
    good = settings.read_text()
    settings.write_text(good.replace('"tool": "hook"', '"tool": "recall"'))
    assert not any("hooks answer" in one["message"] for one in about("claude")[1].values()), "no hook of limpet's"
    settings.write_text(good)
    run("install", "codex")
    hooks = home / ".codex" / "hooks.json"
    hooks.write_text(hooks.read_text().replace("hook codex UserPromptSubmit", "hook codex Stop"))
    code, found = about("codex")
    assert code == 3 and any("its hook did not answer a message" in one["message"] for one in found.values())


@pytest.mark.skipif(sys.platform == "win32", reason="programs with a first line")
def test_doctor_starts_no_client(doctor, tmp_path, monkeypatch):
    run, _, _ = doctor
    programs = tmp_path / "bin"
    programs.mkdir()
    for client in CLIENT_ADAPTERS:
        (programs / client).write_text(f"#!/bin/sh\ntouch {tmp_path}/started\n")
        (programs / client).chmod(0o755)
    monkeypatch.setenv("PATH", str(programs), prepend=":")
    run("install", "claude")
    run("install", "codex")
    run("doctor")
    assert not (tmp_path / "started").exists()


def test_doctor_says_where_the_commands_lead_elsewhere(doctor, tmp_path):
    run, about, _ = doctor
    run("install", "gemini", "--store", str(tmp_path / "other.db"), "--scope", "team")
    code, found = about("gemini")
    said = [one["message"] for one in found.values() if one["status"] == "warn"]
    assert code == 0 and any(f"works in the store {tmp_path / 'other.db'}; here it is" in one for one in said)
    assert any("works in the scope team; here it is project:" in one for one in said)


def test_doctor_looks_at_clients_where_the_store_is_damaged(doctor, tmp_path):
    run, about, _ = doctor
    run("install", "codex")
    Path(tmp_path / "doctor.db").write_bytes(b"no store at all " * 1_000)
    code, (found,) = run("doctor")
    names = {one["name"]: one["status"] for one in found["checks"]}
    assert code == 3 and names["store"] == "fail" and "codex" in names
    assert any("hooks answer" in one["message"] for one in about("codex")[1].values())


def test_doctor_runs_nothing_of_a_project(doctor, tmp_path):
    """A repository may come from anybody, and with it files that name programs to run."""
    _, about, home = doctor
    project = home / "shop"
    mark = tmp_path / "run"
    for line in (f"touch {mark}; limpet hook codex UserPromptSubmit", f"{project}/limpet hook codex UserPromptSubmit"):
        entry = {"hooks": [{"type": "command", "command": line}]}
        (project / ".codex").mkdir(exist_ok=True)
        (project / ".codex" / "hooks.json").write_text(json.dumps({"hooks": {"UserPromptSubmit": [entry]}}))
        (project / "limpet").write_text(f"#!/bin/sh\ntouch {mark}\n")
        (project / "limpet").chmod(0o755)
        _, found = about("codex")
        assert not mark.exists() and any(one["message"].startswith("not tried") for one in found.values())
