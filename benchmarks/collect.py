"""What weights are fitted on: the candidates of each question of a development set, and what recall knows of them."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import limpet
from limpet.model.clock import FixedClock
from limpet.model.ids import format_id
from limpet.model.memory import Filter
from limpet.recall.candidates import Candidates, find_candidates
from limpet.recall.features import FEATURES
from limpet.recall.plan import Plan, make_plan

from . import own
from .fitting import Asked
from .retrieval import STORED_AT, Haystack, Question, load


class Gathered(NamedTuple):
    """One question of a haystack, asked in its store."""

    question: Question
    found: Candidates
    plan: Plan
    memory: Any
    ids: list[str]  # of the candidates
    wanted: set[str]  # of its evidence, whether a candidate or not


def plan_for(question: str, scopes: tuple[str, ...], now: int, *, words: bool = False) -> Plan:
    return make_plan(
        question, Filter(scopes=scopes, as_of=now), k=20, now=now, deadline_ms=None, budget_tokens=None,
        lexical_only=words, without=frozenset(),
    )  # fmt: skip


def gathered(embedder: Any, data: str, haystacks: Sequence[Haystack], *, words: bool = False) -> Iterator[Gathered]:
    """Every question of every haystack."""
    for number, haystack in enumerate(haystacks):
        print(f"\r{data} {number + 1}/{len(haystacks)}", end="", file=sys.stderr)
        with tempfile.TemporaryDirectory() as folder:
            clock = FixedClock(haystack.questions[0].asked_at or STORED_AT)
            path = str(Path(folder) / "m.db")
            with limpet.open(path, scope="global", embedder=embedder, clock=clock, durable=False, judge=True) as memory:
                stored = load(memory, haystack)
                store = memory._context.store
                for question in haystack.questions:
                    clock.set(question.asked_at or STORED_AT)
                    plan = plan_for(question.text, ("global",), clock.now(), words=words)
                    with store.snapshot():
                        found = find_candidates(store, memory._context.semantic(), plan)
                        ids = [format_id(id) for id in found.table.ids]
                        wanted = {stored[turn] for turn in question.evidence}
                        yield Gathered(question, found, plan, memory, ids, wanted)
        embedder.save()
    print(file=sys.stderr)


def own_asked(
    embedder: Any, *, words: bool = False
) -> Iterator[tuple[dict[str, Any], Candidates, Plan, Any, list[str]]]:
    """Each question of the own set: the question, what was found, the plan, the memory, the set's ids of the
    candidates."""
    memories, questions = own.read("memories.jsonl"), own.read("questions.jsonl")
    with own.stored(embedder, memories) as (path, clock, ids):
        names = {memory: one for one, memory in ids.items()}
        for scope in dict.fromkeys(one["scope"] for one in questions):
            with limpet.open(path, scope=scope, embedder=embedder, clock=clock, read_only=True, judge=True) as memory:
                for one in (each for each in questions if each["scope"] == scope):
                    plan = plan_for(one["question"], (scope, "global"), clock.now(), words=words)
                    found = find_candidates(memory._context.store, memory._context.semantic(), plan)
                    yield one, found, plan, memory, [names[format_id(id)] for id in found.table.ids]


def asked_of(data: str, group: str, found: Candidates, evidence: Sequence[bool], wanted: int) -> Asked:
    """What is fitted on, of one question: a column for each feature, zeros where it is not asked. `evidence`: which of
    the candidates are; `wanted`: how many are in all."""
    nothing = np.zeros(len(evidence))
    return Asked(
        data=data,
        group=group,
        signals=np.array([found.features.get(name, nothing) for name in FEATURES], dtype=np.float32).T,
        evidence=np.array(evidence, dtype=bool),
        wanted=wanted,
        spoken=np.array([bool(speaker) for speaker in found.table.speakers], dtype=bool),
    )
