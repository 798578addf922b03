"""What `limpet start` costs on a machine with a history: 400 transcripts of six clients, 160 MB.

python -m benchmarks.starting [--transcripts 400] [--megabytes 160] [--record]

The folder is written first, in the forms in which the clients write: resumed, forked and compacted conversations, one
of 15 MB, blocks that limpet put in, secrets, pasted mails. Then it is read once without a stop, and into another store
while the process is killed five times.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from tests import transcripts

from .harness import provenance, save

CLIENTS = ("claude", "claude", "claude", "codex", "codex", "gemini", "copilot", "cursor", "opencode")
PROJECTS = 12
DAYS, RECENT_DAYS = 180, 30
SECRET = "ghp_R4nD0mT0kEnF0rTh3B3nchmark0123456789"
BLOCK = "<limpet-memory>\n- [19y93r | lesson] Deploys hang when the VPN is down\n</limpet-memory>\n"
MAIL = "From: Ana Lima <ana@example.org>\nTo: ops@example.org\nSubject: invoice\n\nPlease pay it by Friday, number {}."
TALK = """
billing queue worker deploy index schema cache retry timeout branch merge review build module parser session
vector store ledger event scope filter reader writer socket thread lock commit page table column query plan cost
limit budget clock date zone locale string bytes buffer stream file folder path link hash digest value config
server client request response header body route handler test fixture mock suite coverage lint format type check
"""
WORDS = TALK.split()


class Written:
    """What was written: the tags of turns that must be found, each once, and of the recent ones the first and last."""

    def __init__(self) -> None:
        self.tags: list[str] = []
        self.recent: list[str] = []
        self.bytes = self.files = 0


def steps_of(rng: random.Random, size: int, tag: str, tags: list[str]) -> list[tuple[Any, ...]]:
    """A conversation of about `size` characters, most of them output of tools, as it is with real ones."""
    steps: list[tuple[Any, ...]] = []

    def words(count: int) -> str:
        """Words that read like sentences: strings of plain nouns would be taken for passphrases."""
        nouns = iter(rng.choices(WORDS, k=max(2, count // 3)))
        return " and ".join(f"the {noun} of the {next(nouns, 'rest')} was slow" for noun in nouns)

    def said(who: str, text: str) -> None:
        tags.append(f"{tag}t{len(steps)}")
        steps.append((who, f"{text} {tags[-1]}"))

    total = 0
    while total < size:
        extra = rng.random()
        said("user", f"{BLOCK}{words(20)}" if extra < 0.2 else f"{SECRET} was in the log. {words(40)}"
             if extra < 0.25 else words(rng.randint(4, 40)))  # fmt: skip
        if extra > 0.95:
            steps.append(("user", f"have a look at this {tag}m{len(steps)}\n\n{MAIL.format(rng.randint(1, 10**6))}"))
        for _ in range(rng.randint(2, 5)):
            output = "\n".join(" ".join(rng.choices(WORDS, k=12)) for _ in range(rng.randint(5, 200)))
            steps.append(("run", f"make {rng.choice(WORDS)}", output, rng.random() < 0.1))
            total += len(output)
            if rng.random() < 0.6:
                said("agent", f"{words(rng.randint(8, 60)).capitalize()}.")
        said("agent", f"{words(rng.randint(30, 120)).capitalize()}.")
    return steps


def write(home: Path, count: int, megabytes: int, now: datetime) -> Written:
    """Write the histories of `count` conversations below `home`."""
    rng, made = random.Random(43), Written()
    folders = [home / "src" / f"project{number}" for number in range(PROJECTS)]
    for folder in folders:
        (folder / ".git").mkdir(parents=True)
    per_file = megabytes * 600_000 // count  # clients write an output twice, and JSON takes more
    for number in range(count):
        client, folder = CLIENTS[number % len(CLIENTS)], folders[rng.randrange(PROJECTS)]
        at = now - timedelta(days=DAYS * number / count, hours=2)
        tags: list[str] = []
        size = 7_500_000 if number == 5 * len(CLIENTS) else int(per_file * rng.uniform(0.3, 1.5))
        steps = steps_of(rng, size, f"q{number:04d}", tags)
        made.tags += tags
        if number < count * RECENT_DAYS // DAYS:
            made.recent += [tags[0], tags[-1]]
        begin = at - timedelta(seconds=30 * len(steps))
        session = f"{number:08x}-0000-4000-8000-{number:012x}"
        slug = str(folder).strip("/").replace("/", "-")
        given: dict[str, Any] = {"session": session, "start": begin}
        if client == "opencode":
            path = home / ".local/share/opencode/opencode.db"
            path.parent.mkdir(parents=True, exist_ok=True)
            transcripts.opencode(path, steps, cwd=str(folder), **given)
            continue
        if client == "claude":
            text = transcripts.claude(steps, cwd=str(folder), **given)
            files = {f".claude/projects/-{slug}/{session}.jsonl": text}
            if number % 5 == 0:  # forked: a copy under another id, which goes on
                other = session.replace("-0000-", "-000f-")
                more: list[str] = []
                tail = transcripts.claude(steps_of(rng, 2_000, f"f{number:04d}", more), session=other, start=at)
                files[f".claude/projects/-{slug}/{other}.jsonl"] = text.replace(session, other) + tail.replace(
                    "/home/ana/src/shop", str(folder)
                )
                made.tags += more
        elif client == "codex":
            text = transcripts.codex(steps, cwd=str(folder), **given)
            day = begin.strftime("%Y/%m/%d")
            files = {f".codex/sessions/{day}/rollout-{number}.jsonl": text}
            if number % 4 == 0:  # forked: the copies have the time of the copying
                head, rows = json.loads(text.splitlines()[0]), text.splitlines()
                fork = {**head, "payload": {**head["payload"], "id": f"fork-{number}", "forked_from_id": session}}
                moved = [json.dumps({**json.loads(row), "timestamp": at.isoformat()}) for row in rows]
                files[f".codex/sessions/{day}/rollout-{number}f.jsonl"] = "\n".join([json.dumps(fork), *moved]) + "\n"
        elif client == "gemini":
            files = {f".gemini/tmp/{folder.name}/chats/session-{number}.jsonl": transcripts.gemini(steps, **given)}
            (home / f".gemini/tmp/{folder.name}/chats").mkdir(parents=True, exist_ok=True)
            (home / f".gemini/tmp/{folder.name}/.project_root").write_text(str(folder))
        elif client == "copilot":
            text = transcripts.copilot(steps, cwd=str(folder), **given)
            files = {f".copilot/session-state/{session}/events.jsonl": text}
        else:
            files = {f".cursor/projects/{slug}/agent-transcripts/{session}.jsonl": transcripts.cursor(steps)}
        for name, text in files.items():
            path = home / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
            os.utime(path, (at.timestamp(), at.timestamp()))
            made.files += 1
    made.bytes = sum(path.stat().st_size for path in home.rglob("*") if path.is_file())
    return made


class Reading:
    """A `limpet start` in a process of its own."""

    def __init__(self, home: Path, store: Path) -> None:
        environment = {**os.environ, "HOME": str(home), "LIMPET_STORE": str(store), "LIMPET_WORK": "off"}
        for name in ("LIMPET_SCOPE", "XDG_DATA_HOME"):
            environment.pop(name, None)
        self.began = time.monotonic()
        self.process = subprocess.Popen(
            [sys.executable, "-m", "limpet", "--json", "start"], env=environment, stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, text=True, start_new_session=True,
        )  # fmt: skip
        assert self.process.stdin is not None
        self.process.stdin.write("y\n")
        self.process.stdin.close()

    def seconds(self) -> float:
        return round(time.monotonic() - self.began, 1)

    def peak_mb(self) -> float:
        try:
            status = Path(f"/proc/{self.process.pid}/status").read_text()
        except OSError:
            return 0.0
        return next((int(line.split()[1]) / 1e3 for line in status.splitlines() if line.startswith("VmHWM")), 0.0)


def contents(store: Path) -> list[tuple[str, str]]:
    """All turns that are held, with their sessions."""
    import apsw

    con = apsw.Connection(str(store), flags=apsw.SQLITE_OPEN_READONLY)
    return list(con.execute(
        "SELECT b.content, e.name FROM memory m JOIN body b ON b.num = m.body LEFT JOIN session e ON e.num = m.session"
        " WHERE m.retired_at IS NULL AND m.state = 'active'"
    ))  # fmt: skip


def found_by_words(store: Path, tag: str) -> bool:
    import limpet

    with limpet.open(store, scope="global", read_only=True) as memory:
        return any(tag in item.content for item in memory.in_all_scopes().recall(tag, k=3, lexical_only=True).items)


def measure(home: Path, made: Written, folder: Path) -> dict[str, Any]:
    """The figures of a reading without a stop, of one that is killed five times, and of what both hold."""
    import limpet

    store, peak, recent = folder / "one.db", 0.0, 0.0
    reading = Reading(home, store)
    waiting = set(made.recent)
    while reading.process.poll() is None:
        peak = max(peak, reading.peak_mb())
        if store.exists() and waiting:
            try:
                held = "\n".join(content for content, _ in contents(store))
            except Exception:  # the store begins
                held = ""
            waiting = {tag for tag in waiting if tag not in held}
            if not waiting and all(found_by_words(store, tag) for tag in made.recent[:5]):
                recent = reading.seconds()
        time.sleep(1.0)
    whole = reading.seconds()
    report = json.loads(reading.process.stdout.read() or "{}")  # type: ignore[union-attr]
    first = contents(store)

    killed = folder / "killed.db"
    rng = random.Random(5)
    for _ in range(5):
        part = Reading(home, killed)
        time.sleep(rng.uniform(0.05, 0.15) * whole)
        if part.process.poll() is None:
            os.killpg(part.process.pid, signal.SIGKILL)
        part.process.wait()
    Reading(home, killed).process.wait()
    again = contents(killed)

    written = set(made.tags)
    tags = Counter(word for content, _ in first for word in content.split() if word in written)
    with limpet.open(store, scope="global") as memory:
        memory.work(limit=20, only_vectors=True)  # the model is loaded
        begun, spent = time.monotonic(), time.process_time()
        done = memory.work(limit=300, only_vectors=True).done
        vectors = {"of_time": done / (time.monotonic() - begun), "of_processor": done / (time.process_time() - spent)}
        begun = time.monotonic()
        taken = len(memory.undo(report["operation"]))
        undo = round(time.monotonic() - begun, 1)
    with limpet.open(killed, scope="global") as memory:
        memory.undo()
    return {
        "transcripts": made.files, "megabytes": round(made.bytes / 1e6), "turns": len(first),
        "recent_seconds": recent, "whole_seconds": whole, "peak_mb": round(peak),
        "vectors_a_second": {name: round(rate) for name, rate in vectors.items()},
        "missing": sum(tag not in tags for tag in made.tags),
        "twice": sum(count > 1 for count in tags.values()), "killed_is_the_same": Counter(first) == Counter(again),
        "own_blocks": sum("limpet-memory" in content or "VPN is down" in content for content, _ in first),
        "secrets": sum(SECRET in content for content, _ in first), "redacted": report.get("redacted"),
        "left_by_undo": len(contents(store)) + len(contents(killed)), "undone": taken, "undo_seconds": undo,
        "notes": report.get("notes"),
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--transcripts", type=int, default=400)
    parser.add_argument("--megabytes", type=int, default=160)
    parser.add_argument("--record", action="store_true", help="keep the figures in benchmarks/results/")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="limpet-starting-") as name:
        folder = Path(name)
        made = write(folder / "home", args.transcripts, args.megabytes, datetime.now(UTC))
        figures = measure(folder / "home", made, folder)
    print(json.dumps(figures, indent=1))
    save("starting", {"benchmark": "starting", "provenance": provenance(), "figures": figures}, out=None,
         keep=args.record)  # fmt: skip


if __name__ == "__main__":
    main()
