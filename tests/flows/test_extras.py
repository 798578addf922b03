"""The core needs none of the extras; what needs an extra says how to install it."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

# Modules that extras bring, as if none were installed.
EXTRAS = (
    "anyio", "h11", "httpx2", "jinja2", "jsonschema", "lz4", "mcp", "mcp_types", "pydantic", "shtab", "starlette",
    "tokenizers", "uvicorn",
)  # fmt: skip
WITHOUT = (
    f"import sys; sys.modules.update(dict.fromkeys({EXTRAS!r})); from limpet.cli.start import run; sys.exit(run())"
)


def limpet(path, *argv, text=""):
    command = [sys.executable, "-c", WITHOUT, "--store", str(path), "--scope", "global", *argv]
    return subprocess.run(command, input=text, capture_output=True, text=True, timeout=60, check=False)


@pytest.mark.parametrize(
    ("argv", "extra"),
    [
        (("completion", "bash"), "completion"),
        (("serve",), "serve"),
        (("ui",), "ui"),
        (("export", "amem", "brain.amem"), "amem"),
    ],
)
def test_what_needs_an_extra_names_it(path, tmp_path, argv, extra):
    assert limpet(path, "remember", "Deploys run on Friday").returncode == 0
    argv = [str(tmp_path / one) if one.endswith(".amem") else one for one in argv]

    done = limpet(path, *argv, "--json")

    assert done.returncode == 3
    assert json.loads(done.stderr)["error"] == "package_missing"
    assert json.loads(done.stderr)["hint"] == f"pip install 'limpet[{extra}]'"


def test_the_core_stores_finds_and_serves_an_agent(path):
    assert limpet(path, "remember", "Deploys hang when the VPN is down").returncode == 0
    assert limpet(path, "work").returncode == 0
    found = json.loads(limpet(path, "recall", "why is my release stuck?", "--deadline-ms", "60000", "--json").stdout)
    assert [one["content"] for one in found["items"]] == ["Deploys hang when the VPN is down"]
    assert found.get("missing", []) == []
    calls = [
        (
            "initialize",
            {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "a", "version": "1"}},
        ),
        ("tools/call", {"name": "recall", "arguments": {"query": "deploys"}}),
    ]
    lines = [{"jsonrpc": "2.0", "id": n, "method": name, "params": params} for n, (name, params) in enumerate(calls)]
    done = limpet(path, "mcp", text="".join(json.dumps(line) + "\n" for line in lines))
    answers = {one["id"]: one for one in map(json.loads, done.stdout.splitlines()) if "id" in one}
    assert "Deploys hang" in json.dumps(answers[1]["result"])
