"""What a hook adds to a message: the memory that helps, or nothing. Over tests/quality/injection.

    python -m benchmarks.injection [--half tuning|held_back] [--cold] [--embedder NAME] [--misses] [--json OUT]
                                   [--record]

Through the hook itself, as Claude Code calls it at every message: with a running limpet process (by meaning), or
`--cold` without one (by words alone). Each message is in a session of its own; and once more in sessions of 20, as
people work: what a turn adds there, and how many memories come a second time.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections import defaultdict
from pathlib import Path
from statistics import median
from typing import Any

import limpet
from limpet.agents.hooks.entry import handle
from limpet.settings import DEFAULT_EMBEDDER

from .harness import ROOT, provenance, save

SET = ROOT / "tests" / "quality" / "injection"
# Turns of a session, and the bars of what is measured over them.
TURNS, MOST_TOKENS_A_TURN, MOST_REPEATS = 20, 120, 0
ASKED_AT = "2026-12-01T09:00:00Z"  # after everything was stored
CHARACTERS_PER_TOKEN = 4


def fill(memory: limpet.Limpet, clock: limpet.FixedClock, memories: list[dict[str, Any]]) -> dict[str, str]:
    """Stores them in the order of their dates; set id -> text."""
    for one in sorted(memories, key=lambda one: one["date"]):
        clock.set(f"{one['date']}T10:00:00Z")
        given = {name: one[name] for name in ("kind", "topics", "origin", "speaker") if one.get(name)}
        memory.remember(one["text"], **given)
    clock.set(ASKED_AT)
    memory.work()
    return {one["id"]: one["text"] for one in memories}


def measured(embedder: Any, *, cold: bool = False, half: str | None = None) -> list[dict[str, Any]]:
    """Each message (of `half` alone, if one is named) with what was added: `right` (one that it wants was), `added`
    (anything was), `tokens`; and in a session of TURNS `turn_tokens` and `repeats`, memories shown in it before.
    """
    prompts = [json.loads(line) for line in (SET / "prompts.jsonl").read_text("utf-8").splitlines()]
    found = []
    for store in json.loads((SET / "stores.json").read_text("utf-8")):
        with tempfile.TemporaryDirectory(prefix="limpet-") as folder:
            path, clock = Path(folder) / "memory.db", limpet.FixedClock(ASKED_AT)
            with limpet.open(path, scope="global", clock=clock, embedder=embedder, judge=True) as memory:
                texts = fill(memory, clock, store["memories"])
                warm = None if cold else memory
                if not cold:
                    memory.recall("a first question loads the models")
                here = [one for one in prompts if one["store"] == store["name"] and half in (None, one["half"])]
                alone = [one | _judged(_said(path, one["id"], one["prompt"], clock, warm), one, texts) for one in here]
                shown: dict[str, set[str]] = defaultdict(set)
                for number, one in enumerate(alone):
                    session = f"session {number // TURNS}"
                    turn = _judged(_said(path, session, one["prompt"], clock, warm), one, texts)
                    repeats = len(shown[session] & set(turn["shown"]))
                    shown[session] |= set(turn["shown"])
                    found.append(one | {"turn_tokens": turn["tokens"], "repeats": repeats})
    return found


def _said(path: Path, session: str, prompt: str, clock: limpet.FixedClock, warm: limpet.Limpet | None) -> str:
    event = {"session_id": session, "cwd": str(path.parent), "prompt": prompt}
    argv = ["claude", "UserPromptSubmit", "--store", str(path), "--scope", "global"]
    return handle(argv, json.dumps(event).encode(), clock, warm).decode()


def _judged(said: str, one: dict[str, Any], texts: dict[str, str]) -> dict[str, Any]:
    block = json.loads(said)["hookSpecificOutput"]["additionalContext"] if said else ""
    shown = [id for id, text in texts.items() if " ".join(text.split())[:60] in block]
    return {
        "shown": shown,
        "right": bool(set(shown) & set(one["wants"])),
        "added": bool(block),
        "tokens": len(block) / CHARACTERS_PER_TOKEN,
    }


def summary(rows: list[dict[str, Any]]) -> dict[str, float]:
    """Shares: right where something is wanted, nothing where nothing is; medians of the tokens added."""
    wanting, idle = [one for one in rows if one["wants"]], [one for one in rows if not one["wants"]]
    shown = [len(set(one["shown"])) for one in rows if one["added"]]
    good = [len(set(one["shown"]) & set(one["wants"])) for one in rows if one["added"]]
    return {
        "right": sum(one["right"] for one in wanting) / max(1, len(wanting)),
        "nothing": sum(not one["added"] for one in idle) / max(1, len(idle)),
        "precision": sum(good) / max(1, sum(shown)),
        "tokens": median(one["tokens"] for one in rows),
        "turn_tokens": median(one["turn_tokens"] for one in rows),
        "repeats": sum(one["repeats"] for one in rows),
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--half", choices=("tuning", "held_back"), help="only this; by sort too, of the tuning half")
    parser.add_argument("--cold", action="store_true", help="without a running process")
    parser.add_argument("--embedder", default=DEFAULT_EMBEDDER)
    parser.add_argument("--misses", action="store_true", help="print what went wrong in the tuning half")
    parser.add_argument("--json", metavar="OUT")
    parser.add_argument("--record", action="store_true", help="keep the result in benchmarks/results/")
    options = parser.parse_args()
    rows = measured(options.embedder, cold=options.cold)
    figures: dict[str, Any] = {}
    for half in (options.half,) if options.half else ("tuning", "held_back"):
        part = [one for one in rows if one["half"] == half]
        groups: dict[str, list[dict[str, Any]]] = defaultdict(list)
        for one in part:
            groups["all"].append(one)
            groups[one["store"]].append(one)
            if half == "tuning":
                groups[one["sort"]].append(one)
        figures[half] = {name: summary(several) for name, several in groups.items()}
        for name, shares in figures[half].items():
            print(f"{half:10} {name:11}", *(f"{key} {value:6.3f}" for key, value in shares.items()))
    tokens, repeats = median(one["turn_tokens"] for one in rows), sum(one["repeats"] for one in rows)
    print(
        f"{TURNS} turns: median tokens of one {tokens:.1f} (bar {MOST_TOKENS_A_TURN}),"
        f" repeats {repeats} (bar {MOST_REPEATS})"
    )
    if options.misses:
        for one in rows:
            if one["half"] == "tuning" and (not one["right"] if one["wants"] else one["added"]):
                print(one["store"], one["sort"], repr(one["prompt"]), "wants", one["wants"], "got", one["shown"])
    content = {
        "benchmark": "injection",
        "settings": {"embedder": options.embedder, "cold": options.cold},
        "figures": figures,
        "provenance": provenance(),
    }
    save("injection-cold" if options.cold else "injection", content, out=options.json, keep=options.record)
    return int(tokens > MOST_TOKENS_A_TURN or repeats > MOST_REPEATS)


if __name__ == "__main__":
    sys.exit(main())
