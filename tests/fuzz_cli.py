"""The command line as a target of the fuzz (`tests/fuzz.py`): every command, its own options, words and files, of which some are hostile.

Starting Python takes longer than most commands. So most inputs go to a fork of this process, which has the code loaded and
nothing open, and in the place of the model an embedder without cost; every COLD-th is a whole process, from the interpreter on.
"""

from __future__ import annotations

import json
import os
import pkgutil
import resource
import subprocess
import sys
import time
from contextlib import contextmanager, suppress
from functools import cache
from importlib import import_module

import limpet
from limpet.cli import start, verbs
from limpet.model.times import parse_time
from limpet.vectors import embedder
from tests.fuzz_inside import SEEDS, TRANSCRIPTS, Target, Words
from tests.fuzz_values import PLAIN, TIMES, damaged, sayable, text, value

COLD = 25
# Of the processor, after which a command is killed; a busy machine may take longer by the clock.
SECONDS = 60
# These do not end, or work for minutes; these change programs and time tables of the user, wherever HOME points.
LEFT_OUT = {"mcp", "serve", "ui", "install", "uninstall"}
OPTIONS_LEFT_OUT = {"--help", "--model"}
WATCHES = {("mirror", "watch")}
# Modules that need packages which nobody has to have.
WITH_OTHERS = (
    "limpet.features.adapters.",
    "limpet.features.postgres",
    "limpet.__main__",
    "limpet.features.web",
    "limpet.features.serve",
)
CODES = (0, 1, 2, 3, 141)


class Cli(Target):
    """An exit code of ours, and no traceback."""

    def __init__(self, folder):
        super().__init__(folder)
        self.number = 0
        self.here = folder / "a" / "b" / "c" / "d"  # what `../..` writes stays inside
        self.here.mkdir(parents=True)
        self.store = folder / "a" / "b" / "memory.db"
        load()
        with limpet.open(self.store, scope="project:x", embedder="words") as memory:
            memory.prepare("redis", lexical_only=True)
            self.ids = [memory.remember(one, topics=["deploys"], session="s1").id for one in PLAIN]
            memory.link(self.ids[0], "caused_by", self.ids[1])
            memory.remember("The limit of the api is 200", key="api.limit")
            memory.correct(self.ids[2], "Ana prefers spaces")
            memory.export_to("jsonl", self.here / "good.jsonl")
        self.files = [(name, seed) for name, _, seed in SEEDS.values()] + list(TRANSCRIPTS.items())
        self.files += [("good.jsonl", (self.here / "good.jsonl").read_bytes())]
        self.names = sorted({name for name, _ in self.files})
        self.parsers = {
            verb.name: [one for one in verbs.parser_of(verb)._actions if one.dest != "help"]
            for verb in verbs.table()
            if verb.name.split()[0] not in LEFT_OUT
        }

    def try_one(self, rng):
        name, seed = rng.choice(self.files)
        with suppress(OSError):
            (self.here / name).write_bytes(seed if rng.random() < 0.5 else damaged(seed, rng))
        words = self.words(rng)
        self.number += 1
        given = rng.choice(
            (
                b"",
                sayable(rng).encode(),
                json.dumps({"content": sayable(rng)}).encode() * 2,
                json.dumps(value(rng)).encode(),
                rng.randbytes(rng.randrange(200)),
            )
        )
        argv = [word.replace("\0", "").encode("utf-8", "surrogatepass") for word in words]
        argv = ["--store", str(self.store), *map(os.fsdecode, argv)]
        run = self.cold if self.number % COLD == 0 else self.forked
        code, said = run(argv, given)
        assert code in CODES, (argv, given[:300], code, said[-2_000:])
        assert b"Traceback" not in said and b"internal error" not in said, (argv, given[:300], said[-3_000:])
        return code == 0

    def words(self, rng):
        """A command with what it takes; some of it anything, some left out, something put in."""
        name = rng.choice(list(self.parsers))
        if rng.random() < 0.01:
            name = text(rng)[:1_000]
        options, after = [], []
        for one in self.parsers.get(name, ()):
            if not one.option_strings:
                least = 1 if one.nargs in (None, "+") else 0
                most = 3 if one.nargs in ("*", "+", "A...") else 1
                after += [self.word(rng, one, name) for _ in range(rng.randrange(least, most + 1))]
            elif rng.random() < 0.12 and not OPTIONS_LEFT_OUT & set(one.option_strings):
                options.append(rng.choice(one.option_strings))
                options += [self.word(rng, one, name)] if one.nargs != 0 else []
        words = [*after, *options] if rng.random() < 0.8 else [*options, *after]
        what = rng.randrange(20)
        if what == 0 and words:
            words.pop(rng.randrange(len(words)))
        elif what == 1:
            words.insert(rng.randrange(len(words) + 1), text(rng)[:20_000])
        elif what == 2:
            words.insert(rng.randrange(len(words) + 1), rng.choice(("--", "-", "--json", "-x", "--scope", "--no-such")))
        elif what == 3:
            rng.shuffle(words)
        words = [*name.split(" "), *words]
        return words if tuple(words[:2]) not in WATCHES and "watch" not in words else ["status"]

    def word(self, rng, one, name):
        if rng.random() < 0.12:
            return text(rng)[:20_000]
        if one.choices:
            return rng.choice(list(one.choices))
        if one.type in (int, float):
            return rng.choice(("0", "1", "5", "-1", "20", "0.5", "1e9", "1e999", "nan", "9" * 400, "100000"))
        dest = one.dest
        if dest in ("id", "ids", "a", "b", "because", "operation", "related", "what", "target") and rng.random() < 0.9:
            return rng.choice(self.ids)[: rng.choice((4, 8, 13, 36))]
        if dest in ("path", "paths", "dir", "folder", "source", "compare", "against", "export"):
            return rng.choice((*self.names, ".", "new.jsonl", "new", "..", "../memory.db", "/dev/null", "-"))
        if any(
            part in dest
            for part in ("since", "until", "as_of", "known", "valid", "start", "end", "before", "at", "for", "expires")
        ):
            return rng.choice(TIMES)
        if dest == "format":
            return rng.choice(
                (
                    "jsonl",
                    "memori",
                    "amem",
                    "pmb",
                    "mem0",
                    "mcp",
                    "markdown",
                    "chatgpt",
                    "claude",
                    "claude-memory",
                )
            )
        if dest == "type":
            return rng.choice(("caused_by", "supports", "contradicts"))
        if dest in ("client", "shell"):
            return rng.choice(("claude", "codex", "gemini", "bash"))
        if dest == "meta":
            return rng.choice(("a=1", "a", "a.b=x", "="))
        if dest == "change":
            return rng.choice(("+x", "-deploys", "a=1", "x"))
        return (
            sayable(rng) if rng.random() < 0.7 else rng.choice(("deploys", "s1", "api.limit", "project:x", "current"))
        )

    def cold(self, argv, given):
        argv = [sys.executable, "-m", "limpet", *argv]
        done = subprocess.run(
            argv,
            input=given,
            capture_output=True,
            timeout=10 * SECONDS,
            check=False,
            cwd=self.here,
            preexec_fn=_limited,
        )
        return done.returncode, done.stderr

    def forked(self, argv, given):
        """What `python -m limpet` does from `start.run` on."""
        (self.folder / "stdin").write_bytes(given)
        child = os.fork()
        if child == 0:
            self.be(argv)
        ends = time.monotonic() + 10 * SECONDS
        while (ended := os.waitpid(child, os.WNOHANG))[0] == 0:
            if time.monotonic() > ends:
                os.kill(child, 9)
                os.waitpid(child, 0)
                raise TimeoutError(argv)
            time.sleep(0.002)
        return os.waitstatus_to_exitcode(ended[1]), (self.folder / "stderr").read_bytes()

    def be(self, argv):
        """In the child: never returns."""
        code = 99
        try:
            _limited()
            os.chdir(self.here)
            os.environ["LIMPET_EMBEDDER"] = "words"
            for number, name, flags in (
                (0, "stdin", os.O_RDONLY),
                (1, "stdout", os.O_WRONLY),
                (2, "stderr", os.O_WRONLY),
            ):
                file = os.open(self.folder / name, flags | os.O_CREAT | (os.O_TRUNC if number else 0), 0o600)
                os.dup2(file, number)
            sys.stdin, sys.stdout, sys.stderr = (
                os.fdopen(number, mode) for number, mode in ((0, "r"), (1, "w"), (2, "w"))
            )
            sys.argv = ["limpet", *argv]
            try:
                start.run()
            except SystemExit as left:
                code = left.code if isinstance(left.code, int) else 0 if left.code is None else 1
            sys.stdout.flush()
            sys.stderr.flush()
        except BaseException:
            import traceback

            traceback.print_exc(file=sys.__stderr__ if sys.stderr.closed else sys.stderr)
            sys.stderr.flush()
        finally:
            os._exit(code)


def _limited():
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))


@cache
def load():
    """All code of ours that a command may need, once in a process."""
    embedder._loaded["words"] = embedder.guarded(Words())
    for one in pkgutil.walk_packages(limpet.__path__, "limpet."):
        if not one.name.startswith(WITH_OTHERS):
            import_module(one.name)
    parse_time("3 days ago", now=0)  # loads what reads times


@contextmanager
def _cli(folder, _):
    # No program but this interpreter is found: no time table, no other client, no git.
    before = os.environ["PATH"]
    os.environ |= {"PATH": str(folder / "none"), "HOME": str(folder / "home"), "XDG_DATA_HOME": str(folder / "data")}
    os.environ |= {"XDG_CONFIG_HOME": str(folder / "config")}
    try:
        yield Cli(folder)
    finally:
        os.environ["PATH"] = before


KINDS = {"cli": (_cli, 200, 10_000)}
