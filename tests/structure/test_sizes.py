"""What a reader can hold in mind: no file and no function of src/ is longer than that."""

from __future__ import annotations

import ast
from pathlib import Path

SRC = Path(__file__).parents[2] / "src" / "limpet"
MOST_LINES_OF_A_FILE, MOST_LINES_OF_A_FUNCTION, P95_LINES_OF_FUNCTIONS = 450, 60, 30
# Every public verb stands in one file.
LONG_FILES = {"api.py"}


def files():
    return {path.relative_to(SRC).as_posix(): path.read_text(encoding="utf-8") for path in sorted(SRC.rglob("*.py"))}


def functions():
    """(lines from `def` to the end, file, name) of each, the longest first."""
    return sorted(
        (
            (node.end_lineno - node.lineno + 1, name, node.name)
            for name, text in files().items()
            for node in ast.walk(ast.parse(text))
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        ),
        reverse=True,
    )


def test_no_file_is_longer_than_450_lines():
    long = {name for name, text in files().items() if text.count("\n") > MOST_LINES_OF_A_FILE}

    assert long <= LONG_FILES
    assert long >= LONG_FILES, "shorter now: take it off the list"


def test_no_function_is_longer_than_60_lines():
    assert [one for one in functions() if one[0] > MOST_LINES_OF_A_FUNCTION] == []


def test_nineteen_of_twenty_functions_have_at_most_30_lines():
    found = functions()

    assert found[len(found) // 20][0] <= P95_LINES_OF_FUNCTIONS
