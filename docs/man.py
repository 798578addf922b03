"""The manual page man/limpet.1, from the command line's own parsers; part of `python -m docs.generate`."""

from __future__ import annotations

import argparse
from pathlib import Path

from limpet.cli.help import DESCRIPTION
from limpet.cli.verbs import GROUPS, parser_of, table
from limpet.settings import ENVIRONMENT

TARGET = Path(__file__).parents[1] / "man" / "limpet.1"
EXITS = {
    "0": "done",
    "1": "not found",
    "2": "bad input; nothing was stored, or only what the receipts say",
    "3": "store unavailable or damaged, or work that failed",
}
GLOBAL = ("--store", "--scope", "--json", "--help")


def man() -> str:
    shared = parser_of(add_help=False)
    parts = [
        r".\" Made by `python -m docs.generate`; do not edit.",
        '.TH LIMPET 1 "" "limpet" "User Commands"',
        ".SH NAME",
        r"limpet \- persistent memory for AI agents",
        ".SH SYNOPSIS",
        r".B limpet",
        escaped("[--store PATH] [--scope NAME] [--json] COMMAND ..."),
        ".SH DESCRIPTION",
        escaped(DESCRIPTION),
        escaped("`limpet help COMMAND` says more about a command, with examples."),
        ".SH OPTIONS",
        *options(shared._actions),
        ".SH COMMANDS",
    ]
    verbs = list(table())
    for group in GROUPS:
        parts.append(f".SS {escaped(group)}")
        for verb in (one for one in verbs if one.group == group):
            parts += tagged(f"limpet {verb.name}", f"{verb.about[0].upper()}{verb.about[1:]}.")
            given = [one for one in parser_of(verb)._actions if not set(GLOBAL) & set(one.option_strings)]
            if given:
                parts += [".RS", *options(given), ".RE"]
    parts += [".SH ENVIRONMENT"]
    for name, about in ENVIRONMENT.items():
        parts += tagged(name, about)
    parts += [".SH EXIT STATUS"]
    for code, about in EXITS.items():
        parts += tagged(code, about)
    return "\n".join(parts) + "\n"


def options(actions: list[argparse.Action]) -> list[str]:
    lines = []
    for one in actions:
        name = one.metavar if isinstance(one.metavar, str) else one.dest.upper()
        value = "" if one.nargs == 0 else name
        called = ", ".join(f"{option} {value}".strip() for option in one.option_strings) or value
        lines += tagged(called, one.help or "")
    return lines


def tagged(tag: str, text: str) -> list[str]:
    return [".TP", f"\\fB{escaped(tag)}\\fR", escaped(text)]


def escaped(text: str) -> str:
    """Words as roff has them; a line that begins with a dot or a quote is text too."""
    plain = text.replace("%%", "%").replace("\\", r"\e").replace("-", r"\-").replace("`", r"\`")
    return "\n".join(rf"\&{line}" if line.startswith((".", "'")) else line for line in plain.split("\n"))
