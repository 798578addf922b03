"""`limpet eval`: a generated history whose answers are known, replayed; the lift and its interval."""

from __future__ import annotations

import json
import os
import random

import pytest

import limpet
from limpet.agents.hooks.injected import Holdout
from limpet.cli.main import main
from limpet.features import usefulness
from limpet.features.evaluate import run as evaluate
from limpet.features.usefulness import ExposureRow, Exposures
from limpet.model.ids import parse_id

from ..histories import SCOPE, History

# The history is made and evaluated once, by one worker.
pytestmark = pytest.mark.xdist_group("evaluation")

# `make evaluation` takes 60.
SESSIONS = int(os.environ.get("LIMPET_SESSIONS", "8"))


@pytest.fixture(scope="module")
def history(tmp_path_factory):
    """(path of a store, folder of its transcripts, clock, what is true of it)."""
    folder = tmp_path_factory.mktemp("history")
    (folder / "transcripts").mkdir()
    clock = limpet.FixedClock("2026-03-01T12:00:00Z")
    path = folder / "memory.db"
    truth = History(path, clock, seed=2, folder=folder / "transcripts").make(SESSIONS)
    return path, folder / "transcripts", clock, truth


@pytest.fixture(scope="module")
def found(history):
    path, transcripts, clock, _ = history
    with limpet.open(path, scope=SCOPE, clock=clock) as memory:
        return evaluate(ByWords(memory), [transcripts])


class ByWords:
    """A store as a hook sees it that finds no running process: it searches by words alone."""

    def __init__(self, memory):
        self._memory = memory

    def __getattr__(self, name):
        return getattr(self._memory, name)

    def recall(self, query, **how):
        return self._memory.recall(query, lexical_only=True, **how)


def test_the_reported_hit_rate_is_that_of_what_happened(history, found):
    """The hooks looked up by words, while values changed; weeks later the same is found, as of then."""
    truth = history[3]
    replayed = found.figures
    plain = [hit for _, hit, shows in truth.needs if shows]
    assert abs(replayed.hit_rate.value - sum(plain) / len(plain)) <= 0.02
    if SESSIONS >= 60:
        assert abs(replayed.hit_rate.value - truth.hit_rate) <= 0.02
    assert replayed.needs >= 0.95 * len(plain), "what shows in words is seen"
    assert (found.sessions, found.whole) == (SESSIONS, found.moments)


def test_a_replay_shows_what_was_shown(history, found):
    """What the store learned or changed since is not known to it; and it costs what it cost."""
    then, replayed = found.shown, found.figures
    assert (replayed.found, replayed.needs) == (then.found, then.needs)
    assert abs(replayed.shown - history[3].shown) <= 0.01 * replayed.shown
    assert abs(replayed.tokens - then.tokens) <= 0.01 * then.tokens


def test_the_worst_misses_are_explained(found):
    misses = found.misses
    assert misses and [one.told_again for one in misses] == sorted((one.told_again for one in misses), reverse=True)
    assert all(one.why and one.words and one.prompt for one in misses)
    assert len({one.id for one in misses}) == len(misses)


def test_asking_about_a_thing_is_not_telling_it_again(memory, clock):
    memory.remember("The billing database listens on port 4711")
    for session, after in (
        ("s1", "And which port has the billing database?"),
        ("s2", "The billing database listens on port 4711!"),
    ):
        clock.advance(hours=1)
        usefulness.note_action(memory, session, "asked", "Find out why the connection is refused")
        usefulness.note_action(memory, session, "said", "I cannot say.")
        usefulness.note_action(memory, session, "asked", after)
    assert evaluate(memory).figures.told_again == 1


def test_what_a_session_has_used_is_not_needed_again(memory, clock):
    """The answer names the number; that a next question says the rest of the words does not tell it again."""
    memory.remember("The billing database listens on port 4711")
    clock.advance(hours=1)
    for kind, what in (
        ("asked", "My connection for billing is refused, look into that please"),
        ("said", "It listens on 4711; I set the variable."),
        ("asked", "Add a docstring to the parser class"),
        ("said", "Added."),
        ("asked", "Which port has the ledger database?"),
        ("said", "I cannot say."),
    ):
        usefulness.note_action(memory, "s1", kind, what)
    found = evaluate(memory).figures
    assert (found.needs, found.told_again) == (1, 0)


def test_what_says_a_part_of_it_was_not_found_in_its_place(memory, clock):
    """Both name Chidi and osprey; the session was shown the one, and needed the checklist of the other."""
    memory.remember("Chidi wants error messages of catalogue reviewed with the osprey checklist", kind="preference")
    memory.remember("Deploys of pricing go out after Chidi approved them in osprey")
    clock.advance(hours=1)
    for kind, what in (
        ("asked", "Who approves deploys of pricing, before I start one?"),
        ("said", "I will ask."),
        ("asked", "Polish the wording a little before the demo"),
        ("said", "I went through the osprey checklist that Chidi wants."),
    ):
        usefulness.note_action(memory, "s1", kind, what)
    found = evaluate(memory).figures
    assert (found.needs, found.found, found.shown) == (1, 0, 1)


def test_the_interval_of_the_lift_covers_the_truth(memory):
    """A hundred experiments of 60 sessions, a scope each. What is shown is shown once a session; what is held out fits
    message after message, and would be used more often if each of them counted."""
    draw, covered, lift = random.Random(5), 0, 0.25
    memories = [parse_id(memory.remember(f"Server number {place} is in rack {place * 7}").id) for place in range(12)]
    rate = {one: 0.1 + 0.4 * place / 12 for place, one in enumerate(memories)}  # without being shown
    for experiment in range(100):
        rows = []
        for number in range(60):
            session = f"{experiment}-{number}"
            fitting = draw.sample(memories, 3)
            held = {one: Holdout(session, 0.2).holds_back(str(one)) for one in fitting}
            for message in range(3):
                for one in fitting:
                    if message and not held[one]:
                        continue
                    used = draw.random() < rate[one] + lift * (not held[one])
                    rows.append(ExposureRow(f"project:{experiment}", session, "claude", message, "message", one, 9,
                                            not held[one], True, used))  # fmt: skip
        Exposures(memory._context.store).note(rows)
        interval = usefulness.usefulness(memory.in_scope(f"project:{experiment}")).lift
        covered += interval.low <= lift <= interval.high
    assert covered >= 90


def test_the_report_at_the_command_line(history, capsys, tmp_path):
    path, transcripts, _, _ = history
    wanted = ["--store", str(path), "--scope", SCOPE]
    assert main(["eval", str(transcripts), *wanted, "--misses", "2"]) == 0
    out = capsys.readouterr().out
    assert "the store knew would have helped" in out and "As it was shown then" in out and "Missed" in out
    assert max(map(len, out.splitlines())) <= 120
    assert main(["eval", *wanted, "--json", "--misses", "1", "--until", "2026-03-04"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["figures"]["needs"] >= 0 and len(told["misses"]) <= 1
    with limpet.open(tmp_path / "new.db", scope="global"):
        pass
    assert main(["eval", "--store", str(tmp_path / "new.db"), "--scope", "global"]) == 1
    assert "no session to measure" in capsys.readouterr().err
