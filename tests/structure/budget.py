"""What limpet costs a reader and a cold command, against the limits in budget.json: `python -m tests.structure.budget [--write]`.

`--write` lowers limits to what is measured and removes those of packages that are gone. It raises none: that is done
by hand, with an ADR that says why. The measures are the same under every Python version.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import subprocess
import sys
import tempfile
import tokenize
import tomllib
from collections import Counter
from pathlib import Path

from limpet.cli.help import whole_parser

ROOT = Path(__file__).parents[2]
SRC = ROOT / "src" / "limpet"
LIMITS = Path(__file__).with_name("budget.json")
TOP = "limpet"  # the modules that are in no package below it
# The vocabulary of a model is part of the model.
NOT_CODE = {"vectors/data/vocabulary.txt", "vectors/data/reader.pieces"}
GENERATED = ".pyi"
COUNTED = {tokenize.NAME, tokenize.OP, tokenize.NUMBER, tokenize.STRING}
SHARED_OPTIONS = {"--help", "--store", "--scope", "--json"}
COLD = {
    "version": ("version",), "list": ("list",), "remember": ("remember", "Port 5434 it is"),
    "recall": ("recall", "--lexical", "which port"),
}  # fmt: skip
# How far below its limit a measure may lie: a share of the limit, or so many where that is more.
SLACK_SHARE = 0.02
SLACK = {"lines": 20, "tokens": 100, "data_lines": 20}

Measures = dict[str, dict[str, int]]


def measure() -> Measures:
    """Name of a package, or `whole` -> measure -> value."""
    return {**packages(), "whole": interface() | cold_modules()}


def _package(name: Path) -> str:
    """The package of a file: the folder below src/limpet, or below features/."""
    if len(name.parts) == 1:
        return TOP
    return "/".join(name.parts[:2]) if name.parts[0] == "features" else name.parts[0]


def packages() -> Measures:
    found: dict[str, Counter[str]] = {}
    for path in sorted(SRC.rglob("*")):
        name = path.relative_to(SRC)
        if not path.is_file() or "__pycache__" in name.parts:
            continue
        counts = found.setdefault(_package(name), Counter())
        if path.suffix == ".py":
            source = path.read_text(encoding="utf-8")
            counts.update(modules=1, lines=source.count("\n"), tokens=tokens(path), patterns=patterns(source))
        elif path.suffix != GENERATED and name.as_posix() not in NOT_CODE:
            counts.update(data_lines=text_lines(path))
    return {name: {one: found[name][one] for one in ("lines", "tokens", "data_lines", "patterns", "modules")}
            for name in sorted(found)}  # fmt: skip


def tokens(path: Path) -> int:
    """Names, operators, numbers and strings of a module, without its docstrings. An f-string is one string."""
    count, depth, begins = 0, 0, True
    with path.open("rb") as file:
        read = list(tokenize.tokenize(file.readline))
    for token, after in zip(read, [*read[1:], read[-1]], strict=True):
        kind = tokenize.tok_name[token.type]
        depth -= kind in ("FSTRING_END", "TSTRING_END")
        if kind in ("FSTRING_START", "TSTRING_START"):
            count, depth = count + (depth == 0), depth + 1
        elif depth == 0 and token.type in COUNTED:
            docstring = begins and token.type == tokenize.STRING and after.type == tokenize.NEWLINE
            count += not docstring
        if kind not in ("COMMENT", "NL"):
            begins = kind in ("ENCODING", "NEWLINE", "INDENT", "DEDENT")
    return count


def patterns(source: str) -> int:
    """Calls of `re.compile`."""
    return sum(
        isinstance(one, ast.Call) and ast.unparse(one.func) == "re.compile" for one in ast.walk(ast.parse(source))
    )


def text_lines(path: Path) -> int:
    """Lines of a table, of SQL, of a template or a script; none of a binary file."""
    try:
        return len(path.read_text(encoding="utf-8").splitlines())
    except UnicodeDecodeError:
        return 0


def interface() -> dict[str, int]:
    """Commands with their subcommands, their own options, and what the package always needs."""
    commands, options, parsers = 0, 0, [whole_parser()]
    while parsers:
        for action in parsers.pop()._actions:
            if isinstance(action, argparse._SubParsersAction):
                commands += len(action.choices)
                parsers += action.choices.values()
            else:
                options += bool(action.option_strings) and SHARED_OPTIONS.isdisjoint(action.option_strings)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return {"commands": commands, "options": options, "dependencies": len(project["dependencies"])}


def cold_modules() -> dict[str, int]:
    """How many modules of limpet a command loads in a process of its own, on a store with two memories."""
    code = (
        "import sys\n"
        "from limpet.cli.start import run\n"
        "try:\n"
        "    run()\n"
        "finally:\n"
        "    print(sum(one.partition('.')[0] == 'limpet' for one in sys.modules), file=sys.stderr)"
    )
    with tempfile.TemporaryDirectory() as folder:
        settings = {name: value for name, value in os.environ.items() if not name.startswith("LIMPET_")}
        settings |= {"LIMPET_STORE": f"{folder}/memory.db", "LIMPET_SCOPE": "project:api", "XDG_STATE_HOME": folder}
        settings["LIMPET_WORK"] = "off"  # what a recall loads depends on what a worker has found by then

        def run(*words: str) -> int:
            done = subprocess.run(
                [sys.executable, "-c", code, *words], env=settings, capture_output=True, text=True, check=True
            )
            return int(done.stderr.split()[-1])

        for port in (5432, 5433):
            run("remember", f"The staging database listens on port {port}")
        return {f"modules_of_{name}": run(*words) for name, words in COLD.items()}


def slack(measure: str, limit: int) -> int:
    return max(SLACK.get(measure, 2), int(limit * SLACK_SHARE))


def above(measured: Measures, limits: Measures) -> list[str]:
    """A sentence for each measure over its limit, or without one."""
    return [
        f"{package}: {value:,} {name}, and the limit is {limit:,}"
        for package, values in measured.items()
        for name, value in values.items()
        if value > (limit := limits.get(package, {}).get(name, 0))
    ]


def below(measured: Measures, limits: Measures) -> list[str]:
    """A sentence for each limit that lies far above what is measured."""
    return [
        f"{package}: the limit of {limit:,} {name} is far above {value:,}"
        for package, values in limits.items()
        for name, limit in values.items()
        if (value := measured.get(package, {}).get(name, 0)) < limit - slack(name, limit) or package not in measured
    ]


def lowered(measured: Measures, limits: Measures) -> Measures:
    """The limits, none above what is measured."""
    return {
        package: {name: min(limit, measured[package].get(name, 0)) for name, limit in values.items()}
        for package, values in limits.items()
        if package in measured
    }


def read() -> Measures:
    return json.loads(LIMITS.read_text(encoding="utf-8"))


def as_text(limits: Measures) -> str:
    """JSON with a package a line, so that two changes seldom meet."""
    return "{\n" + ",\n".join(f"  {json.dumps(name)}: {json.dumps(one)}" for name, one in limits.items()) + "\n}\n"


def main() -> int:
    parser = argparse.ArgumentParser(description="What limpet costs, against the limits in budget.json.")
    parser.add_argument("--write", action="store_true", help="lower the limits to what is measured")
    write, measured, limits = parser.parse_args().write, measure(), read()
    if write:
        limits = lowered(measured, limits)
        LIMITS.write_text(as_text(limits), encoding="utf-8")
    total: Counter[str] = Counter()
    for package, values in measured.items():
        print(f"{package:12}", *(f"{name} {value:,}" for name, value in values.items()), sep="  ")
        total.update(values if package != "whole" else {})
    print(f"{'all packages':12}", *(f"{name} {value:,}" for name, value in total.items()), sep="  ")
    problems = [*above(measured, limits), *below(measured, limits)]
    if problems:
        print(*problems, sep="\n", file=sys.stderr)
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())
