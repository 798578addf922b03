"""Write what the code says into the documentation: `python -m docs.generate [--check]`.

docs/reference/cli.md is made from the table of commands: from the actions of its parsers, not from their --help, so
that it is the same for every terminal and Python version. docs/scoring.md has its tables of numbers from the modules
that hold them, docs/reference/python.md its table of types from their docstrings,
docs/architecture.md its picture from the imports,
docs/reference/settings.md the names that were given up, each between two comments that name it. And
src/limpet/*.pyi, the public names and the signatures of `AsyncLimpet` (docs/stubs.py); and man/limpet.1 (docs/man.py).
"""

from __future__ import annotations

import argparse
import ast
import difflib
import inspect
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import limpet
from limpet.agents.hooks import fit, fit_weights, gate, injected
from limpet.cli.verbs import parser_of, table
from limpet.rank import constants, newer_weights, relevance_weights
from limpet.rank.session_weights import SESSION_WEIGHTS
from limpet.rank.weights import WEIGHTS
from limpet.recall import candidates, newer, pack, prepare, relevance, score
from limpet.settings import ENVIRONMENT
from limpet.store import lexical
from limpet.store.sql import search as tokenizer
from limpet.text import attribution

from . import man
from .imports import picture
from .stubs import asynchronous_stub, package_stub

DOCS = Path(__file__).parent
TARGET = DOCS / "reference" / "cli.md"
SCORING = DOCS / "scoring.md"
PYTHON = DOCS / "reference" / "python.md"
ARCHITECTURE = DOCS / "architecture.md"
STUBS = DOCS.parent / "src" / "limpet"
COLUMNS = 100
# Shares and thresholds that stand beside what uses them: the first name of each line of the module.
ELSEWHERE = (
    (lexical, "ROW_BUDGET LARGE_STORE MAX_TERMS_SEARCHED SMALL_STORE BACKGROUND_TEXTS BM25_K1 MOST_MEDIANS"),
    (tokenizer, "MAX_TERMS_LOOKED_UP"),
    (relevance_weights, "RELEVANT"),
    (relevance, "MOST_WORDS NEAR"),
    (newer_weights, "REPLACES_FROM"),
    (newer, "LOOKED_AT NEAR"),
    (score, "STAYING ALIKE SHARE"),
    (candidates, "COMPARED"),
    (pack, "SAME_WORDS_COSINE"),
    (prepare, "WORDS_FLOOR NEIGHBOUR_OF_BEST"),
    (gate, "HEAD WORDS"),
    (injected, "MAX_TOKENS MESSAGE_TOKENS ITEM_CHARACTERS ASKED"),
    (fit_weights, "SHOWN_FROM SHARE_OF_BEST"),
    (fit, "LONG_MESSAGE"),
    (attribution, "SHARE"),
)

HEAD = """\
# The command line

<!-- Made by `python -m docs.generate`; do not edit. -->

`limpet [--store PATH] [--scope NAME] [--json] COMMAND ...`

stdout is data, stderr is words and progress. With `--json` the answer is one JSON object a call, of a list one a
line, and an error is `{"error", "message", "hint"?}` on stderr.

- **Ids** are shown short: six characters (base32, capitals are read too), more where six do not tell one from all
  others. Whole ids (UUIDv7, as JSON has them) and their first 8 or more characters name a memory too; where a
  beginning names several, they are listed.
- **Receipts** begin with what became of it (`created`, `observed`, `changed`, `unchanged`, ...) and the id; the text
  or a reason follows, and on stderr how to take it back. Scripts read `--json`.
- **Times** are ISO 8601, dates (their first instant, UTC), or words like "3 days ago".
- **Text** that begins with a dash goes after `--`.

| exit code | means |
|---|---|
| 0 | done |
| 1 | not found |
| 2 | bad input; nothing was stored, or only what the receipts say |
| 3 | store unavailable or damaged, or work that failed |
| 130, 141 | interrupted; the reader of stdout went away |
"""


def page() -> str:
    parts = [HEAD, "| variable | is |\n|---|---|\n" + "".join(_row(f"`{k}`", v) for k, v in ENVIRONMENT.items())]
    verbs = list(table())
    parts.append("## Commands\n\n| command | does |\n|---|---|\n" + "".join(
        _row(f"[`{one.name}`](#{one.name})", one.about) for one in verbs if " " not in one.name
    ))  # fmt: skip
    shared = ""
    for verb in sorted(verbs, key=lambda one: [each.name for each in verbs].index(one.name.split()[0])):
        own, shared = _split(parser_of(verb))
        title = "###" if " " in verb.name else "##"
        parts.append(f"{title} {verb.name}\n\n{verb.about[0].upper()}{verb.about[1:]}.\n")
        if verb.run is not None:
            parts.append(f"```\n{_usage(verb.name, own)}\n```\n")
        if own:
            parts.append("| argument | is |\n|---|---|\n" + "".join(_row(_names(one), one.help or "") for one in own))
        if verb.example:
            parts.append(f"```sh\n{verb.example}\n```\n")
    parts.append("## Global options\n\n| option | is |\n|---|---|\n" + shared)
    return "\n".join(parts)


def _split(parser: argparse.ArgumentParser) -> tuple[list[argparse.Action], str]:
    """A command's own arguments, and the table rows of those that all commands share."""
    shared = {"--store", "--scope", "--json"}
    own, rows = [], ""
    for action in parser._actions:
        if shared & set(action.option_strings):
            rows += _row(_names(action), action.help or "")
        elif "--help" not in action.option_strings:
            own.append(action)
    return own, rows


def _usage(name: str, actions: list[argparse.Action]) -> str:
    """The synopsis, wrapped at COLUMNS."""
    words = [one for one in actions if not one.option_strings]
    lines = [f"limpet {name}"]
    for action in [*words, *(one for one in actions if one.option_strings)]:
        word = _value(action)
        if action.option_strings:
            word = f"{action.option_strings[0]} {word}".strip()
        if not action.required or action.nargs == "?":
            word = f"[{word}]"
        if len(lines[-1]) + 1 + len(word) > COLUMNS:
            lines.append(" " * len(f"limpet {name}"))
        lines[-1] += " " + word
    return "\n".join(lines)


def _names(action: argparse.Action) -> str:
    return ", ".join(f"`{f'{name} {_value(action)}'.strip()}`" for name in action.option_strings or [""])


def _value(action: argparse.Action) -> str:
    """What stands for the argument's value; nothing for a flag."""
    if action.nargs == 0:
        return ""
    name = action.metavar if isinstance(action.metavar, str) else action.dest.upper()
    return f"{name} [{name} ...]" if action.nargs == "+" else name


def _row(left: str, right: str) -> str:
    return f"| {left} | {right.replace('|', chr(92) + '|')} |\n"


def scoring() -> str:
    """docs/scoring.md with its tables made anew."""
    return _filled(SCORING, weights=_weights(), sessions=_sessions(), constants=_constants(), elsewhere=_elsewhere())


def python() -> str:
    """docs/reference/python.md with its table made anew."""
    return _filled(PYTHON, types=_types())


def _filled(target: Path, **tables: str) -> str:
    text = target.read_text(encoding="utf-8")
    for name, made in tables.items():
        between = rf"(<!-- made: {name} -->\n).*?(<!-- end -->)"
        text = re.sub(between, lambda found, made=made: f"{found[1]}\n{made}\n{found[2]}", text, flags=re.DOTALL)
    return text


def _types() -> str:
    """What each public type says of itself first."""
    rows = []
    for name in sorted(limpet.__all__):
        one = getattr(limpet, name)
        if isinstance(one, type) and not issubclass(one, limpet.LimpetError):
            rows.append(_row(f"`{name}`", " ".join((inspect.getdoc(one) or "").split("\n\n")[0].split())))
    return "| type | is |\n|---|---|\n" + "".join(rows)


def _weights() -> str:
    rows = [f"| `{name}` | {weight} |\n" for name, weight in WEIGHTS.items()]
    return "| signal | weight |\n|---|---|\n" + "".join(rows)


def _sessions() -> str:
    rows = [f"| `{name}` | {weight} |\n" for name, weight in SESSION_WEIGHTS.items()]
    return "| value | weight |\n|---|---|\n" + "".join(rows)


def _constants() -> str:
    """Every name of rank/constants.py with its value, and once what its comment says first."""
    rows = [_row(names, f"{values} | {said}") for _, names, values, said in _assigned(constants)]
    return "| constant | value | what |\n|---|---|---|\n" + "".join(rows).replace("\\|", "|")


def _elsewhere() -> str:
    rows = [
        _row(f"`{_path(module)}`", f"{names} | {values} | {said}")
        for module, wanted in ELSEWHERE
        for first, names, values, said in _assigned(module)
        if first in wanted.split()
    ]
    return "| file | constant | value | what |\n|---|---|---|---|\n" + "".join(rows).replace("\\|", "|")


def _path(module: ModuleType) -> str:
    return Path(str(module.__file__)).relative_to(Path(limpet.__file__).parent).as_posix()


def _assigned(module: ModuleType) -> Iterator[tuple[str, str, str, str]]:
    """For each assignment of a module: first name, all names, values, the first sentence of the comment above."""
    source = Path(str(module.__file__)).read_text(encoding="utf-8")
    lines = source.splitlines()
    for node in ast.parse(source).body:
        if not isinstance(node, ast.Assign):
            continue
        above: list[str] = []
        at = node.lineno - 2
        while lines[at].startswith("#"):
            above.insert(0, lines[at].lstrip("# "))
            at -= 1
        target = node.targets[0]
        names = [one.id for one in getattr(target, "elts", [target])]
        values = ", ".join(_value_of(getattr(module, name)) for name in names)
        said = re.split(r"(?<=[.)]) (?=[A-Z])", " ".join(above))[0]
        yield names[0], ", ".join(f"`{name}`" for name in names), values, said or "see above"


def _value_of(value: object) -> str:
    if isinstance(value, dict):
        return "by kind, see above"
    return (
        ", ".join(map(str, value))
        if isinstance(value, tuple)
        else f"{value:,}"
        if isinstance(value, int)
        else str(value)
    )


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m docs.generate", description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 when the page is not up to date")
    args = parser.parse_args()
    wrong = 0
    made = (
        (TARGET, page()),
        (SCORING, scoring()),
        (PYTHON, python()),
        (ARCHITECTURE, _filled(ARCHITECTURE, imports=picture())),
        (STUBS / "__init__.pyi", package_stub()),
        (STUBS / "asynchronous.pyi", asynchronous_stub()),
        (man.TARGET, man.man()),
    )
    for target, new in made:
        name = target.relative_to(DOCS.parent).as_posix()
        if not args.check:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(new, encoding="utf-8", newline="\n")
            continue
        old = target.read_text(encoding="utf-8") if target.is_file() else ""
        if old == new:
            continue
        changed = difflib.unified_diff(old.splitlines(), new.splitlines(), name, "what the code says", n=0, lineterm="")
        sys.stderr.write("\n".join(list(changed)[:40]) + "\n")
        sys.stderr.write(f"{name} is not up to date: run `python -m docs.generate`\n")
        wrong = 1
    return wrong


if __name__ == "__main__":
    sys.exit(main())
