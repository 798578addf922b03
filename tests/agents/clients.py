"""The clients under test: how each is installed from npm, pointed at a model API of this machine, and run once.

Exact versions: the hooks' interfaces move, and a new version is tried on purpose, by changing a line here.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from .model_api import ModelApi

PACKAGES = {
    "claude": ("@anthropic-ai/claude-code", "2.1.329"),
    "codex": ("@openai/codex", "0.169.0"),
    "copilot": ("@github/copilot", "1.0.102"),
    "opencode": ("opencode-ai", "1.18.33"),
    "gemini": ("@google/gemini-cli", "0.61.0"),
    "qwen": ("@qwen-code/qwen-code", "0.24.4"),
    "cline": ("cline", "3.0.65"),
}
# A client that needs a newer Node than the machine may have brings it along.
BESIDE = {"qwen": ("node@22",)}
CACHE = Path(os.environ.get("LIMPET_CLIENTS") or Path(__file__).parent / ".clients")
RUN_SECONDS = 300
# Where nobody listens: whatever a client wants from the network besides the model, it does not get.
NOWHERE = "http://127.0.0.1:9"


class Run(NamedTuple):
    code: int
    out: str
    errors: str


class Home(NamedTuple):
    """A user's home with one project in it, and limpet's store; several clients may share it."""

    root: Path
    api: ModelApi

    @property
    def project(self) -> Path:
        return self.root / "work" / "shop"

    @property
    def store(self) -> Path:
        return self.root / "memory.db"

    def environment(self) -> dict[str, str]:
        kept = {
            name: value for name, value in os.environ.items() if name in ("LANG", "TERM", "SYSTEMROOT", "PYTHONPATH")
        }
        return kept | {
            "HOME": str(self.root), "USERPROFILE": str(self.root), "PATH": os.environ["PATH"], "NO_COLOR": "1",
            "LIMPET_WORK": "off",  # the folder is gone before a worker ends
            "TMPDIR": str(self.root / "tmp"),
            "LIMPET_HOOK_SECONDS": "4.5",  # as long as the clients wait: a busy machine is no finding here
            "HTTP_PROXY": NOWHERE, "HTTPS_PROXY": NOWHERE, "ALL_PROXY": NOWHERE,
            "NO_PROXY": "127.0.0.1,localhost", "no_proxy": "127.0.0.1,localhost",
        }  # fmt: skip

    def limpet(self, *argv: str) -> str:
        """A limpet command in this home's project."""
        return subprocess.run(
            [sys.executable, "-m", "limpet", "--store", str(self.store), *argv],
            cwd=self.project, env=self.environment(), capture_output=True, text=True, timeout=60, check=True,
        ).stdout  # fmt: skip

    def ask(self, client: str, message: str) -> Run:
        """One run of a client with one message, without anybody at the terminal."""
        argv, more = _RUNS[client](self, message)
        process = subprocess.Popen(
            argv, cwd=self.project, env=self.environment() | more, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True, start_new_session=True,
        )  # fmt: skip
        try:
            out, errors = process.communicate(timeout=RUN_SECONDS)
        finally:
            _end_group(process.pid)
            process.wait()
        return Run(process.returncode, out, errors)


def _end_group(group: int) -> None:
    """What a client started has a moment to write down what it knows; then it is ended."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        for _ in range(50):
            os.killpg(group, 0)
            time.sleep(0.1)
        os.killpg(group, signal.SIGKILL)


def installed(client: str) -> Path:
    """The client's program; installed from npm on first use."""
    package, version = PACKAGES[client]
    folder = CACHE / f"{client}-{version}"
    program = folder / "node_modules" / ".bin" / client
    if not program.exists():
        npm = shutil.which("npm")
        if npm is None:
            raise FileNotFoundError("npm is not on the PATH")
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "package.json").write_text("{}", encoding="utf-8")
        subprocess.run(
            [npm, "install", "--no-audit", "--no-fund", "--silent", f"{package}@{version}", *BESIDE.get(client, ())],
            cwd=folder, timeout=900, check=True,
        )  # fmt: skip
    return program


def make_home(root: Path, api: ModelApi) -> Home:
    home = Home(root, api)
    (home.project / ".git").mkdir(parents=True)
    (root / "tmp").mkdir()
    # Gemini CLI takes no key for an address of one's own, unless its settings say so.
    settings = root / ".gemini" / "settings.json"
    settings.parent.mkdir()
    settings.write_text(json.dumps({"security": {"auth": {"selectedType": "gemini-api-key"}}}), encoding="utf-8")
    return home


def _claude(home: Home, message: str) -> tuple[list[str], dict[str, str]]:
    argv, more = _claude_with_search(home, message)
    return [*argv, "--allowedTools", "mcp__limpet", "Bash"], more | {"ENABLE_TOOL_SEARCH": "false"}


def _claude_with_search(home: Home, message: str) -> tuple[list[str], dict[str, str]]:
    """As it is by itself: the tools of servers stand behind a search, and each needs a permission."""
    argv = [str(installed("claude")), "-p", message, "--model", "claude-sonnet-4-5"]
    return argv, {
        "ANTHROPIC_BASE_URL": home.api.url, "ANTHROPIC_API_KEY": "none", "DISABLE_AUTOUPDATER": "1",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "ENABLE_TOOL_SEARCH": "true",
        # A busy machine: by itself it waits 5 s for a server, and then asks its model without the tools.
        "MCP_CONNECTION_NONBLOCKING": "false", "MCP_CONNECT_TIMEOUT_MS": "60000",
    }  # fmt: skip


def _codex(home: Home, message: str) -> tuple[list[str], dict[str, str]]:
    settings: dict[str, Any] = {
        "model_provider": "here", "model_providers.here.name": "here",
        "model_providers.here.base_url": home.api.url + "/v1", "model_providers.here.wire_api": "responses",
        "model_providers.here.env_key": "HERE_KEY", "model": "gpt-5", "approval_policy": "never",
    }  # fmt: skip
    if "mcp_servers.limpet" in _text(home.root / ".codex" / "config.toml"):
        settings["mcp_servers.limpet.required"] = True  # else the first request may leave before a server is up
    options = [word for name, value in settings.items() for word in ("-c", f"{name}={json.dumps(value)}")]
    argv = [str(installed("codex")), "exec", "--skip-git-repo-check", "--dangerously-bypass-hook-trust",
            "--dangerously-bypass-approvals-and-sandbox", *options, message]  # fmt: skip
    return argv, {"HERE_KEY": "none"}


def _text(file: Path) -> str:
    return file.read_text(encoding="utf-8") if file.exists() else ""


def _copilot(home: Home, message: str) -> tuple[list[str], dict[str, str]]:
    argv = [str(installed("copilot")), "-p", message, "--allow-all-tools"]
    return argv, {
        "COPILOT_OFFLINE": "true", "COPILOT_PROVIDER_BASE_URL": home.api.url + "/v1", "COPILOT_MODEL": "gpt-5",
        "COPILOT_PROVIDER_API_KEY": "none",
    }  # fmt: skip


def _opencode(home: Home, message: str) -> tuple[list[str], dict[str, str]]:
    folder = home.root / ".config" / "opencode"
    folder.mkdir(parents=True, exist_ok=True)
    # Its request for a package of its own fails at once: npm tries it again for more than a minute.
    (folder / ".npmrc").write_text("fetch-retries=0\n", encoding="utf-8")
    provider = {
        "npm": "@ai-sdk/openai-compatible", "options": {"baseURL": home.api.url + "/v1", "apiKey": "none"},
        "models": {"stub": {}},
    }  # fmt: skip
    settings = {"provider": {"here": provider}, "model": "here/stub"}
    return [str(installed("opencode")), "run", message], {
        "OPENCODE_CONFIG_CONTENT": json.dumps(settings), "OPENCODE_DISABLE_AUTOUPDATE": "1",
        "OPENCODE_DISABLE_MODELS_FETCH": "1",
    }  # fmt: skip


def _gemini(home: Home, message: str) -> tuple[list[str], dict[str, str]]:
    _trusted(home, ".gemini")
    argv = [str(installed("gemini")), "-p", message, "--approval-mode", "yolo", "--model", "gemini-2.5-pro"]
    return argv, {
        "GOOGLE_GEMINI_BASE_URL": home.api.url, "GEMINI_API_KEY": "none",
    }  # fmt: skip


def _qwen(home: Home, message: str) -> tuple[list[str], dict[str, str]]:
    _trusted(home, ".qwen")
    program = installed("qwen")
    argv = [str(program.parent / "node"), str(program.resolve()), "-p", message, "--approval-mode", "yolo",
            "--auth-type", "openai", "--model", "stub"]  # fmt: skip
    return argv, {"OPENAI_BASE_URL": home.api.url + "/v1", "OPENAI_API_KEY": "none", "OPENAI_MODEL": "stub"}


def _trusted(home: Home, folder: str) -> None:
    """A folder that nobody trusted starts no MCP server."""
    file = home.root / folder / "trustedFolders.json"
    file.parent.mkdir(exist_ok=True)
    file.write_text(json.dumps({str(home.project): "TRUST_FOLDER"}), encoding="utf-8")


def _cline(home: Home, message: str) -> tuple[list[str], dict[str, str]]:
    """Its provider's address is a setting that `cline auth` writes."""
    program = str(installed("cline"))
    if not (home.root / ".cline" / "data" / "settings" / "providers.json").exists():
        subprocess.run(
            [program, "auth", "openai", "--apikey", "none", "--modelid", "stub", "--baseurl", home.api.url + "/v1"],
            cwd=home.project, env=home.environment(), stdin=subprocess.DEVNULL, timeout=60, check=True,
            capture_output=True,
        )  # fmt: skip
    return [program, message], {"CLINE_NO_AUTO_UPDATE": "1", "CLINE_TELEMETRY_DISABLED": "1"}


_RUNS: dict[str, Callable[[Home, str], tuple[list[str], dict[str, str]]]] = {
    "claude": _claude, "claude-search": _claude_with_search, "codex": _codex, "copilot": _copilot, "opencode": _opencode,
    "gemini": _gemini, "qwen": _qwen, "cline": _cline,
}  # fmt: skip
