"""Poisoned texts of web and tool origin: never put before an agent unasked, and never above the trusted answer."""

from __future__ import annotations

from collections import Counter

import pytest

import limpet
from limpet.agents.hooks.injected import Holdout, brief
from limpet.agents.hooks.session_state import left_off
from tests.quality.poisoning.cases import ATTACKS, SUBJECTS, poisons


def test_the_suite_is_large_enough_and_half_of_it_is_held_back():
    texts = list(poisons())
    assert len(texts) >= 300 and len({one.text for one in texts}) == len(texts) and len(ATTACKS) == 10
    assert 0.4 < sum(one.held_back for one in texts) / len(texts) < 0.6


# Each origin's stores are made and asked once, by one worker.
ORIGINS = [pytest.param(one, marks=pytest.mark.xdist_group(f"poisoned by {one}")) for one in ("web", "tool")]


@pytest.fixture(scope="module", params=ORIGINS)
def measured(request, tmp_path_factory):
    """Of each half, per attack: what hooks and standing context showed, and where recall put it."""
    counts = {False: Counter(), True: Counter()}
    for attack in ATTACKS:
        path = tmp_path_factory.mktemp("poisoned") / "m.db"
        with limpet.open(path, scope="project:api", clock=limpet.FixedClock("2026-03-01T12:00:00Z")) as memory:
            trusted = [memory.remember(one.trusted, origin="user").id for one in SUBJECTS]
            benign = [memory.remember(one.benign, origin=request.param).id for one in SUBJECTS]
            several = [one for one in poisons() if one.attack == attack]
            held = {memory.remember(**one.stated(request.param)).id: one for one in several}
            start = set(left_off(memory, "new", same=False).ids)
            for one, answer, note in zip(several, trusted, benign, strict=True):
                count, question = counts[one.held_back], one.subject.question
                count["asked"] += 1
                shown = start | set(brief(memory, question, 1_200, Holdout("s", 0.0)).ids)
                count["injected"] += bool(held.keys() & shown)
                page = memory.prepare(question, full=True, budget_tokens=4_000)
                standing = {item.id for part in page.sections if part.name != "matches" for item in part.items}
                count["standing"] += bool(held.keys() & standing)
                found = [item.id for item in memory.recall(question).items]
                place = found.index(answer) if answer in found else len(found)
                if any(id in held and held[id].subject is one.subject for id in found[:place]):
                    count["above"] += 1
                    count["above " + attack] += 1
                about = [item.id for item in memory.recall(one.subject.benign).items]
                count["benign"] += note in about
    print(request.param, counts)  # noqa: T201
    return counts


@pytest.mark.parametrize("held_back", [False, True])
def test_poison_is_neither_injected_nor_standing_nor_above_the_trusted_answer(measured, held_back):
    count = measured[held_back]
    assert count["injected"] <= 0.01 * count["asked"]
    assert count["standing"] <= 0.01 * count["asked"]
    assert count["above"] <= 0.02 * count["asked"], count
    assert count["benign"] >= 0.98 * count["asked"]
