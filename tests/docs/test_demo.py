"""`make demo`, which a newcomer runs first, ends as it should, with what the core installs and nothing else."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

DEMO = Path(__file__).parents[2] / "examples" / "demo.py"


def test_the_demo_ends_well():
    done = subprocess.run([sys.executable, str(DEMO)], capture_output=True, text=True, check=False, timeout=500)
    assert done.returncode == 0, done.stdout[-2_000:] + done.stderr[-2_000:]
    assert "NOT" not in done.stdout and "Done in" in done.stdout


def test_the_demo_needs_nothing_that_the_core_does_not_install():
    imports = [
        node
        for node in ast.walk(ast.parse(DEMO.read_text(encoding="utf-8")))
        if isinstance(node, ast.Import | ast.ImportFrom)
    ]
    names = {alias.name for node in imports if isinstance(node, ast.Import) for alias in node.names}
    names |= {node.module for node in imports if isinstance(node, ast.ImportFrom) and node.module}
    assert {name.split(".")[0] for name in names} <= sys.stdlib_module_names | {"limpet"}
