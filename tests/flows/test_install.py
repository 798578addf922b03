"""`limpet install` on the command line: other people's files, what is shown, what is refused, what comes back."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import stat
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import limpet
from limpet.agents.hooks.client_adapters import CLIENT_ADAPTERS
from limpet.agents.install import check
from limpet.agents.install.clients import Place
from limpet.cli.main import main

SETTINGS = """\
{
    // my settings
    "model": "opus",
    "hooks": {
        "PostToolUse": [
            {"matcher": "Edit", "hooks": [{"type": "command", "command": "prettier"}]}, // format
        ],
    },
}
"""


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A home of its own, and no client's variables."""
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "COPILOT_HOME", "XDG_CONFIG_HOME", "LIMPET_STORE", "LIMPET_SCOPE"):
        monkeypatch.delenv(name, raising=False)
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("USERPROFILE", str(folder))
    return folder


@pytest.fixture
def run(home, capsys):
    def call(*argv):
        code = main(list(argv))
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return call


def put(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def files(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_limpet_comes_beside_what_is_there_and_leaves_no_trace(home, run):
    settings = put(home / ".claude" / "settings.json", SETTINGS)
    settings.chmod(0o600)
    before = files(home)

    code, out, _ = run("install", "claude")

    assert code == 0 and str(settings) in out
    text = settings.read_text()
    assert text.startswith('{\n    // my settings\n    "model": "opus",\n') and "// format\n" in text
    assert '{"matcher": "Edit", "hooks": [{"type": "command", "command": "prettier"}]}' in text
    assert text.count("hook claude PostToolUse") == 2, "PostToolUse and PostToolUseFailure"
    assert stat.S_IMODE(settings.stat().st_mode) == 0o600
    backup = settings.with_name("settings.json.before-limpet")
    assert backup.read_text() == SETTINGS and stat.S_IMODE(backup.stat().st_mode) == 0o600
    once = files(home)
    assert run("install", "claude")[0] == 0 and files(home) == once
    assert run("uninstall", "claude")[0] == 0 and files(home) == before
    assert run("uninstall", "claude")[0] == 0 and files(home) == before


def test_a_later_version_of_the_entries_takes_the_place_of_the_earlier(home, run):
    """Installed with other options: one entry each, and the backup is still what was there before limpet."""
    settings = put(home / ".claude" / "settings.json", SETTINGS)
    run("install", "claude")
    run("install", "claude", "--store", "/data/other memory.db", "--scope", "team")
    text = settings.read_text()
    assert text.count("hook claude Stop") == 1
    command = shlex.split(json.loads((home / ".claude.json").read_text())["mcpServers"]["limpet"]["command"])
    assert command and "'/data/other memory.db' --scope team" in text
    run("uninstall", "claude")
    assert settings.read_text() == SETTINGS


@pytest.mark.parametrize("client", sorted(CLIENT_ADAPTERS))
def test_every_client_gets_server_and_hooks_that_run(home, run, client):
    code, out, err = run("install", client, "--json")
    assert (code, err) == (0, "")
    made = [Path(one["path"]) for one in json.loads(out)["changes"]]
    everything = "\n".join(path.read_text() for path in made)
    events = [
        event
        for event in CLIENT_ADAPTERS[client].events
        if f"hook {client} {event}" in everything or client == "opencode"
    ]
    assert len(events) >= len(CLIENT_ADAPTERS[client].events) - 4
    for event in ("message", "tool"):
        assert event in {CLIENT_ADAPTERS[client].events[name] for name in events}
    assert '"mcp"' in everything
    for path in made:
        if path.suffix == ".json":
            json.loads(path.read_text())
        if path.suffix == ".toml":
            assert tomllib.loads(path.read_text())["mcp_servers"]["limpet"]["args"] == ["mcp"]


def test_the_command_in_the_settings_is_one_that_answers(home, run, tmp_path):
    store = str(tmp_path / "a store's.db")
    run("--store", store, "--scope", "project:shop", "remember", "The staging database listens on port 5433")
    run("install", "claude", "--store", store, "--scope", "project:shop")
    settings = json.loads((home / ".claude" / "settings.json").read_text())
    command = settings["hooks"]["UserPromptSubmit"][0]["hooks"][0]["command"]
    raw = json.dumps({"session_id": "s", "prompt": "staging database port?"})
    done = subprocess.run(["sh", "-c", command], input=raw, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0 and "5433" in json.loads(done.stdout)["hookSpecificOutput"]["additionalContext"]


@pytest.mark.parametrize("text", ["{", '{"hooks": []}', "\xff", "[1]", '{"hooks": {"Stop": {}}}'])
def test_a_file_that_cannot_be_read_stops_everything(home, run, text):
    settings = home / ".claude" / "settings.json"
    settings.parent.mkdir()
    settings.write_bytes(text.encode("latin-1"))
    before = files(home)
    code, out, err = run("install", "claude")
    assert code == 2 and out == "" and str(settings) in err and "nothing was changed" in err
    assert files(home) == before
    assert run("install", "claude", "--json")[0] == 2


def test_a_dry_run_and_a_look_change_nothing(home, run):
    settings = put(home / ".claude" / "settings.json", SETTINGS)
    code, out, _ = run("install", "claude", "--dry-run")
    assert code == 0 and f"--- {settings}" in out and "+++ " in out and "hook claude Stop" in out
    code, out, _ = run("install", "claude", "--show", "--json")
    assert [json.loads(line)["installed"] for line in out.splitlines()] == [False, False, False]
    assert files(home) == {".claude/settings.json": SETTINGS.encode()}
    run("install", "claude")
    assert "yes" in run("install", "claude", "--show")[1]


def test_all_means_the_clients_that_are_here(home, run):
    code, out, err = run("install", "--all")
    assert code == 0 and "no client" in err and files(home) == {}
    (home / ".codex").mkdir()
    (home / ".gemini").mkdir()
    code, out, _ = run("install", "--all", "--json")
    assert [json.loads(line)["client"] for line in out.splitlines()] == ["codex", "gemini"]
    assert run("uninstall", "--all")[0] == 0 and files(home) == {}


def test_a_project_has_its_own_files(home, run, tmp_path):
    project = tmp_path / "shop"
    project.mkdir()
    put(project / "AGENTS.md", "# Rules\n")
    for client in CLIENT_ADAPTERS:
        assert run("install", client, "--project", str(project))[0] == 0
    assert files(home) == {}
    assert {".mcp.json", ".claude/settings.json", ".clinerules/hooks/TaskStart", ".github/hooks/limpet.json"} <= set(
        files(project)
    )
    assert os.access(project / ".clinerules" / "hooks" / "TaskStart", os.X_OK)
    for client in CLIENT_ADAPTERS:
        assert run("uninstall", client, "--project", str(project))[0] == 0
    assert files(project) == {"AGENTS.md": b"# Rules\n"}
    assert run("install", "claude", "--project", str(tmp_path / "nowhere"))[0] == 2


def test_somebody_elses_script_is_left_alone(home, run, tmp_path):
    script = put(tmp_path / "shop" / ".clinerules" / "hooks" / "TaskStart", "#!/bin/sh\necho mine\n")
    code, _, err = run("install", "cline", "--project", str(tmp_path / "shop"))
    assert code == 2 and "not limpet's" in err
    assert list(files(tmp_path / "shop")) == [".clinerules/hooks/TaskStart"] and "mine" in script.read_text()


def test_a_link_stays_a_link(home, run, tmp_path):
    """Dotfiles are often links into a repository: the file there is edited, the link stays."""
    real = put(tmp_path / "dotfiles" / "settings.json", SETTINGS)
    (home / ".claude").mkdir()
    link = home / ".claude" / "settings.json"
    link.symlink_to(real)
    run("install", "claude")
    assert link.is_symlink() and "hook claude Stop" in real.read_text()
    run("uninstall", "claude")
    assert link.is_symlink() and real.read_text() == SETTINGS


def test_what_cannot_be_done_whole_is_taken_back(home, run, tmp_path):
    """The last of Codex's files leads into a folder that is a file."""
    put(home / ".codex" / "config.toml", 'model = "x"\n')
    (home / ".codex" / "AGENTS.md").symlink_to(put(tmp_path / "file", "x").parent / "file" / "AGENTS.md")
    before = files(home)
    code, _, err = run("install", "codex")
    assert code == 3 and "AGENTS.md" in err
    assert files(home) == before


def test_a_file_that_cannot_be_written_is_an_error_with_a_message(home, run, tmp_path):
    put(tmp_path / "file", "x")
    (home / ".claude").symlink_to(tmp_path / "file")
    code, _, err = run("install", "claude")
    assert code in (2, 3) and "Traceback" not in err and ".claude" in err


def test_a_key_added_meanwhile_survives(home, run):
    settings = put(home / ".claude" / "settings.json", SETTINGS)
    run("install", "claude")
    settings.write_text(settings.read_text().replace('"opus",', '"opus",\n    "theme": "dark",'))
    run("uninstall", "claude")
    assert settings.read_text() == SETTINGS.replace('"opus",', '"opus",\n    "theme": "dark",')


def test_hooks_moved_into_anothers_group_are_taken_out_of_it(home, run):
    mixed = {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "say done"},
                                           {"type": "command", "command": "/x/limpet --store a hook claude Stop"}]}]}}  # fmt: skip
    settings = put(home / ".claude" / "settings.json", json.dumps(mixed))
    run("uninstall", "claude")
    assert json.loads(settings.read_text()) == {
        "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "say done"}]}]}
    }


def test_a_plugin_for_claude_code_from_the_same_source(home, run, tmp_path):
    folder = tmp_path / "plugin"
    assert run("install", "claude", "--plugin", str(folder))[0] == 0
    made = files(folder)
    market = json.loads(made[".claude-plugin/marketplace.json"])
    root = Path(market["plugins"][0]["source"])
    manifest = json.loads(made[str(root / ".claude-plugin" / "plugin.json")])
    assert (
        manifest["name"] == market["plugins"][0]["name"] == "limpet"
        and manifest["version"] == market["plugins"][0]["version"]
    )
    hooks = json.loads(made[str(root / "hooks" / "hooks.json")])["hooks"]
    assert set(hooks) == set(CLIENT_ADAPTERS["claude"].events)
    assert hooks["Stop"][0]["hooks"][0]["command"] == "limpet hook claude Stop"
    assert json.loads(made[str(root / ".mcp.json")])["mcpServers"]["limpet"]["command"] == "limpet"
    assert made[str(root / "skills" / "memory" / "SKILL.md")].startswith(b"---\nname: memory\n")
    assert files(home) == {}
    assert run("install", "claude", "--plugin", str(folder))[0] == 0 and files(folder) == made
    assert run("install", "codex", "--plugin", str(folder))[0] == 2


@pytest.mark.parametrize("argv", [("install",), ("install", "emacs"), ("install", "claude", "--all"), ("uninstall",)])
def test_wrong_words_get_a_message(run, home, argv):
    code, _, err = run(*argv)
    assert code == 2 and err and files(home) == {}


def test_commands_on_windows_survive_every_shell(home):
    place = Place(home, None, (r"C:\Program Files\Py\limpet.exe",), ("--scope", "a"), windows=True)
    assert place.hook("claude", "Stop") == '"C:/Program Files/Py/limpet.exe" hook claude Stop --scope a'


@pytest.mark.skipif(sys.platform == "win32", reason="no fork in the shell")
def test_the_plugin_for_opencode_is_whole(home, run):
    run("install", "opencode", "--store", "/data/m.db")
    text = (home / ".config" / "opencode" / "plugin" / "limpet.js").read_text()
    assert "/* run */" not in text and 'const OPTIONS = ["--store", "/data/m.db"]' in text
    for event in CLIENT_ADAPTERS["opencode"].events:
        assert f'"{event}"' in text


@pytest.mark.skipif(shutil.which("node") is None, reason="needs Node")
def test_opencodes_plugin_hands_over_what_is_found(home, run, tmp_path):
    """The plugin as OpenCode calls it: a message, then the system prompt of the next request, a tool, a compaction."""
    store = str(tmp_path / "memory.db")
    options = ("--store", store, "--scope", "project:shop")
    run(*options, "remember", "The staging database listens on port 5433")
    run(*options, "remember", "Ship the billing page", "--kind", "goal")
    run("install", "opencode", *options)
    script = put(tmp_path / "drive.mjs", f"""
import {{ Limpet }} from {json.dumps(str(put(tmp_path / "limpet.mjs", (home / ".config/opencode/plugin/limpet.js").read_text())))}
const plugin = await Limpet({{ directory: {json.dumps(str(tmp_path))} }})
await plugin.event({{ event: {{ type: "session.created", properties: {{ info: {{ id: "s1" }} }} }} }})
await plugin["chat.message"]({{ sessionID: "s1" }}, {{ parts: [{{ type: "text", text: "Which port has the staging database?" }}] }})
const output = {{ system: ["base"] }}
await plugin["experimental.chat.system.transform"]({{ sessionID: "s1" }}, output)
await plugin["tool.execute.after"]({{ sessionID: "s1", tool: "bash", args: {{ command: "make test" }} }}, {{}})
const kept = {{ context: [] }}
await plugin["experimental.session.compacting"]({{ sessionID: "s1" }}, kept)
console.log(JSON.stringify([output.system, kept.context]))
""")  # fmt: skip
    done = subprocess.run(["node", str(script)], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    (base, start, message), (kept,) = json.loads(done.stdout)
    assert base == "base" and "Ship the billing page" in start and "5433" in message and "Ship the billing page" in kept
    with limpet.open(store, scope="project:shop") as memory:
        assert {one.what for one in memory.actions()} == {"Which port has the staging database?", "bash: make test"}


# -- doctor


@pytest.fixture
def doctor(tmp_path, monkeypatch, capsys):
    """`limpet doctor` of a user with a home and a project of their own: findings about a client."""
    home, project = tmp_path / "user", tmp_path / "user" / "shop"
    (project / ".git").mkdir(parents=True)
    for name in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(name, str(home))
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "COPILOT_HOME", "XDG_CONFIG_HOME", "LIMPET_HOOKS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("LIMPET_STORE", str(tmp_path / "doctor.db"))
    for name in ("GREETING_SECONDS", "SLOW_SECONDS", "PATIENCE_SECONDS"):
        monkeypatch.setattr(check, name, 60.0)  # a busy machine is no finding here
    monkeypatch.chdir(project)

    def run(*argv):
        code = main([*argv, "--json"])
        return code, [json.loads(line) for line in capsys.readouterr().out.splitlines()]

    def about(client):
        code, (found,) = run("doctor")
        return code, {
            one["message"].split(" ")[0] + " " + one["status"]: one
            for one in found["checks"]
            if one["name"].startswith(client)
        }

    return run, about, home


@pytest.mark.parametrize("client", ["claude", "codex", "opencode", "cline"])
def test_doctor_tries_what_was_installed(doctor, client):
    run, about, _ = doctor
    assert about(client) == (0, {})
    run("install", client)
    code, found = about(client)
    assert code == 0 and {one["status"] for one in found.values()} == {"ok"}
    said = " ".join(one["message"] for one in found.values())
    assert "MCP server answers after" in said and "hooks answer after" in said


def test_doctor_names_what_is_missing_and_how_to_mend_it(doctor):
    run, about, home = doctor
    run("install", "claude")
    (home / ".claude" / "rules" / "limpet.md").unlink()
    (missing,) = [one for one in about("claude")[1].values() if one["status"] == "warn"]
    assert "instructions in" in missing["message"] and missing["hint"] == "limpet install claude"

    settings = home / ".claude" / "settings.json"
    good = settings.read_text()
    settings.write_text(good.replace("hook claude", "hook claude --store /nowhere/at/all >&2; exit 3 #"))
    code, found = about("claude")
    assert code == 3 and any("a hook ended with 3" in one["message"] for one in found.values())
    settings.write_text(good)

    servers = home / ".claude.json"
    entry = json.loads(servers.read_text())
    entry["mcpServers"]["limpet"] = {"command": "/no/such/limpet", "args": ["mcp"]}
    servers.write_text(json.dumps(entry))
    code, found = about("claude")
    assert code == 3 and any("/no/such/limpet cannot be started" in one["message"] for one in found.values())
    servers.write_text("{ not json")
    code, found = about("claude")
    assert code == 3 and any("cannot be edited" in one["message"] for one in found.values())


def test_doctor_looks_into_the_project_too(doctor):
    run, about, _ = doctor
    run("install", "codex", "--project", ".")
    code, found = about("codex, project")
    assert code == 0 and len(found) == 2
    assert set(about("codex")[1]) == set(found)
