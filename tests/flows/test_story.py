"""The worked story of docs/how-to/beliefs.md, from the command line: believed, acted on, corrected, taken back."""

from __future__ import annotations

import json

import pytest

from limpet.cli.main import main

LIMIT = "The payment API allows 100 requests a minute"
RAISED = "The payment API allows 600 requests a minute"
SYNC = "The nightly sync sends invoices in batches of 50"
QUEUE = "The retry queue holds at most 200 calls"
MONTH = "The invoices of a month fit in one night"


@pytest.fixture
def limpet(path, capsys):
    """A command with --json; its answer."""

    def run(*argv, code=0):
        assert main(["--store", str(path), "--scope", "project:shop", "--json", *argv]) == code
        answers = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
        return answers[0] if len(answers) == 1 else answers

    return run


@pytest.fixture
def told(limpet):
    """Ids by text: the limit, two decisions that rest on it, and what was concluded from one."""
    limit = limpet("remember", LIMIT, "--source", "docs/payments.md:12")["id"]
    sync = limpet("remember", SYNC, "--kind", "decision", "--because", limit)["id"]
    queue = limpet("remember", QUEUE, "--kind", "decision", "--because", limit)["id"]
    month = limpet("remember", MONTH, "--kind", "inference", "--because", sync)["id"]
    return {LIMIT: limit, SYNC: sync, QUEUE: queue, MONTH: month}


def of(nodes):
    return [one["content"] for one in nodes]


def test_a_rate_limit_believed_acted_on_corrected_and_taken_back(limpet, told):
    why = limpet("why", told[MONTH])
    assert (of(why["reasons"]), why["facts"]) == ([SYNC, LIMIT], [told[LIMIT]])
    before = limpet("show", told[MONTH])["recorded_at"]

    new = limpet("correct", told[LIMIT], RAISED, "--why", "the provider raised it", "--origin", "user")["id"]

    # What rested on the old limit, decisions first; nothing else holds it up.
    impact = limpet("impact", told[LIMIT])
    assert impact["memory"]["standing"] == "superseded"
    assert [(one["content"], one["falls"]) for one in impact["affected"]] == [
        (SYNC, True),
        (QUEUE, True),
        (MONTH, True),
    ]
    # Asked of the new one, the same two decisions are there to look at.
    assert of(limpet("impact", new)["rested_before"]) == [SYNC, QUEUE]
    why = limpet("why", told[SYNC])
    assert (why["reasons"], why["skipped"]) == ([], {told[LIMIT]: "superseded"})
    assert of(limpet("graph", "gaps", "--gap", "unjustified_decision")["gaps"]) == [SYNC, QUEUE]

    # What is believed, and what was.
    (now, *_) = limpet("audit", new)["beliefs"]
    assert (now["content"], of(now["replaced"]), now["origin"]) == (RAISED, [LIMIT], "user")
    assert now["corrections"] == {told[LIMIT]: "the provider raised it"}
    assert of(now["rested_before"]) == [SYNC, QUEUE]
    (then,) = limpet("audit", told[LIMIT], "--known-at", before)["beliefs"]
    assert (then["content"], then["standing"], then["source"]) == (LIMIT, "held", "docs/payments.md:12")
    assert of(then["rests_on_it"]) == [SYNC, QUEUE] and then["replaced_by"] == []
    assert of(limpet("why", told[SYNC], "--known-at", before)["reasons"]) == [LIMIT]
    assert of(limpet("recall", "payment API requests", "--known-at", before, "-k", "1")["items"]) == [LIMIT]
    assert of(limpet("recall", "payment API requests", "-k", "1")["items"]) == [RAISED]

    # The correction was a mistake.
    limpet("undo")
    assert of(limpet("why", told[MONTH])["reasons"]) == [SYNC, LIMIT]
    assert limpet("impact", told[LIMIT])["memory"]["standing"] == "held"
    assert of(limpet("recall", "payment API requests", "-k", "1")["items"]) == [LIMIT]
    assert limpet("graph", "gaps", "--gap", "unjustified_decision")["gaps"] == []
