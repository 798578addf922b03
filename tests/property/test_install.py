"""The installer's promise: what is not limpet's stays as it is, to the byte, in and out again.

Settings are generated with foreign content in foreign formatting: comments, odd indentation, trailing commas, other tools'
hooks, unknown keys, Windows line ends.
"""

from __future__ import annotations

import contextlib
import json
import tempfile
import tomllib
from pathlib import Path

import pytest
from hypothesis import assume, event, given
from hypothesis import strategies as st

from limpet.features.install import change, jsonc, toml
from limpet.features.install.clients import CLIENTS, Place, is_granted, parts
from limpet.features.install.entries import is_ours
from limpet.model.errors import BadInput

NAMES = st.sampled_from(["model", "theme", "permissions", "env", "ü €", 'quo"te', "", "mcp", "servers", "nested.name"])
SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(-(10**6), 10**6), st.floats(allow_nan=False, allow_infinity=False, width=32),
    st.text(st.characters(blacklist_categories=("Cs", "Cc")), max_size=12),
)  # fmt: skip
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3), max_leaves=6
)
FOREIGN_HOOK = st.sampled_from(
    [
        {"matcher": "Bash", "hooks": [{"type": "command", "command": "prettier --write"}]},
        {
            "hooks": [
                {"type": "command", "command": "/opt/notlimpet hook x y"},
                {"type": "command", "command": "limpets"},
            ]
        },
        {"command": "other-tool hook", "timeout": 3},
        "a string where none should be",
    ]
)
EVENTS = st.sampled_from(["UserPromptSubmit", "SessionStart", "sessionStart", "PostToolUse", "SomethingElse"])


@st.composite
def settings_objects(draw):
    """A settings file's value, often with other tools' servers and hooks."""
    found = draw(st.dictionaries(NAMES, VALUES, max_size=4))
    if draw(st.booleans()):
        found["mcpServers"] = draw(st.dictionaries(NAMES, VALUES, max_size=2))
    if draw(st.booleans()):
        found["hooks"] = draw(st.dictionaries(EVENTS, st.lists(FOREIGN_HOOK, max_size=3), max_size=3))
    if draw(st.booleans()):
        found["version"] = 1
    order = draw(st.permutations(list(found)))
    return {name: found[name] for name in order}


SPACE = st.sampled_from(
    ["", "", " ", "  ", "\n", "\n  ", "\n\t", "\r\n    ", " // note\n", '\n// a, "b": {\n  ', "/* c\n , */", "\t"]
)


@st.composite
def written(draw, value):
    """A value as JSONC in any layout that a person might leave behind."""
    if not isinstance(value, dict | list) or draw(st.integers(0, 3)) == 0:
        return json.dumps(value, ensure_ascii=draw(st.booleans()), indent=draw(st.sampled_from([None, 2, 4, "\t"])))
    pieces = []
    for one in value.items() if isinstance(value, dict) else value:
        before, after = draw(SPACE), draw(SPACE)
        if isinstance(value, dict):
            name, inner = one
            pieces.append(f"{before}{json.dumps(name)}{draw(SPACE)}:{draw(SPACE)}{draw(written(inner))}{after}")
        else:
            pieces.append(f"{before}{draw(written(one))}{after}")
    trailing = "," + draw(SPACE) if pieces and draw(st.booleans()) else draw(SPACE)
    begin, end = "{}" if isinstance(value, dict) else "[]"
    return begin + ",".join(pieces) + trailing + end


@st.composite
def json_files(draw):
    value = draw(settings_objects())
    text = draw(SPACE) + draw(written(value)) + draw(st.sampled_from(["", "\n", "\r\n", "\n\n// the end\n"]))
    return draw(st.sampled_from(["", "", "", "\ufeff"])) + text


TOML_KEYS = st.sampled_from(["model", "approval_policy", "notify", "name-x"])


@st.composite
def toml_files(draw):
    """Codex's settings: top-level keys, tables, other servers, comments."""
    lines = []
    for name in draw(st.lists(TOML_KEYS, unique=True, max_size=3)):
        shown = draw(
            st.sampled_from(['"gpt-5"', "true", "12", '["a", "b"] # why', "{ x = 1, y = [2,3] }", "2026-01-01"])
        )
        lines.append(f"{name} = {shown}")
    tables = ["# a comment alone", '[tui]\ntheme = "dark"   # dim', '[mcp_servers.other]\ncommand = "x"\nargs = ["a"]\n\n[mcp_servers.other.env]\nA = "b"',
              '[[steps]]\nn = 1\n[[steps]]\nn = 2', '[projects."/home/me/a.b"]\ntrust_level = "trusted"', '[mcp_servers]', ""]  # fmt: skip
    lines += draw(st.lists(st.sampled_from(tables), unique=True, max_size=5))
    text = "\n".join(lines) + draw(st.sampled_from(["", "\n", "\n\n", "\n# end"]))
    if draw(st.booleans()):
        text = text.replace("\n", "\r\n")
    with contextlib.suppress(tomllib.TOMLDecodeError):
        tomllib.loads(text)
        return text
    assume(False)
    return ""


MARKDOWN = st.one_of(
    st.just(""), st.text(max_size=80).filter(lambda text: "limpet: " not in text),
    st.sampled_from(["# Rules\n\n- be kind\n", "no line end", "windows\r\n\r\n- x\r\n", "\n\n\n", "\ufeff# x\n"]),
)  # fmt: skip


@contextlib.contextmanager
def home_of(client, data, folder_files):
    """A home in which the client's files hold what was generated. Yields (parts, {path: bytes})."""
    with tempfile.TemporaryDirectory() as name:
        place = Place(Path(name), None, ("/opt/lim pet/bin/limpet",))
        every = parts(client, place)
        before = {}
        for path in dict.fromkeys(part.path for part in every if not isinstance(part, change.OwnFile)):
            if data.draw(st.integers(0, 4), label="there?") == 0:
                continue
            text = data.draw(folder_files(path), label=path.name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(before.setdefault(path, text.encode("utf-8")))
            path.chmod(0o640)
        yield place, every, before


def a_file(path):
    return {".toml": toml_files(), ".md": MARKDOWN}.get(path.suffix, json_files())


def snapshot(folder):
    return {path: path.read_bytes() for path in Path(folder).rglob("*") if path.is_file()}


def install(place, every):
    change.apply(change.plan_install(every), place.root)


def uninstall(place, every):
    change.apply(change.plan_uninstall(every), place.root)


def is_refused(place, every, before):
    """A generated file may have a foreign thing where limpet's belongs: then all files stay as they are."""
    try:
        change.plan_install(every)
    except BadInput:
        event("refused")
        assert snapshot(place.home) == before
        return True
    event("edited" if before else "made")
    return False


@pytest.mark.parametrize("client", CLIENTS)
@given(data=st.data())
def test_install_and_uninstall_give_the_same_bytes(client, data):
    with home_of(client, data, a_file) as (place, every, before):
        if is_refused(place, every, before):
            return
        install(place, every)
        assert all(there is not None for _, there in change.present(every))
        once = snapshot(place.home)
        install(place, every)
        assert snapshot(place.home) == once, "twice is once"
        assert all((path.stat().st_mode & 0o777) == 0o640 for path in before)
        uninstall(place, every)
        assert snapshot(place.home) == before


BY_HAND = st.fixed_dictionaries(
    {"command": st.sampled_from(["limpet", "/usr/bin/limpet", "uvx"])},
    optional={
        "args": st.sampled_from([["mcp"], ["mcp", "--scope", "team"], []]), "env": st.just({"LIMPET_STORE": "/t.db"}),
        "trust": st.booleans(), "timeout": st.integers(0, 99), "tools": st.just({"recall": {"approval": "auto"}}),
    },
)  # fmt: skip
TABLES = ['env = { A = "b" }', "startup_timeout_sec = 30 # slow", "[mcp_servers.limpet.tools.recall]\nx = 1"]


@pytest.mark.parametrize("client", ["claude", "codex", "gemini", "cursor", "qwen"])
@given(data=st.data())
def test_an_entry_that_was_written_by_hand_keeps_its_keys(client, data):
    with tempfile.TemporaryDirectory() as name:
        place = Place(Path(name), None, ("/opt/lim pet/bin/limpet",))
        every = parts(client, place)
        path, mine = every[0].path, data.draw(BY_HAND)
        if client == "codex":
            lines = data.draw(st.lists(st.sampled_from(TABLES[:2]), unique=True)) + TABLES[2:]
            own = f"[mcp_servers.limpet]\ncommand = {json.dumps(mine['command'])}\nenabled = false\n"
            text = "[tui]\na = 1\n\n" + own + "\n".join(lines) + "\n\n[other]\nb = 2\n"
            mine = tomllib.loads(text)["mcp_servers"]["limpet"]
        else:
            value = data.draw(settings_objects())
            servers = value.get("mcpServers") or {}
            text = data.draw(written({**value, "mcpServers": {**servers, "limpet": mine}}))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
        before = snapshot(name)
        if is_refused(place, every, before):
            return
        install(place, every)
        now = next(part.entry_in(path.read_bytes().decode()) for part in every if part.path == path)
        assert now["command"] == "/opt/lim pet/bin/limpet"
        assert {key: now[key] for key in mine if key not in ("command", "args")} == {
            key: one for key, one in mine.items() if key not in ("command", "args")
        }
        assert not path.with_name(path.name + ".before-limpet").exists(), "an earlier install's is no backup"


@given(data=st.data())
def test_a_permission_goes_again_unless_it_was_there_before(data):
    with home_of("claude", data, a_file) as (place, _, before):
        every = parts("claude", place._replace(allow_tools=data.draw(st.booleans(), label="allowed?")))
        if is_refused(place, every, before):
            return
        install(place, every)
        once = snapshot(place.home)
        install(place, every)
        assert snapshot(place.home) == once, "twice is once"
        uninstall(place, parts("claude", place._replace(allow_tools=is_granted(place))))
        assert snapshot(place.home) == before


@given(text=json_files(), data=st.data())
def test_installing_changes_no_foreign_value_and_no_comment(text, data):
    client = data.draw(st.sampled_from(["gemini", "claude", "cursor", "qwen"]))
    with tempfile.TemporaryDirectory() as name:
        every = [
            part
            for part in parts(client, Place(Path(name), None, ("limpet",)))
            if not isinstance(part, change.OwnFile) and part.path.suffix != ".md"
        ]
        try:
            new = text
            for part in every:
                new = part.put(new)
        except jsonc.Unreadable:
            return
        was, now = jsonc.read(text).value, jsonc.read(new).value
        for key, value in was.items():
            if key not in ("mcpServers", "hooks"):
                assert now[key] == value
        for key, value in (was.get("mcpServers") or {}).items():
            assert now["mcpServers"][key] == value
        for event, entries in (was.get("hooks") or {}).items():
            assert [one for one in now["hooks"][event] if not change.is_ours(one)] == entries
        assert list(was) == [key for key in now if key in was], "the order of keys"
        for note in ("// note", "/* c\n , */", "// the end", '// a, "b": {'):
            assert new.count(note) == text.count(note)


@given(text=json_files(), more=json_files())
def test_what_others_changed_meanwhile_survives_the_uninstall(text, more):
    """After the install another tool rewrites the file with a key of its own."""
    with tempfile.TemporaryDirectory() as name:
        place = Place(Path(name), None, ("limpet",))
        every = [part for part in parts("gemini", place) if part.path.suffix == ".json"]
        path = every[0].path
        path.parent.mkdir(parents=True)
        path.write_bytes(text.encode())
        try:
            install(place, every)
        except BadInput:
            return
        path.write_text(
            jsonc.put(path.read_bytes().decode(), ("added-later",), {"x": [1]}), newline="", encoding="utf-8"
        )
        uninstall(place, every)
        assert jsonc.read(path.read_bytes().decode()).value == {**jsonc.read(text).value, "added-later": {"x": [1]}}
        assert list(path.parent.iterdir()) == [path]


@given(text=toml_files(), name=st.sampled_from(["limpet", "other2"]))
def test_toml_edits_keep_every_other_line(text, name):
    value = {"command": "C:\\x y\\limpet.exe", "args": ["mcp"]}
    new = toml.put(text, ("mcp_servers", name), value)
    assert tomllib.loads(new)["mcp_servers"][name] == value
    assert [line for line in text.splitlines() if line not in new.splitlines()] == []
    assert toml.put(new, ("mcp_servers", name), value) == new


BROKEN = st.one_of(
    json_files().map(lambda text: text.rstrip() + "}"), json_files().map(lambda text: text.replace("{", "{,", 1)),
    st.sampled_from(["[1, 2", '{"a": }', "{'a': 1}", '{"a": 1} {"b": 2}', '"text', "nul", '{"hooks": 3}', '{"mcpServers": []}', "[]", "7",
                     '{"a": "\x01', "{" * 5_000, "[" * 100_000]),
)  # fmt: skip


@pytest.mark.parametrize(
    "client",
    ["claude", "gemini", "cursor", "windsurf", "opencode", "copilot", "qwen", "claude-desktop", "vscode", "zed"],
)
@given(data=st.data())
def test_a_file_that_cannot_be_read_is_left_alone_and_so_are_the_others(client, data):
    with home_of(client, data, a_file) as (place, every, before):
        files = [part.path for part in every if part.path.suffix in (".json", ".jsonc")]
        path = data.draw(st.sampled_from(files))
        text = data.draw(BROKEN)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(before.setdefault(path, text.encode()) if path not in before else before[path])
        with contextlib.suppress(jsonc.Unreadable):
            jsonc.read(path.read_bytes().decode())
            return
        with pytest.raises(BadInput, match="cannot be edited"):
            change.plan_install(every)
        with contextlib.suppress(BadInput):
            change.plan_uninstall(every)
        assert snapshot(place.home) == before


@given(value=settings_objects(), data=st.data())
def test_the_reader_agrees_with_json(value, data):
    text = data.draw(written(value))
    assert jsonc.read(text).value == value


@given(text=st.text(max_size=60))
def test_the_reader_takes_what_json_takes_and_never_fails_otherwise(text):
    try:
        expected = json.loads(text, parse_constant=lambda _: pytest.fail)
    except (ValueError, RecursionError):
        with contextlib.suppress(jsonc.Unreadable):
            jsonc.read(text)
        return
    if expected is not pytest.fail:
        assert jsonc.read(text).value == expected


@pytest.mark.parametrize(
    ("command", "ours"),
    [("limpet hook claude Stop", True), ("'/opt/a b/limpet' --store '/x y/m.db' hook claude Stop", True),
     ('& "C:\\bin\\limpet.exe" hook claude Stop', True), ("limpet --store x \\\nhook claude Stop", True), ("cd x && limpet hook a", True),
     ("limpet serve", False), ("limpet hooks", False), ("other hook && limpet serve", False), ("mylimpet hook x", False),
     ("limpet serve\nother --now hook x", False), ("limpet " * 100_000, False), ("limpet " * 100_000 + "hook x", True)],
    ids=range(12),
)  # fmt: skip
def test_whose_a_command_is_is_told_by_one_reading(command, ours):
    """Linear: a long line ends soon, or the suite does not end at all."""
    assert is_ours({"command": command}) is ours
