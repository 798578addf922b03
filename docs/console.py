"""Run what the documentation shows in a terminal, the lines after `$ ` in `console` blocks, and compare the answers.

`python -m docs.console` writes what is shown anew where it is no longer so, `--check` only says where.
`tests/docs/test_examples.py` checks it. A page has a home and a store of its own, and the command `limpet` has a clock
and ids of its own there, so that the same page always answers the same. Of what is shown

- a line `...` stands for any lines, and at the end of a line for the rest of it,
- scores (numbers with three decimals) may differ by a twentieth, since processors add differently,
- the lines that say how `undo` takes it back, and how many memories are not yet compared, may be left out,

and a command that shows nothing is only run. It may end with 1 where `limpet: ` or "nothing found" is shown.
"""

from __future__ import annotations

import argparse
import fcntl
import math
import os
import pty
import re
import struct
import subprocess
import sys
import tempfile
import termios
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGES = [
    ROOT / "README.md",
    *sorted((ROOT / "docs").glob("*.md")),
    *sorted((ROOT / "docs" / "how-to").rglob("*.md")),
]
COLUMNS = 100
SECONDS = 120
HOME = "/home/ana"  # stands for the home of the page
BLOCK = re.compile(r"^```(console|python)\n(.*?)^```", re.MULTILINE | re.DOTALL)
SCORE = re.compile(r"[-+]?\d+\.\d{3}\b")
COLOUR = re.compile(r"\x1b\[[0-9;]*m")
MOVED = re.compile(r"\x1b\[(\??[0-9;]*)([A-Za-ln-z])|(\r)")
ANY = "..."
REMARK = re.compile(r"^`limpet undo( --redo)?` |^[\d,]+ memor(y is|ies are) not yet compared ")

# `limpet` with the clock of the page, 20 seconds a command, and ids that are counted out in place of random ones. A
# recall has time, as on a machine that does nothing else.
COMMAND = """#!{python}
import hashlib, itertools, os, sys
from types import SimpleNamespace
from limpet.cli.start import run
from limpet.model import clock, ids, times

with open({turns!r}, "ab") as file:
    file.write(b".")
turn = os.path.getsize({turns!r})
now = itertools.count(times.parse_time({start!r}, now=0) + turn * 20_000_000, 1000)
made = itertools.count()
clock.SystemClock.now = lambda self: next(now)
ids.os = SimpleNamespace(urandom=lambda size: hashlib.sha256(b"%d %d" % (turn, next(made))).digest()[:size])
if sys.argv[1:2] == ["recall"] and "--deadline-ms" not in sys.argv:
    sys.argv += ["--deadline-ms", "60000"]
run()
"""
START = "2026-03-02T09:00:00Z"


@dataclass(frozen=True, slots=True)
class Shown:
    """A command of a page, and the lines under it."""

    line: str
    lines: tuple[str, ...]
    at: int  # where those lines begin in the page
    end: int

    @property
    def may_fail(self) -> bool:
        # After results, which are indented, "nothing in SCOPE" only says that these are of `global`.
        first = self.lines[0] if self.lines else ""
        return first.startswith("nothing in ") or any(
            line.startswith(("limpet: ", "nothing found", "nothing here")) for line in self.lines
        )


class Terminal:
    """A terminal of `COLUMNS` in an empty home; `export` lines hold for the lines after them."""

    def __init__(self, home: Path, *, colour: bool = False) -> None:
        self._home = home
        self._exports = ""
        bin = home / ".bin"
        bin.mkdir(parents=True)
        command = COMMAND.format(python=sys.executable, turns=str(bin / "turns"), start=START)
        (bin / "limpet").write_text(command, encoding="utf-8")
        (bin / "limpet").chmod(0o755)
        ours = ("LIMPET_", "XDG_", "NO_COLOR")
        kept = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
        self.environment = kept | {
            "HOME": str(home),
            "LIMPET_STORE": str(home / "memory.db"),
            "LIMPET_SCOPE": "project:shop",
            "PATH": os.pathsep.join((str(bin), str(Path(sys.executable).parent), kept["PATH"])),
            "COLUMNS": str(COLUMNS),
            "TERM": "xterm",
            "LIMPET_WORK": "off",  # what a worker does meanwhile would show or not
            "LIMPET_HOOK_SECONDS": "30",  # a busy machine is no reason for silence here
        }
        if not colour:
            self.environment["NO_COLOR"] = "1"

    def run(self, line: str) -> tuple[int, str]:
        """The exit code, and what the terminal shows."""
        if line.startswith("export "):
            self._exports += line + "\n"
        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, COLUMNS, 0, 0))
        running = subprocess.Popen(
            ["timeout", str(SECONDS), "bash", "-c", self._exports + line],
            env=self.environment, cwd=self._home, stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs,
        )  # fmt: skip
        os.close(theirs)
        said = b""
        while True:
            try:
                got = os.read(ours, 65536)
            except OSError:  # Linux, when the last writer has closed it
                break
            if not got:
                break
            said += got
        os.close(ours)
        text = said.decode(errors="replace").replace("\r\n", "\n").replace(str(self._home), HOME)
        return running.wait(), text


def examples(text: str) -> list[tuple[str, str, int]]:
    """Language, content and place of each block that can be run."""
    return [(found[1], found[2], found.start(2)) for found in BLOCK.finditer(text)]


def commands(text: str) -> list[Shown]:
    """The commands of a page in their order; a backslash at the end of a line continues it."""
    found = []
    for language, block, at in examples(text):
        if language != "console":
            continue
        typed, below, begin = "", [], at
        place = at
        more = False
        for line in block.splitlines(keepends=True):
            if more or line.startswith("$ "):
                if typed and not more:
                    found.append(Shown(typed, tuple(below), begin, place))
                    typed = ""
                typed += line.removesuffix("\n").removesuffix("\\").removeprefix("" if more else "$ ")
                more, below, begin = line.endswith("\\\n"), [], place + len(line)
            else:
                below.append(line.removesuffix("\n"))
            place += len(line)
        if typed:
            found.append(Shown(typed, tuple(below), begin, place))
    return found


def same(shown: tuple[str, ...], said: list[str]) -> bool:
    """Whether these lines show what was said."""
    if not any(REMARK.match(line) for line in shown):
        said = without_remarks(said)
    return _same(list(shown), said)


def _same(shown: list[str], said: list[str]) -> bool:
    if not shown:
        return not said
    if shown[0] == ANY:
        return any(_same(shown[1:], said[place:]) for place in range(len(said) + 1))
    return bool(said) and same_line(shown[0], said[0]) and _same(shown[1:], said[1:])


def same_line(shown: str, said: str) -> bool:
    """Whether it is the same line, but for small differences of scores, and for what `...` stands for."""
    if shown.endswith(ANY):
        return said.startswith(shown.removesuffix(ANY))
    if SCORE.sub("#", shown).split() != SCORE.sub("#", said).split():
        return False
    pairs = zip(SCORE.findall(shown), SCORE.findall(said), strict=True)
    return all(math.isclose(float(one), float(other), rel_tol=0.05, abs_tol=0.05) for one, other in pairs)


def without_remarks(said: list[str]) -> list[str]:
    return [line for line in said if not REMARK.match(line)]


def screen(said: str) -> list[str]:
    """The lines that a terminal has at the end, with their colours: progress has moved up and cleared its own."""
    rows, row = [""], 0
    for line in said.splitlines(keepends=True):
        place = 0
        for found in [*MOVED.finditer(line), None]:
            rows[row] += line[place : found.start() if found else len(line)].rstrip("\n")
            if not found:
                break
            place = found.end()
            if found[2] == "A":
                row = max(0, row - int(found[1] or 1))
            elif found[2] == "K" or found[3]:
                rows[row] = ""
        if line.endswith("\n"):
            row += 1
            rows += [""] * (row + 1 - len(rows))
    return [row.rstrip() for row in rows]


def lines(said: str) -> list[str]:
    """The same without colours, and without empty lines at the end."""
    return COLOUR.sub("", "\n".join(screen(said))).rstrip("\n").splitlines()


def written_anew(page: Path, home: Path) -> tuple[str, list[str]]:
    """The page with what its commands say now, and what is wrong with it as it is.

    Where `...` is shown nothing is written: a person chose what to leave out.
    """
    text = page.read_text(encoding="utf-8")
    terminal = Terminal(home)
    parts, done, wrong = [], 0, []
    for one in commands(text):
        code, said = terminal.run(one.line)
        told = lines(said)
        if code not in ((1, 2) if one.may_fail else (0,)):
            wrong.append(f"$ {one.line}\nended with {code}:\n{said}")
        if not one.lines or same(one.lines, told):
            continue
        wrong.append("\n".join([f"$ {one.line}", *one.lines, "-- but it says:", *told]))
        if not any(line.endswith(ANY) for line in one.lines):
            if not any(REMARK.match(line) for line in one.lines):
                told = without_remarks(told)
            parts += [text[done : one.at], "".join(f"{line}\n" for line in told)]
            done = one.end
    return "".join([*parts, text[done:]]), wrong


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m docs.console", description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--check", action="store_true", help="write nothing")
    parser.add_argument("pages", nargs="*", type=Path, help="default: all")
    args = parser.parse_args()
    left = 0
    for page in args.pages or PAGES:
        with tempfile.TemporaryDirectory() as home:
            new, wrong = written_anew(page, Path(home).resolve() / "home")
        for one in wrong:
            sys.stderr.write(f"{page}:\n{one}\n\n")
        left += len(wrong)
        if not args.check and new != page.read_text(encoding="utf-8"):
            page.write_text(new, encoding="utf-8", newline="\n")
    return 1 if left and args.check else 0


if __name__ == "__main__":
    sys.exit(main())
