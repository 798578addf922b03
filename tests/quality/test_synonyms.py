"""Keys that name one thing and keys that are only alike, with the real embedder: what a person is asked about."""

from __future__ import annotations

import pytest

import limpet

SAME = [
    ("user.city", "user.town"), ("user.city", "user.home_city"), ("api.rate_limit", "api.request_limit"),
    ("api.limit", "api.rate_limit"), ("user.email", "user.mail_address"), ("db.host", "database.host"),
    ("db.password_rotation", "database.password_rotation_period"), ("service.owner", "service.maintainer"),
    ("project.language", "project.programming_language"), ("ci.timeout", "ci.time_limit"),
    ("user.job", "user.occupation"), ("user.name", "user.full_name"), ("deploy.day", "deployment.weekday"),
    ("test.command", "tests.run_command"), ("user.editor", "user.code_editor"), ("api.url", "api.base_url"),
    ("user.phone", "user.telephone"), ("redis.port", "cache.port"), ("user.spouse", "user.wife"),
    ("payments.limit", "payment_api.rate_limit"),
]  # fmt: skip
OTHER = [
    ("user.city", "user.country"), ("db.host", "db.port"), ("db.host", "db.name"), ("staging.url", "production.url"),
    ("user.first_name", "user.last_name"), ("api.rate_limit", "api.timeout"), ("frontend.port", "backend.port"),
    ("user.email", "user.phone"), ("service.owner", "service.version"), ("python.version", "node.version"),
    ("deploy.day", "deploy.branch"), ("test.command", "build.command"), ("ci.timeout", "ci.runner"),
    ("api.version", "app.version"), ("user.birthday", "user.wedding_day"), ("max.retries", "max.connections"),
    ("min.replicas", "max.replicas"), ("invoice.batch_size", "invoice.batch_pause"), ("ana.city", "ben.city"),
    ("user.wife", "user.husband"),
]  # fmt: skip


@pytest.fixture
def asked(path, clock):
    """How many of some pairs a person is asked about, each pair in a scope of its own."""

    def count(pairs):
        scopes = [f"pair:{number}" for number in range(len(pairs))]
        with limpet.open(path, clock=clock) as memory:
            memory.remember_batch(
                {"content": f"value of {key}", "key": key, "scope": scope}
                for scope, pair in zip(scopes, pairs, strict=True)
                for key in pair
            )
            memory.work()
        found = 0
        for scope in scopes:
            with limpet.open(path, scope=scope, clock=clock) as memory:
                found += any(item.kind == "key" for item in memory.review())
        return found

    return count


def test_most_synonyms_are_found(asked):
    assert asked(SAME) >= 17


def test_few_are_asked_in_vain(asked):
    assert asked(OTHER) <= 2
