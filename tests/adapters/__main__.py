"""`python -m tests.adapters [FRAMEWORK ...]`: an environment for each framework, the newest version in the range of its
extra in pyproject.toml, and there the tests and the example of its adapter; then the tests that take several."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
# Framework -> its tests here, its example in examples/frameworks/.
TESTED = {
    "claude": ("test_claude.py", "claude_memory.py"),
    "langgraph": ("test_langgraph.py", "langgraph_store.py"),
    "openai-agents": ("test_openai_agents.py", "openai_session.py"),
    "adk": ("test_adk.py", "adk_memory.py"),
    "pydantic-ai": ("test_pydantic_ai.py", "pydantic_ai_store.py"),
    "llama-index": ("test_llama_index.py", "llama_index_block.py"),
}
OFFLINE = {"ANONYMIZED_TELEMETRY": "false", "OTEL_SDK_DISABLED": "true"}


def environment(name: str) -> Path:
    """The Python in which a framework is installed, brought up to date."""
    folder = ROOT / ".venvs" / name
    python = folder / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    install = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--upgrade"]
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    subprocess.run([*install, "-e", ROOT, "pytest", "hypothesis", *extras.get(name, [])], check=True)
    return python


def main(names: list[str]) -> int:
    failed = []
    outside = os.environ | OFFLINE | {"LIMPET_TEST_ADAPTERS": "1"}

    def passed(*argv: str | Path) -> bool:
        return subprocess.run(argv, cwd=ROOT, env=outside, check=False).returncode == 0

    for name in names or TESTED:
        python = environment(name)
        tests, example = TESTED[name]
        print(f"== {name}", flush=True)
        if not passed(python, "-m", "pytest", "-q", HERE / tests):
            failed.append(name)
        if not passed(python, ROOT / "examples" / "frameworks" / example):
            failed.append(example)
    print("== together", flush=True)
    if not passed(sys.executable, "-m", "pytest", "-q", HERE / "test_together.py"):
        failed.append("together")
    print(f"failed: {', '.join(failed)}" if failed else "all passed")
    return bool(failed)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
