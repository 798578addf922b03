"""Read the hand-written sources and write memories.jsonl and questions.jsonl.

    python -m tests.quality.recall.make [--check]

A source is a project's notebook in a short notation; README.md explains it. Nothing is invented here: every text and every
question stands in a source as it is stored and asked. `--check` only says whether the JSONL files are current.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent
KINDS = {
    "f": "fact", "d": "decision", "i": "inference", "c": "correction", "s": "skill", "e": "episode",
    "p": "preference", "o": "opinion", "l": "lesson", "g": "goal", "n": "note",
}  # fmt: skip
CATEGORIES = {
    "m": "meaning", "i": "identifier", "k": "keyed fact", "c": "correction", "d": "date", "w": "why",
    "n": "near-duplicate", "q": "plain", "p": "preference", "0": "no answer, near miss", "00": "no answer, off topic",
}  # fmt: skip
LANGUAGES = {"shop": "korean", "iot": "chinese", "kiosk": "japanese", "lager": "german"}
# Whole projects are held back: nothing is tuned on them.
TUNING = ("api", "web", "infra", "shop", "iot", "global", "cms")
HELD_BACK = ("pay", "mobile", "ml", "kiosk", "lager")
# Questions about what is stored globally are asked from inside these projects.
ASKED_FROM = ("api", "web", "infra")
MINUTES_APART = 7

_MEMORY = re.compile(r"(?P<mark>[a-z=~])(?P<name>[\w.]*)(?:#(?P<handle>\w+))?(?P<rest>[^|]*)\| ?(?P<text>.+)", re.S)
_QUESTION = re.compile(r"\?(?P<category>00|[a-z0])(?P<other>l?)(?P<gold>[^|]*)\| ?(?P<text>.+)")


class Notebook:
    """One project's source, read line by line."""

    def __init__(self, project: str) -> None:
        self.project = project
        self.scope = "global" if project == "global" else f"project:{project}"
        self.half = "tuning" if project in TUNING else "held-back"
        self.memories: list[dict[str, Any]] = []
        self.questions: list[dict[str, Any]] = []
        self.handles: dict[str, str] = {}
        self.stored = self.asked = 0
        self.at = datetime(2026, 1, 1, tzinfo=UTC)
        self.session: str | None = None
        self.last = ""

    def read(self, path: Path) -> None:
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            try:
                self._line(line.rstrip())
            except (ValueError, KeyError) as error:
                raise SystemExit(f"{path.name}:{number}: {error!r}: {line[:80]}") from error

    def _line(self, line: str) -> None:
        if not line:
            return
        if line.startswith("@"):
            day, *session = line[1:].split()
            self.at = datetime.fromisoformat(day).replace(hour=9, tzinfo=UTC)
            self.session = session[0] if session else None
        elif line.startswith("?"):
            self._question(line)
        else:
            self._memory(line)

    def _memory(self, line: str) -> None:
        match = _MEMORY.fullmatch(line)
        if match is None:
            raise ValueError("not in the notation")
        mark, name, text = match["mark"], match["name"], match["text"].replace("\\n", "\n").strip()
        self.stored += 1
        self.at += timedelta(minutes=MINUTES_APART)
        id = f"{self.project}-{self.stored:03d}"
        memory: dict[str, Any] = {"id": id, "op": "remember", "scope": self.scope, "at": self.at.isoformat()}
        if mark == "=":
            memory |= {"op": "set_fact", "key": name, "content": text}
            self.handles[name] = id
        elif mark == "~":
            memory |= {"op": "correct", "corrects": self.handles[name], "content": text}
        elif name:
            raise ValueError(f"kind and then {name!r}")
        else:
            memory |= {"kind": KINDS[mark], "content": text}
            if mark == "p":
                memory["origin"] = "user"
        if self.session:
            memory["session"] = self.session
        for word in match["rest"].split():
            if word.startswith("t="):
                memory["topics"] = word[2:].split(",")
            elif word.startswith("x="):
                memory["valid_to"] = f"{word[2:]}T00:00:00+00:00"
            elif word.startswith("^"):
                memory["because"] = [self.handles[word[1:]]]
            else:
                raise ValueError(f"unknown attribute {word!r}")
        if match["handle"]:
            if match["handle"] in self.handles:
                raise ValueError("handle twice")
            self.handles[match["handle"]] = id
        self.memories.append(memory)
        self.last = id

    def _question(self, line: str) -> None:
        match = _QUESTION.fullmatch(line)
        if match is None:
            raise ValueError("not in the notation")
        self.asked += 1
        sign, gold, text = match["category"], match["gold"], match["text"].strip()
        language = LANGUAGES.get(self.project)
        if sign == "l":
            category = "across languages" if text.isascii() and language != "german" else f"{language}"
            if language == "german" and re.search(r"\b(what|of|which|the)\b", text):
                category = "across languages"
        else:
            category = CATEGORIES[sign]
        if sign.startswith("0"):
            wanted: list[str] = []
        elif gold.startswith("="):
            wanted = ["@" + one for one in gold[1:].split("+")]
        else:
            wanted = [self.last, *("@" + one for one in gold.split("+") if one)]
        asked_in = self.scope
        if self.project == "global":
            asked_in = f"project:{ASKED_FROM[self.asked % len(ASKED_FROM)]}"
        self.questions.append(
            {
                "id": f"{self.project}-q{self.asked:03d}",
                "half": self.half,
                "scope": asked_in,
                "category": category,
                "question": text,
                "gold": wanted,
            }
        )

    def resolve(self) -> None:
        """Handles in the questions become ids: a question may name what is written after it."""
        for question in self.questions:
            named = [self.handles[one[1:]] if one.startswith("@") else one for one in question["gold"]]
            question["gold"] = list(dict.fromkeys(named))
            # Keys are English: a question without a Latin letter crosses languages to reach them.
            keyed = any("key" in one for one in self.memories if one["id"] in named)
            if keyed and question["category"] in LANGUAGES.values() and not re.search("[A-Za-z]", question["question"]):
                question["category"] = "across languages"


def build() -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    memories: list[dict[str, Any]] = []
    questions: list[dict[str, Any]] = []
    for project in (*TUNING, *HELD_BACK):
        notebook = Notebook(project)
        for path in sorted((FOLDER / "sources").glob(f"{project}*.txt")):
            notebook.read(path)
        notebook.resolve()
        memories += notebook.memories
        questions += notebook.questions
    memories.sort(key=lambda one: one["at"])
    texts = [(one["scope"], one["content"], one.get("key")) for one in memories]
    twice = {one for one in texts if texts.count(one) > 1}
    asked = [(one["scope"], one["question"]) for one in questions]
    twice |= {one for one in asked if asked.count(one) > 1}
    if twice:
        raise SystemExit(f"written twice: {twice}")
    return memories, questions


def lines(rows: list[dict[str, Any]]) -> str:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    memories, questions = build()
    current = True
    for name, rows in (("memories.jsonl", memories), ("questions.jsonl", questions)):
        path, text = FOLDER / name, lines(rows)
        current &= path.exists() and path.read_text(encoding="utf-8") == text
        if not options.check:
            path.write_text(text, encoding="utf-8")
    unanswered = sum(not one["gold"] for one in questions)
    sys.stdout.write(f"{len(memories)} memories, {len(questions)} questions, {unanswered} without an answer\n")
    return 0 if current or not options.check else 1


if __name__ == "__main__":
    sys.exit(main())
