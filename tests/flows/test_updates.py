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
    ("Theo's best friend is Jonas.", "Theo's best friend is Emre now, not Jonas any more."),
    ("Theo's best friend is Jonas.", "Theo's best friend is no longer Jonas but Emre."),
    ("The dentist is on Tuesday at 15:30.", "The dentist is on Thursday at 15:30, not on Tuesday."),
    ("Theo's dentist is on Tuesday.", "Theo's dentist is not on Tuesday but on Thursday."),
    ("Anna lives in Hamburg.", "Anna doesn't live in Hamburg any more, she's in Leipzig."),
    ("Ella is a vegetarian.", "Ella is not a vegetarian any more."),
    ("Receipts are handed in to Petra.", "Receipts are no longer handed in to Petra but in the portal."),
    ("We use Django.", "We dropped Django for FastAPI."),
    ("The team meeting starts at 10:00.", "The team meeting was moved to 11:30."),
    ("The team meeting is on Tuesday at 10:00.", "The team meeting was moved to 11:30."),
    ("Ramesh owns the alerting rules", "alerting rules are Dagny's now, Ramesh gave them up"),
    ("between services we talk protobuf, not JSON", "we went back to JSON between services"),
    ("Jolanta approves the budgets", "Piet approves the budgets"),
    ("Die Probe ist am Montag", "Die Probe ist nicht am Montag, sondern am Mittwoch"),
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
    ("The standup is at 9:45.", "The standup was at 10:15 last year."),
    ("Ella is a vegetarian.", "Ella joked that she is no longer a vegetarian."),
    ("We use Django.", "If we dropped Django for FastAPI, we would be faster."),
    ("The API returns JSON", "The API returns errors as XML, not JSON"),
    ("The key is under the mat.", "The spare key is not under the mat any more."),
    ("Luca plays the cello.", "Luca plays not only the cello but also the oboe."),
    ("We store photos on Dropbox.", "We store invoices on the NAS, not on Dropbox."),
    ("It is shown if (a in b)", "It is shown if (a not in b), but slower"),
]
# What comes later and changes nothing.
LATER = [
    ("The standup is at 9:45.", "The standup was at 10:15 last year.", "when is the standup?"),
    ("Ella is a vegetarian.", "Ella joked that she is no longer a vegetarian.", "is Ella a vegetarian?"),
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


@pytest.mark.parametrize("older", LATER, ids=lambda one: one[1])
def test_what_is_told_of_another_time_or_in_fun_does_not_come_first(memory, older):
    held, later, question = older
    first = memory.remember(held, valid_from="30 days ago").id
    memory.remember(later)
    memory.work()
    assert memory.recall(question).items[0].id == first
