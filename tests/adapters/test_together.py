"""Agents of three frameworks, each in processes and an environment of its own, on one store."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.agents.model_api import ModelApi, ToolCall

HERE = Path(__file__).parent
PROGRAMS = {"claude": "claude_loop.py", "openai-agents": "openai_run.py", "langgraph": "langgraph_agent.py"}
PYTHONS = {name: HERE.parents[1] / ".venvs" / name / "bin" / "python" for name in PROGRAMS}

pytestmark = pytest.mark.skipif(
    "LIMPET_TEST_ADAPTERS" not in os.environ or not all(map(Path.exists, PYTHONS.values())),
    reason="make test-adapters installs the frameworks",
)

SAVED = {
    "claude": ToolCall("memory", {"command": "create", "path": "/memories/ship.md", "file_text": "Releases leave on Tuesdays\n"}),
    "openai-agents": ToolCall("remember", {"statement": "The release manager is Ana Ruiz"}),
    "langgraph": ToolCall("save", {"key": "gate", "text": "No release without a green smoke test"}),
}  # fmt: skip
ASKED = {
    "claude": [ToolCall("memory", {"command": "view", "path": f"/memories/{name}"}) for name in ("ship.md", "from-other-agents.md")],
    "openai-agents": [ToolCall("recall", {"query": "what must be known about a release?"})],
    "langgraph": [ToolCall("look_up", {"query": "what must be known about a release?"})],
}  # fmt: skip


def run(name, store, message, calls):
    """What the tools of a new process of this framework told the model, and all that the model was sent."""
    with ModelApi(calls=calls) as api:
        kept = {one: value for one, value in os.environ.items() if not one.startswith("LIMPET_")}
        done = subprocess.run(
            [PYTHONS[name], HERE / "programs" / PROGRAMS[name], store, api.url, message],
            env=kept | {"NO_PROXY": "127.0.0.1"}, capture_output=True, text=True, timeout=120, check=False,
        )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return "\n".join(api.results()), api.text()


def test_three_frameworks_remember_across_processes_and_see_each_others_memories(tmp_path):
    store = str(tmp_path / "memory.db")
    for name in PROGRAMS:
        run(name, store, f"Please keep this ({name}).", [SAVED[name]])
    for name in PROGRAMS:
        # A process for each: this client sends a tool's result without the conversation before it.
        # The OpenAI session holds the call of the process before.
        before = [SAVED[name]] if name == "openai-agents" else []
        answers = [run(name, store, "What about releases?", [*before, call]) for call in ASKED[name]]
        told = "\n".join(results for results, _ in answers)
        assert "Releases leave on Tuesdays" in told, name
        assert "The release manager is Ana Ruiz" in told, name
        assert "No release without a green smoke test" in told, name
        if name == "openai-agents":
            assert "Please keep this (openai-agents)." in answers[0][1]  # the session goes on
