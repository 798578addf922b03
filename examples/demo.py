"""Two sessions of a coding agent, in separate processes, over one file: what the first learned, the second finds.

Run by `make demo`. It uses the real command line in a temporary home, shows every command with what it answers, checks
each answer, and ends with exit code 1 if one is not what it should be.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

WIDTH = 110
BOLD, GREEN, RED, CYAN = "1", "32", "1;31", "1;36"

LEARNED = [
    ("lesson", "The WAL deadlock in the sync job went away once every writer began with BEGIN IMMEDIATE", "sqlite"),
    ("decision", "We keep user uploads in S3 under eu-central-1 because of the data protection agreement", "storage"),
    ("preference", "Ana wants small pull requests, one concern each, with the test first", "review"),
    ("fact", "The staging API allows 100 requests a minute for each key", "api"),
    ("lesson", "Error E4211 from the payment gateway means the clock of the host is off by over a minute", "payments"),
    ("goal", "Move the nightly report from cron to the job queue before the March release", "reports"),
]


class StepError(Exception):
    """A command did not end with exit code 0: what follows would make no sense."""


class Demo:
    """Runs commands, shows them, and keeps count of what did not hold."""

    def __init__(self, home: Path) -> None:
        self.failures: list[str] = []
        hidden = {name: value for name, value in os.environ.items() if not name.startswith("LIMPET_")}
        self._environment = hidden | {
            "HOME": str(home),
            "XDG_DATA_HOME": str(home),
            "LIMPET_STORE": str(home / "memory.db"),
            "LIMPET_SCOPE": "project:demo",
            "COLUMNS": str(min(shutil.get_terminal_size((WIDTH, 24)).columns, WIDTH)),
        }

    def run(self, *words: str) -> str:
        """Run `limpet WORDS`, show the command and what it answers. Returns its stdout."""
        print(styled("$ limpet " + shlex.join(words), CYAN))
        done = self._limpet(*words)
        if shown := (done.stdout + done.stderr).rstrip():
            print(shown)
        print()
        _must_succeed(words, done)
        return done.stdout

    def ask(self, *words: str) -> Any:
        """The same command's `--json`, not shown: what the checks read."""
        done = self._limpet("--json", *words)
        _must_succeed(words, done)
        return json.loads(done.stdout)

    def check(self, what: str, holds: bool) -> None:
        print(styled(("  ok  " if holds else "  NOT ") + what, GREEN if holds else RED) + "\n")
        if not holds:
            self.failures.append(what)

    def _limpet(self, *words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "limpet", *words]
        return subprocess.run(
            command, env=self._environment, capture_output=True, text=True, encoding="utf-8", check=False, timeout=60
        )


def _must_succeed(words: tuple[str, ...], done: subprocess.CompletedProcess[str]) -> None:
    if done.returncode:
        raise StepError(f"limpet {shlex.join(words)}: exit {done.returncode}: {done.stderr.strip()}")


def title(words: str) -> None:
    print(f"{styled(words, BOLD)}\n{'=' * len(words)}\n")


def styled(text: str, style: str) -> str:
    return f"\033[{style}m{text}\033[0m" if sys.stdout.isatty() else text


def contents(answer: Any) -> list[str]:
    return [item["content"] for item in answer["items"]]


def first_session(demo: Demo) -> None:
    title("Session one: an agent works, and stores what it learns")
    for kind, content, topic in LEARNED:
        demo.run("remember", content, "--kind", kind, "--topic", topic, "--session", "monday")
    demo.run("work")
    demo.check("six memories are stored", demo.ask("list", "--count") == {"count": len(LEARNED)})


def second_session(demo: Demo) -> None:
    title("Session two: other processes, the same file. By meaning: no word of the question is in the memory")
    meaning = ("recall", "where do customer files live?", "-k", "2")
    demo.run(*meaning)
    found = demo.ask(*meaning)
    demo.check("the decision about S3 comes first", contents(found)[:1] == [LEARNED[1][1]])
    demo.check("every signal took part", not found["missing"])

    title("By exact word: an error code from a log")
    exact = ("recall", "E4211", "-k", "1")
    demo.run(*exact)
    demo.check("the lesson about the gateway comes first", contents(demo.ask(*exact))[:1] == [LEARNED[4][1]])


def correction(demo: Demo) -> None:
    title("A fact changes: it is corrected, and what was believed before stays readable")
    limit = ("recall", "staging API rate limit", "-k", "1")
    old = demo.ask(*limit)["items"][0]
    demo.check("the old limit is what is known", old["content"] == LEARNED[3][1])
    before = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + 1))
    time.sleep(2.1)  # so that "before" is a whole second between the two beliefs
    new = "The staging API allows 1000 requests a minute for each key since the gateway was upgraded"
    demo.run("correct", old["id"], new, "--why", "the gateway was upgraded")
    demo.run("work")
    demo.run(*limit)
    now = contents(demo.ask(*limit))
    demo.check("the new limit is on top, the old one is gone", now == [new])
    demo.run(*limit, "--known-at", before)
    then = contents(demo.ask(*limit, "--known-at", before))
    demo.check("as known before the correction, the old limit is the answer", then == [LEARNED[3][1]])


def trace(demo: Demo) -> None:
    title("Why this result: the trace of its score")
    explained = ("recall", "database deadlock when several writers sync", "-k", "1", "--explain")
    demo.run(*explained)
    item = demo.ask(*explained)["items"][0]
    demo.check("the lesson about BEGIN IMMEDIATE comes first", item["content"] == LEARNED[0][1])
    demo.check("its trace names the signals", {"lexical", "vector"} <= set(item.get("why", {}).get("signals", {})))


def main() -> int:
    started = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="limpet-demo-") as home:
        demo = Demo(Path(home))
        try:
            for step in (first_session, second_session, correction, trace):
                step(demo)
        except StepError as failure:
            demo.failures.append(str(failure))
        size = sum(part.stat().st_size for part in Path(home).glob("memory.db*"))
    took = time.perf_counter() - started
    if demo.failures:
        title("Not as it should be:\n" + "\n".join(f"- {failure}" for failure in demo.failures))
        return 1
    title(f"Done in {took:.0f} s: one file of {size // 1024} KB, no network, no key, no daemon")
    return 0


if __name__ == "__main__":
    sys.exit(main())
