"""Every example in the documentation runs: console lines by a shell, Python blocks in order, one store a page."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
HOW_TO = ROOT / "docs" / "how-to"
PAGES = [
    ROOT / "README.md",
    *sorted((ROOT / "docs").glob("*.md")),
    *sorted(HOW_TO.rglob("*.md")),
]
FENCED = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
BLOCK = re.compile(r"^```(console|python)\n(.*?)^```", re.MULTILINE | re.DOTALL)


def examples(page):
    return BLOCK.findall(page.read_text(encoding="utf-8"))


def code_shown(text, line):
    """How a command is to end: with 1 where the page shows under it that nothing is found."""
    return 1 if f"$ {line}\nnothing found" in text else 0


@pytest.mark.parametrize("page", [page for page in PAGES if examples(page)], ids=lambda page: page.stem)
def test_the_examples_of_a_page_run(page, tmp_path):
    home = tmp_path / "home"
    home.mkdir()
    env = {**os.environ, "HOME": str(home), "LIMPET_STORE": str(home / "memory.db"), "LIMPET_SCOPE": "project:shop"}
    env["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{env['PATH']}"
    python = []
    for language, text in examples(page):
        if language == "python":
            python.append(text)
            continue
        for line in commands(text):
            done = subprocess.run(
                ["bash", "-c", line], env=env, cwd=home, capture_output=True, text=True, timeout=120, check=False
            )
            assert done.returncode == code_shown(text, line), f"{page.name}: {line}\n{done.stdout}{done.stderr}"
    if python:
        done = subprocess.run(
            [sys.executable, "-c", "\n".join(python)],
            env=env,
            cwd=home,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, f"{page.name}\n{done.stderr}"


def commands(text):
    """Lines after `$ `, joined with the lines that a closing backslash continues."""
    joined = text.replace("\\\n", " ")
    return [line[2:] for line in joined.splitlines() if line.startswith("$ ")]


def test_the_generated_pages_are_up_to_date():
    done = subprocess.run(
        [sys.executable, "-m", "docs.generate", "--check"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_links_between_pages_lead_somewhere():
    missing = []
    for page in [*PAGES, *sorted((ROOT / "docs").rglob("*.md"))]:
        text = FENCED.sub("", page.read_text(encoding="utf-8"))  # links in examples are not ours
        for target in re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", text):
            if not (page.parent / target).exists():
                missing.append(f"{page.relative_to(ROOT)}: {target}")
    assert not missing
