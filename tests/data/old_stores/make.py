"""Writes a store, its mirror and the answers it gives, by whatever commit of limpet is imported.

    python tests/data/old_stores/make.py tests/data/old_stores/6b0fde0.tar.gz

Run once by the commit that the file is named after; never again by a later one. `tests/flows/test_old_stores.py` opens
what it wrote and asks the same questions.
"""

from __future__ import annotations

import io
import json
import sys
import tarfile
import tempfile
from pathlib import Path
from typing import Any

import limpet

START = "2025-11-03T09:00:00Z"
SCOPES = ("project:api", "global", "project:shop")
QUERIES = (
    "how do we deploy the api",
    "database is locked",
    "what does the user prefer for tests",
    "when is the release",
    "why was Redis chosen for the queue",
    "what city does the user live in",
    "which port does staging listen on",
    "latest rate limit",
    "who owns billing",
    "what did Ana say about the migration",
    "timeouts before the migration",
    "retry policy of the payment client",
    "invoice numbering in Germany",
    "Kubernetes autoscaling thresholds",
    "flaky test in the checkout suite",
)


def fill(path: Path, folder: Path, clock: limpet.FixedClock) -> None:
    """A life of some weeks: notes, talk, facts that change, links, corrections, a mirror, a queue not drained."""
    with limpet.open(path, scope="project:api", clock=clock) as memory:
        ids = [memory.remember(text, kind=kind, topics=topics).id for kind, text, topics in NOTES]
        for name, turns in TALKS.items():
            memory.session_start(name, title=name.replace("-", " "))
            for speaker, text in turns:
                clock.advance(seconds=40)
                memory.remember(text, kind="episode", session=name, speaker=speaker)
            memory.session_end(name)
            clock.advance(days=1)
        memory.set_fact("user.city", "Warsaw", origin="user")
        memory.set_fact("api.rate_limit", "100 per minute")
        clock.advance(days=3)
        memory.set_fact("user.city", "Tampa", origin="user")
        memory.set_fact("api.rate_limit", "1000 per minute", valid_from="2025-11-10")
        memory.link(ids[3], "caused_by", ids[2])
        memory.link(ids[5], "supports", ids[3])
        memory.link(ids[6], "contradicts", ids[7])
        memory.correct(ids[0], "Deploys go out on Thursdays after the smoke tests")
        memory.edit(ids[1], "database is locked: begin every write with BEGIN IMMEDIATE")
        memory.tag(ids[2], ["queue"], (), {"ticket": 41})
        memory.pin(ids[4])
        memory.retract(ids[8], "was never true")
        memory.archive(ids[9])
        memory.purge(ids[10], confirm=True)
        memory.undo(memory.pin(ids[5]).event)
        memory.show(ids[4])
        memory.feedback(ids[3], "useful")
        memory.work()
        memory.in_scope("global").remember("Answers in English, code comments too", kind="preference", origin="user")
        memory.in_scope("project:shop").remember("The shop runs on Django 5", kind="fact")
        memory.work()
        memory.mirror_init(folder)
        for text in LATE:
            memory.remember(text, kind="note")
        memory.note_action("s9", "asked", "please run the tests")


def ask(path: Path, clock: limpet.FixedClock) -> dict[str, Any]:
    """What the store answers; nothing of it hangs on how long it takes."""
    with limpet.open(path, scope="project:api", clock=clock) as memory:
        answers: dict[str, Any] = {"lexical": {}, "brief": {}}
        for query in QUERIES:
            answers["lexical"][query] = _shown(memory.recall(query, lexical_only=True))
        memory.work()
        for query in QUERIES:
            brief = memory.prepare(query, lexical_only=True)
            answers["brief"][query] = [[one["id"] for one in part["items"]] for part in brief.as_dict()["sections"]]
        answers["facts"] = {
            key: [[one.value, one.valid_from_us, one.valid_to_us] for one in memory.fact_history(key)]
            for key in ("user.city", "api.rate_limit")
        }
        answers["states"] = sorted(
            # What was superseded said "active" then.
            [
                one.id,
                one.state.replace("superseded", "active"),
                one.content,
                list(one.topics),
                one.pinned,
                one.uses,
                one.superseded_by,
            ]
            for one in memory.list(limit=1000, all_states=True).memories
        )
        answers["history"] = {one[0]: len(memory.history(one[0])) for one in answers["states"]}
        answers["sessions"] = [[one.name, one.title, one.memories] for one in memory.sessions()]
        answers["actions"] = [one.what for one in memory.actions()]
        return answers


def _shown(found: Any) -> list[Any]:
    return [[one.id, round(one.score, 4)] for one in found.items]


NOTES = [
    ("fact", "Deploys go out on Tuesdays after the smoke tests", ["release"]),
    ("lesson", "database is locked: start writes with BEGIN IMMEDIATE", ["sqlite"]),
    ("fact", "The queue lost messages when RabbitMQ restarted in October", ["queue"]),
    ("decision", "Redis streams carry the work queue, because RabbitMQ lost messages", ["queue"]),
    ("preference", "The user wants integration tests against a real database, no mocks", ["tests"]),
    ("fact", "Redis streams kept every message in the load test of 14 October", ["queue"]),
    ("fact", "Staging listens on port 8443", ["staging"]),
    ("fact", "Staging does not listen on port 8443", ["staging"]),
    ("fact", "Billing is owned by the platform team", ["billing"]),
    ("note", "The old wiki page about onboarding moved to the handbook", []),
    ("note", "Draft of a text that will be erased", []),
    ("skill", "To reset the sandbox run make sandbox-reset and wait for the seed job", ["sandbox"]),
    ("fact", "The payment client retries three times with jitter, then gives up", ["payments"]),
    ("fact", "Invoice numbers in Germany must be consecutive within a year", ["billing", "germany"]),
    ("fact", "Autoscaling of the API pods starts at 70 percent CPU", ["kubernetes"]),
    ("lesson", "The checkout suite is flaky when the clock crosses midnight UTC", ["tests"]),
    ("goal", "Cut the p95 of the search endpoint below 200 ms by January", ["search"]),
    ("opinion", "The admin page is the weakest part of the product", []),
    ("inference", "Most timeouts come from the nightly report job", ["timeouts"]),
    ("decision", "Money is stored as integer cents with a currency code", ["billing"]),
    ("fact", "Die Rechnungen werden am Monatsende verschickt", ["billing"]),
    ("fact", "Log lines are JSON with request_id and tenant", ["logs"]),
    ("fact", "The mobile app talks to /v2 only; /v1 is frozen", ["api"]),
    ("note", "Ticket OPS-311: certificate of the gateway runs out on 2 February 2026", ["ops"]),
]
TALKS = {
    "migration-plan": [
        ("Ana", "I would rather run the migration in two steps, first the new column, then the backfill."),
        ("Ben", "Does the backfill lock the orders table?"),
        ("Ana", "No, it goes in batches of a thousand and sleeps in between."),
        ("Ben", "Good, then let us do it on Wednesday night."),
        ("Ana", "I will write the rollback script before that."),
    ],
    "migration-done": [
        ("Ben", "The migration finished at four in the morning, no timeouts since."),
        ("Ana", "The report job still takes nine minutes though."),
        ("Ben", "That one reads the replica, I will look at its index."),
    ],
    "assistant": [
        ("user", "Which command runs only the fast tests?"),
        ("assistant", "pytest -m 'not slow' runs the fast ones; the slow marker is set in conftest.py."),
        ("user", "Thanks, and please never push to main directly."),
    ],
}
LATE = [
    f"Late note {number}: {text}"
    for number, text in enumerate(
        (
            "the canary host is eu-west-3b",
            "feature flags live in flags.toml",
            "the design review moved to Monday",
            "backups are encrypted with age",
            "the crawler respects robots.txt since last week",
        )
    )
]


def main(target: str) -> None:
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        clock = limpet.FixedClock(START)
        fill(root / "memory.db", root / "mirror", clock)
        clock.advance(days=2)
        asked = root / "asked.db"
        with limpet.open(root / "memory.db") as memory:
            memory.backup(asked)
        answers = {"now": clock.now(), **ask(asked, clock)}
        with tarfile.open(target, "w:gz") as archive:
            archive.add(root / "memory.db", "memory.db")
            archive.add(root / "mirror", "mirror")
            data = json.dumps(answers, indent=1).encode()
            info = tarfile.TarInfo("answers.json")
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))


if __name__ == "__main__":
    main(sys.argv[1])
