"""`python -m tests.adapters [FRAMEWORK ...]`: an environment for each framework, the newest version in the range of its
extra in pyproject.toml, and the tests of its adapter there; then those that take several."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
TESTED = {
    "claude": "test_claude.py",
    "langgraph": "test_langgraph.py",
    "openai-agents": "test_openai_agents.py",
    "adk": "test_adk.py",
    "pydantic-ai": "test_pydantic_ai.py",
    "crewai": "test_crewai.py",
    "llama-index": "test_llama_index.py",
    "agent-framework": "test_agent_framework.py",
}


def environment(name: str) -> Path:
    """The Python in which a framework is installed, brought up to date."""
    folder = HERE / ".venvs" / name
    python = folder / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    install = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--upgrade"]
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    subprocess.run([*install, "-e", ROOT, "pytest", "hypothesis", *extras[name]], check=True)
    return python


def main(names: list[str]) -> int:
    failed = []
    for name in names or TESTED:
        python = environment(name)
        print(f"== {name}", flush=True)
        if subprocess.run([python, "-m", "pytest", "-q", HERE / TESTED[name]], cwd=ROOT, check=False).returncode:
            failed.append(name)
    together = [sys.executable, "-m", "pytest", "-q", HERE / "test_together.py"]
    print("== together", flush=True)
    if subprocess.run(together, cwd=ROOT, check=False).returncode:
        failed.append("together")
    print(f"failed: {', '.join(failed)}" if failed else "all passed")
    return bool(failed)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
