"""Questions that work has, asked of histories that others wrote: `python -m benchmarks.work [work_a work_b] [--show]`.

Each of tests/quality/work/*_sessions.jsonl is written as Claude Code keeps its transcripts, read by `limpet start` into
a store of its own, and asked what stands in its *_questions.jsonl: by `recall --for error`, `audit` and
`recall --for how`. Right is: the session of the error first; its end (`ended_by`) in what is shown of it; the words
about a file among the first five beliefs; the command first, or (`among`) one of five; and where nothing answers, that
this is said.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from contextlib import redirect_stderr, redirect_stdout
from datetime import datetime
from pathlib import Path
from typing import Any

from limpet.cli.main import main as limpet
from tests import transcripts

DATA = Path(__file__).parent.parent / "tests" / "quality" / "work"


def steps(turns: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    """Return the turns of a session as tests/transcripts.py takes them."""
    made: list[tuple[Any, ...]] = []
    for turn in turns:
        if turn["speaker"] != "tool":
            made.append(("user" if turn["speaker"] == "user" else "agent", turn["text"]))
        elif turn.get("command"):
            made.append(("run", turn["command"], turn["text"], bool(turn.get("failed"))))
        elif turn.get("tool") in ("Edit", "Write"):
            made.append(("edit", turn["file"], turn["text"]))
    return made


def asked(*words: str) -> Any:
    """Return what a command answers as JSON."""
    out = io.StringIO()
    with redirect_stdout(out), redirect_stderr(io.StringIO()):
        limpet(["--json", *words])
    return [json.loads(line) for line in out.getvalue().splitlines()]


def measure(name: str, show: bool) -> Counter[str]:
    """Store one history and count what is answered rightly."""
    sessions = [json.loads(line) for line in (DATA / f"{name}_sessions.jsonl").read_text().splitlines()]
    questions = [json.loads(line) for line in (DATA / f"{name}_questions.jsonl").read_text().splitlines()]
    counts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory(prefix="limpet-work-") as folder:
        home, root = Path(folder) / "home", Path(folder) / "home" / "src" / "project"
        root.mkdir(parents=True)
        subprocess.run(["git", "init", "-q", "."], cwd=root, check=True)
        named = {turn["file"] for each in sessions for turn in each["turns"] if turn.get("file")}
        for file in {file.lstrip("./") for file in named if not file.startswith("/")}:
            (root / file).parent.mkdir(parents=True, exist_ok=True)
            (root / file).write_text("")
        slug = str(root).strip("/").replace("/", "-")
        log = home / ".claude" / "projects" / f"-{slug}"
        log.mkdir(parents=True)
        for number, each in enumerate(sessions):
            session = f"{number:08x}-0000-4000-8000-{number:012x}"
            each["id"] = session
            start = datetime.fromisoformat(f"{each['date']}T09:00:00+00:00")
            text = transcripts.claude(steps(each["turns"]), session=session, cwd=str(root), start=start)
            (log / f"{session}.jsonl").write_text(text)
        ids = {each["session"]: each["id"] for each in sessions}
        os.environ.update(HOME=str(home), LIMPET_STORE=f"{folder}/memory.db", LIMPET_WORK="off")
        os.chdir(root)
        sys.stdin = io.StringIO("y\n")
        asked("start")
        asked("work")
        for question in questions:
            kind, right = question["for"], False
            if kind == "file":
                found = asked("audit", question["ask"])
                shown = "\n".join(json.dumps(each, ensure_ascii=False) for each in found)
            else:
                answer = asked("recall", question["ask"], "--for", kind)
                found = {"commands": answer} if kind == "how" else answer[0]
                shown = json.dumps(found, ensure_ascii=False)
            words = json.dumps(question.get("words") or question.get("ended_by") or "", ensure_ascii=False)[1:-1]
            if not question["answer"]:
                right = not found if kind == "file" else not (found.get("items") or found.get("commands"))
                counts[f"{kind} none"] += 1
                counts[f"{kind} none right"] += right
            elif kind == "error":
                items = found.get("items", [])
                first = bool(items) and ids[question["session"]] in json.dumps(items[0])
                counts["error"] += 1
                counts["error right"] += first
                right = first and words in json.dumps(items[0], ensure_ascii=False)
                counts["end right"] += right
            else:
                counts[kind] += 1
                if kind == "how":
                    commands = [each["command"] for each in found.get("commands", [])]
                    right = bool(commands) and question["words"] in commands[0]
                    counts["how first"] += right
                    counts["how right"] += any(question["words"] in each for each in commands)
                else:
                    right = words in shown
                    counts["file right"] += right
            if show and not right:
                print(kind, "|", question["ask"][-150:], "|", words[:110], "|", shown[:400], "\n", flush=True)
    return counts


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", default=["work_a", "work_b"])
    parser.add_argument("--show", action="store_true", help="what was answered wrongly")
    args = parser.parse_args()
    for name in args.names:
        print(json.dumps({"history": name, **dict(sorted(measure(name, args.show).items()))}), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
