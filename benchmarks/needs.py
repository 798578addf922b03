"""How often `limpet eval` is right that a turn needed a memory, on text that was not written for it, and on histories.

    python -m benchmarks.needs --locomo FILE        LoCoMo, with its statements that each name their turn
    python -m benchmarks.needs --longmemeval FILE   memories of strangers, against long answers: all by chance
    python -m benchmarks.needs --histories 10       generated histories: the hit rate, true and reported

`was_used`, the verdict of exposures, stands beside: it is meant for what was shown, not for all that is known.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import tempfile
import time
from pathlib import Path
from types import SimpleNamespace

import limpet
from limpet.features.evaluate import run as evaluate
from limpet.features.evaluate.moments import Versions
from limpet.text.attribution import was_used
from tests.histories import SCOPE, History

from . import public
from .longmemeval import load

# Statements of strangers that are known, and sessions whose answers are read.
STRANGERS, SESSIONS = 1_000, 60


def versions(texts: list[str]) -> Versions:
    return Versions(
        SimpleNamespace(id=str(place), kind="fact", content=text, state="active", valid_from_us=0, valid_to_us=None,
                        recorded_at_us=0, retired_at_us=None)
        for place, text in enumerate(texts)
    )  # fmt: skip


def needs(known: Versions, work: str, before: str) -> list[set[int]]:
    moment = SimpleNamespace(at=1, work=work, before=before, after="")
    return [set(map(int, one.ids)) for one in known.needs(moment)]


def observed(conversations: list) -> list:
    """The statements of LoCoMo's conversations, as published: {"session_1_observation": {speaker: [[fact, turn]]}}."""
    return [
        {"conversation": one["sample_id"], "fact": fact, "evidence": turn}
        for one in conversations for session in one["observation"].values() for several in session.values()
        for fact, turn in several
    ]  # fmt: skip


def locomo(conversations: list, facts: list) -> None:
    """Each turn of a conversation is read as work, all statements of it as known. Right: the statement is that of the
    turn. What another turn said as well counts as wrong."""
    found = right = by_words = right_words = there = 0
    for one in conversations:
        of = [fact for fact in facts if fact["conversation"] == one["sample_id"]]
        texts = [fact["fact"] for fact in of]
        known = versions(texts)
        for name, turns in one["conversation"].items():
            if not re.fullmatch(r"session_\d+", name):
                continue
            before = ""
            for number, turn in enumerate(turns):
                gold = {place for place, fact in enumerate(of) if fact["evidence"] == turn["dia_id"]}
                there += bool(gold)
                for ids in needs(known, turn["text"], before):
                    found, right = found + 1, right + bool(ids & gold)
                if number % 10 == 0:  # it reads all that was said before anew for each
                    used = {place for place, text in enumerate(texts) if was_used(text, turn["text"], before)}
                    by_words, right_words = by_words + len(used), right_words + len(used & gold)
                before += "\n" + turn["text"]
    print(f"LoCoMo: {found} needs, {right} of the turn's own statement ({right / found:.1%}); {there} turns have one")
    print(
        f"        was_used alone, a tenth of the turns: {by_words}, {right_words} ({right_words / by_words:.1%})",
        flush=True,
    )


def longmemeval(sessions: dict) -> None:
    draw = random.Random(1)
    said = [
        (name, sentence)
        for name in sorted(sessions)
        for turn in sessions[name]
        if turn["role"] == "user"
        for sentence in re.split(r"(?<=[.!?])\s+", turn["content"][:600])
        if 6 <= len(sentence.split()) <= 30 and re.search(r"\b(I|my|we|our)\b", sentence) and sentence[-1] != "?"
    ]
    draw.shuffle(said)
    said = said[:STRANGERS]
    known = versions([text for _, text in said])
    answers = chance = by_words = length = 0
    for name in draw.sample(sorted(sessions), SESSIONS):
        others = {place for place, (of, _) in enumerate(said) if person(of) != person(name)}
        before = ""
        for turn in sessions[name]:
            if turn["role"] != "user":
                answers, length = answers + 1, length + len(turn["content"])
                chance += sum(len(ids & others) for ids in needs(known, turn["content"], before))
                # It reads the answer anew for each: of a tenth of them it is known well enough.
                tenth = [place for place in others if place % 10 == 0]
                by_words += 10 * sum(bool(was_used(said[place][1], turn["content"], before)) for place in tenth)
            before += "\n" + turn["content"]
    print(
        f"LongMemEval: {chance / answers:.2f} of {STRANGERS} strangers' statements an answer of {length / answers:.0f} "
        f"characters; was_used alone: {by_words / answers:.2f}",
        flush=True,
    )


def person(session: str) -> str:
    """Sessions of one question are one user's."""
    return session.split("_")[1 if session.startswith("answer") else 0]


def histories(first: int, count: int) -> None:
    for seed in range(first, first + count):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            (folder / "transcripts").mkdir()
            clock = limpet.FixedClock("2026-03-01T12:00:00Z")
            truth = History(folder / "memory.db", clock, seed, folder / "transcripts").make(60)
            with limpet.open(folder / "memory.db", scope=SCOPE, clock=clock) as memory:
                start = time.monotonic()
                told = evaluate(memory, [folder / "transcripts"], worst=10).shown
                seconds = time.monotonic() - start
        plain = [hit for _, hit, shows in truth.needs if shows]
        visible, reported = sum(plain) / len(plain), told.hit_rate.value
        print(
            f"history {seed}: found {truth.hit_rate:.1%} of {len(truth.needs)}, {visible:.1%} of the {len(plain)} that "
            f"show in words; reported {reported:.1%} of {told.needs} ({(reported - truth.hit_rate) * 100:+.1f}, "
            f"{(reported - visible) * 100:+.1f} points), {seconds:.0f} s",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, what in (("locomo", ""), ("facts", "its statements, where FILE has none"), ("longmemeval", "")):
        parser.add_argument(f"--{name}", type=Path, metavar="FILE", help=what)
    parser.add_argument("--histories", type=int, default=0)
    parser.add_argument("--first", type=int, default=0, help="seed of the first of them")
    args = parser.parse_args()
    if args.locomo:
        conversations = public.read(public.LOCOMO, args.locomo)
        locomo(conversations, json.loads(args.facts.read_text()) if args.facts else observed(conversations))
    if args.longmemeval:
        longmemeval(load(args.longmemeval)["sessions"])
    histories(args.first, args.histories)


if __name__ == "__main__":
    main()
