"""The picture of docs/architecture.md: packages by level, drawn from the imports in their files."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import limpet

ROOT = Path(limpet.__file__).parent
# Modules of the top level that are shown: those that others go through. The rest are small.
SHOWN = ("api", "context")


def picture() -> str:
    """Each package with what it imports; what another of these imports already is left out."""
    files: dict[str, list[Path]] = {}
    for path in sorted(ROOT.rglob("*.py")):
        name = path.relative_to(ROOT).parts[0].removesuffix(".py")
        if path.parent != ROOT or name in SHOWN:
            files.setdefault(name, []).append(path)
    direct = {name: {to for path in paths for to in _imported(path)} for name, paths in files.items()}
    direct = {name: (imported & files.keys()) - {name} for name, imported in direct.items()}

    @cache
    def below(name: str) -> frozenset[str]:
        return frozenset(direct[name]).union(*map(below, direct[name]))

    @cache
    def level(name: str) -> int:
        return 1 + max(map(level, direct[name]), default=0)

    lines = []
    for number in range(max(map(level, files)), 0, -1):
        for name in sorted(one for one in files if level(one) == number):
            own = direct[name] - {far for near in direct[name] for far in below(near)}
            lines.append(f"{number:2}  {name:<10}{' -> ' if own else ''}{', '.join(sorted(own))}".rstrip())
    return "```\n" + "\n".join(lines) + "\n```"


def _imported(path: Path) -> Iterator[str]:
    """The first part below limpet of everything that a file imports, in functions too; not for type checkers alone."""
    package = ("limpet", *path.relative_to(ROOT).parent.parts)
    for node in _running(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else ()
            module = (*base, *(node.module or "").split(".")) if node.module else base
            if module[:1] == ("limpet",):
                yield from [module[1]] if len(module) > 1 else [name.name for name in node.names]


def _running(tree: ast.AST) -> Iterator[ast.AST]:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            continue
        yield node
        yield from _running(node)
