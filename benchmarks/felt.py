"""Time what a user waits for: whole calls by text, models included, and whole processes.

    make felt                     # or: python -m benchmarks.felt [--turns 1000] [--turns 10000] [--record]

Stores the first turns of the written long chats (training/long_chats*.jsonl) and asks their questions. No question is
asked twice, so no cache helps. Times are medians, or median and 95th percentile, in milliseconds, beside those of
`python -c pass` in the same run. README and docs/performance.md are written from a recorded run. Run it on a quiet
machine: the load at its beginning is on the page.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import limpet

from .harness import ROOT, provenance, save

CHATS = ("long_chats.jsonl", "long_chats_held_back.jsonl")
RECALLS, BRIEFS, WRITES, PROCESSES = 60, 30, 60, 9
README, PERFORMANCE = ROOT / "README.md", ROOT / "docs" / "performance.md"
BEGIN, END = "<!-- made by make felt -->", "<!-- end -->"
# Key of a figure -> what the page calls it.
NAMES = {
    "recall": "recall by text, in a running process",
    "recall_without_judge": "the same without the judge",
    "prepare": "`prepare`, what a hook injects",
    "mcp_recall": "recall over MCP",
    "mcp_recall_without_judge": "the same without the judge",
    "remember": "remember, durable",
    "python": "`python -c pass`",
    "version": "`limpet version`",
    "list": "`limpet list`",
    "remember_command": "`limpet remember`",
    "recall_by_words": "`limpet recall --lexical`",
    "recall_by_meaning": "`limpet recall`, loading the models",
    "recall_beside_server": "`limpet recall` beside a running server",
    "message_hook_beside_server": "message hook beside a running server",
    "message_hook_without_judge": "the same without the judge",
    "message_hook": "message hook without a server",
    "tool_hook_beside_server": "tool hook beside a running server",
    "tool_hook": "tool hook without one",
    "mcp_resident_mb": "MCP server after 60 recalls, MB",
}


# Of these, what the README has.
SHORT = (
    "recall", "recall_without_judge", "prepare", "remember", "python", "list", "remember_command",
    "message_hook_beside_server", "mcp_resident_mb",
)  # fmt: skip


def chats() -> tuple[list[dict[str, Any]], list[str]]:
    """Turns as statements of sessions, and questions about them."""
    turns, questions = [], []
    for name in CHATS:
        for line in (ROOT / "training" / name).read_text(encoding="utf-8").splitlines():
            store = json.loads(line)
            questions += [asked["q"] for asked in store["questions"]]
            turns += [
                {"content": turn["text"], "kind": "episode", "session": store["id"], "speaker": turn["speaker"]}
                for turn in store["memories"]
            ]
    return turns, questions


def took(calls: Sequence[Callable[[], object]]) -> list[float]:
    """Milliseconds of each call."""
    times = []
    for call in calls:
        started = time.perf_counter()
        call()
        times.append(1e3 * (time.perf_counter() - started))
    return times


def spread(times: Sequence[float]) -> list[float]:
    return [round(statistics.median(times), 1), round(sorted(times)[int(0.95 * len(times))], 1)]


class Processes:
    """limpet's command line over one store, in a home of its own."""

    def __init__(self, folder: Path, store: Path) -> None:
        self.folder = folder
        self.command = [str(Path(sys.executable).with_name("limpet")), "--store", str(store), "--scope", "global"]
        own = {"HOME": folder, "XDG_DATA_HOME": folder, "XDG_STATE_HOME": folder, "XDG_RUNTIME_DIR": folder}
        self.environment = {**os.environ, **{name: str(value) for name, value in own.items()}}
        self.environment.pop("PYTHONDONTWRITEBYTECODE", None)

    def median(self, *words: str, stdin: Callable[[], str] = str, whole: Sequence[str] | None = None) -> float:
        """Median milliseconds of a process, after one that warms the disk's cache."""

        def run() -> None:
            command = whole or [*self.command, *words]
            subprocess.run(
                command, input=stdin(), capture_output=True, text=True, env=self.environment, cwd=self.folder,
                check=False,
            )  # fmt: skip

        run()
        return round(statistics.median(took([run] * PROCESSES)), 1)

    def server(self) -> Server:
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
        return Server(
            subprocess.Popen([*self.command, "mcp"], env=self.environment, cwd=self.folder, **pipes)  # type: ignore[call-overload]
        )


class Server:
    """An MCP server over stdin and stdout."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process, self.number = process, 0
        about = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "felt", "version": "1"}}
        self.call("initialize", about)
        self._send({"method": "notifications/initialized"})

    def _send(self, message: dict[str, Any]) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        self.process.stdin.flush()

    def call(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        assert self.process.stdout is not None
        self.number += 1
        self._send({"id": self.number, "method": method, "params": params})
        for line in self.process.stdout:
            answer: dict[str, Any] = json.loads(line)
            if answer.get("id") == self.number:
                return answer
        raise SystemExit("the MCP server ended")

    def recall(self, question: str) -> object:
        return self.call("tools/call", {"name": "recall", "arguments": {"query": question}})

    def resident_mb(self) -> int | None:
        status = Path(f"/proc/{self.process.pid}/status")
        if not status.exists():
            return None
        line = next(line for line in status.read_text(encoding="utf-8").splitlines() if line.startswith("VmRSS"))
        return round(int(line.split()[1]) / 1024)

    def close(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait(timeout=30)


def measure(turns: list[dict[str, Any]], ask: Iterator[str], *, whole: bool) -> dict[str, Any]:
    """All figures over a store of these turns; without `whole` those of a running process alone."""
    figures: dict[str, Any] = {}

    def some(count: int) -> list[str]:
        return [next(ask) for _ in range(count)]

    with tempfile.TemporaryDirectory(prefix="limpet-felt-", ignore_cleanup_errors=True) as place:
        folder = Path(place)
        store = folder / "m.db"
        for judge in (True, False):
            with limpet.open(store, scope="global", **({} if judge else {"judge": False})) as memory:
                if judge:
                    memory.remember_batch(turns)
                    memory.work()
                for question in some(8):
                    memory.recall(question)
                name = "recall" if judge else "recall_without_judge"
                figures[name] = spread(took([lambda q=q: memory.recall(q) for q in some(RECALLS)]))
                if judge:
                    figures["prepare"] = spread(took([lambda q=q: memory.prepare(q) for q in some(BRIEFS)]))
                    notes = [f"Note {n}: build {n} of project {n % 7} failed in step {n % 11}" for n in range(WRITES)]
                    figures["remember"] = spread(took([lambda text=text: memory.remember(text) for text in notes]))
        run = Processes(folder, store)
        server = run.server()
        for question in some(8):
            server.recall(question)
        figures["mcp_recall"] = spread(took([lambda q=q: server.recall(q) for q in some(RECALLS)]))
        figures["mcp_resident_mb"] = server.resident_mb()
        if whole:

            def message() -> str:
                event = {"session_id": "s", "hook_event_name": "UserPromptSubmit", "prompt": next(ask)}
                return json.dumps(event | {"cwd": place, "transcript_path": ""})

            tool = json.dumps(
                {"session_id": "s", "hook_event_name": "PostToolUse", "tool_name": "Bash", "cwd": place,
                 "tool_input": {"command": "pytest -q"}, "tool_response": {"stdout": "1 failed"}}
            )  # fmt: skip
            figures["message_hook_beside_server"] = run.median("hook", "claude", "UserPromptSubmit", stdin=message)
            figures["recall_beside_server"] = run.median("recall", "where did they go on holiday?")
            figures["tool_hook_beside_server"] = run.median("hook", "claude", "PostToolUse", stdin=lambda: tool)
            server.close()
            run.environment["LIMPET_JUDGE"] = "off"
            server = run.server()
            for question in some(8):
                server.recall(question)
            figures["mcp_recall_without_judge"] = spread(took([lambda q=q: server.recall(q) for q in some(RECALLS)]))
            figures["message_hook_without_judge"] = run.median("hook", "claude", "UserPromptSubmit", stdin=message)
            server.close()
            del run.environment["LIMPET_JUDGE"]
            figures["python"] = run.median(whole=[sys.executable, "-c", "pass"])
            figures["version"] = run.median(whole=[run.command[0], "version"])
            figures["list"] = run.median("list", "--limit", "10")
            figures["remember_command"] = run.median("remember", "a note")
            figures["recall_by_words"] = run.median("recall", "--lexical", "the beach")
            figures["recall_by_meaning"] = run.median("recall", "where did they go on holiday?")
            figures["message_hook"] = run.median("hook", "claude", "UserPromptSubmit", stdin=message)
            figures["tool_hook"] = run.median("hook", "claude", "PostToolUse", stdin=lambda: tool)
        else:
            server.close()
    return figures


def processor() -> str:
    """The processor's name, and whether it multiplies 8-bit numbers by an instruction of its own (VNNI)."""
    info = Path("/proc/cpuinfo")
    if not info.exists():
        return platform.processor() or platform.machine()
    text = info.read_text(encoding="utf-8")
    names = [line.partition(":")[2].strip() for line in text.splitlines() if line.startswith("model name")]
    return f"{names[0] if names else platform.machine()}, {'with' if 'vnni' in text else 'without'} VNNI"


def page(record: dict[str, Any], keys: Collection[str]) -> str:
    """The table of some figures."""
    sizes, about = list(record["figures"]), record["provenance"]
    lines = ["| ms, median / 95th percentile | " + " | ".join(f"{int(size):,} memories" for size in sizes) + " |"]
    lines.append("|---|" + "---:|" * len(sizes))
    for key, name in NAMES.items():
        values = [record["figures"][size].get(key) if key in keys else None for size in sizes]
        if any(value is not None for value in values):
            lines.append(f"| {name} | " + " | ".join(map(_cell, values)) + " |")
    made = f"{record['processor']}, {about['machine']}, {about['at'][:10]}, load {about['load_1min']} at the beginning."
    return "\n".join(lines) + f"\n\nWhole calls by text with the models in the package, no question twice: {made}"


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return " / ".join(map(str, value)) if isinstance(value, list) else str(value)


def write(record: dict[str, Any]) -> None:
    for path, keys in ((README, SHORT), (PERFORMANCE, tuple(NAMES))):
        before, _, rest = path.read_text(encoding="utf-8").partition(BEGIN)
        if rest:
            table = page(record, keys)
            path.write_text(f"{before}{BEGIN}\n\n{table}\n\n{END}{rest.partition(END)[2]}", encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turns", type=int, action="append", help="sizes of the store (1000, 10000)")
    parser.add_argument("--json", metavar="OUT", help="write the figures here")
    parser.add_argument(
        "--record", action="store_true", help="keep the figures in benchmarks/results/ and write the pages"
    )
    options = parser.parse_args()
    about = provenance()
    turns, questions = chats()
    # In the order of the chats: the first are about turns that are stored.
    figures, ask = {}, iter(dict.fromkeys(questions))
    for number, size in enumerate(options.turns or [1000, 10_000]):
        figures[str(size)] = measure(list(chain(turns))[:size], ask, whole=number == 0)
        print(size, json.dumps(figures[str(size)], indent=1))
    record = {"benchmark": "felt", "provenance": about, "processor": processor(), "figures": figures}
    save("felt", record, out=options.json, keep=options.record)
    if options.record:
        write(record)


if __name__ == "__main__":
    main()
