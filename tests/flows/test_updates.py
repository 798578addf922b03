"""A statement that names a change itself is proposed against what it changes, and comes before it."""

from __future__ import annotations

import pytest

CHANGES = [
    ("The weekly review is at 10:00", "The weekly review was moved to 11:30"),
    ("Deliveries arrive on Monday", "Deliveries now arrive on Friday"),
    ("Receipts are kept for 90 days", "Receipts are kept for 30 days only"),
    ("The mail relay listens on port 2525", "The mail relay listens on 587 since the audit"),
    ("The print server runs Debian 11", "The print server was upgraded to Debian 12"),
    ("Karla lives in Bremen", "Karla moved to Dresden last year"),
    ("We use Mattermost for incident chat", "We moved incident chat from Mattermost to Zulip"),
    ("We pay for the team plan of Sentry", "We cancelled the team plan of Sentry"),
    ("Builds run with Gradle", "We no longer use Gradle, builds run with Bazel"),
    ("The main branch is called trunk", "The main branch is called main, trunk is for history"),
    ("Ruby 2.7 is our minimum version", "We dropped support for Ruby 2.7; the minimum is 3.1"),
    ("Oskar trinkt Tee mit Zucker", "Oskar trinkt keinen Tee mehr"),
    ("Die Belege werden bei Jutta abgegeben", "Die Belege werden nicht mehr bei Jutta, sondern im Portal abgegeben"),
    ("Die Probe ist am Montag", "Die Probe wurde auf Mittwoch verlegt"),
    ("Karla leitet den Vertrieb", "Der Vertrieb wird seit April von Oskar geleitet"),
    ("Wir nutzen Jira für die Planung", "Wir haben die Planung von Jira auf Linear umgestellt"),
]  # fmt: skip
BOTH = [
    ("We use Jenkins for the nightly builds", "We no longer use Jenkins for the docs job"),
    ("The weekly review is at 10:00", "The design review was moved to 11:30"),
    ("Ben lives in Bremen", "Karla moved to Dresden last year"),
    ("The shop uses Redis for sessions", "We dropped Redis from the search service"),
    ("Release 3.1 is on Monday", "The release party was moved to Friday"),
    ("Wir nutzen Slack für Alarme", "Die Tester nutzen Slack nicht mehr"),
    ("The timeout is 30 seconds", "The retry limit is now 5"),
    ("The default is unlimited.", "The default is short, this time format is designed to save space."),
    ("Oskar trinkt Tee", "Karla trinkt keinen Tee mehr"),
    ("I give it a four now", "I'll give three"),
    ("About the beamer", "Rather than get a beamer"),
]


@pytest.mark.parametrize("pair", CHANGES, ids=lambda pair: pair[1])
def test_a_change_is_proposed_and_comes_first(memory, pair):
    old = memory.remember(pair[0], valid_from="30 days ago").id
    new = memory.remember(pair[1]).id
    memory.work()
    assert [(one.memory.id, one.other.id) for one in memory.review()] == [(new, old)]
    assert [one.id for one in memory.recall(pair[0]).items] == [new, old]


@pytest.mark.parametrize("pair", BOTH, ids=lambda pair: pair[1])
def test_a_change_of_something_else_is_not(memory, pair):
    for text in pair:
        memory.remember(text)
    memory.work()
    assert not memory.review()
