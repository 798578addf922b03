"""Another value in the same German words is proposed and comes first; two subjects, events or of many are not."""

from __future__ import annotations

import pytest

CHANGED = [
    ("Der Drucker steht in Halle 3", "Der Drucker steht in Halle 5"),
    ("Die Mindestlaufzeit beträgt 12 Monate", "Die Mindestlaufzeit beträgt 24 Monate"),
    ("Das Archiv liegt in Köln", "Das Archiv liegt in Essen"),
    ("Die Rechnungen werden von Birgit geprüft", "Die Rechnungen werden von Marek geprüft"),
    ("Die Standardsprache der App ist Italienisch", "Die Standardsprache der App ist Polnisch"),
    ("Karla leitet den Vertrieb", "Oskar leitet den Vertrieb"),
    ("Der Chor probt jetzt immer im Rathaus, die Probe beginnt um 18:00", "Die Probe beginnt um 18:00"),
]
BOTH = [
    ("Fehler 17 liegt im Treiber", "Fehler 18 liegt im Treiber"),
    ("Wir haben Äpfel gekauft", "Wir haben Birnen gekauft"),
    ("Der Umzug hat 3 Tage gedauert", "Der Umzug hat 5 Tage gedauert"),
    ("Das Werkzeug wird von Anna benutzt", "Das Werkzeug wird von Jan benutzt"),
    ("Diese stehen im Abschnitt A", "Diese stehen im Abschnitt B"),
    ("Karla mag Jazz", "Karla mag Blues"),
    ("Der Drucker ist langsam", "Der Drucker ist laut"),
]


@pytest.mark.parametrize("pair", CHANGED[:6], ids=lambda pair: pair[1])
def test_another_value_is_proposed_and_comes_first(memory, pair):
    old = memory.remember(pair[0], valid_from="30 days ago").id
    new = memory.remember(pair[1]).id
    memory.work()
    assert [(one.kind, one.memory.id, one.other.id) for one in memory.review()] == [("correction", new, old)]
    assert [one.id for one in memory.recall(pair[0]).items] == [new, old]


@pytest.mark.parametrize("pair", BOTH + CHANGED[6:], ids=lambda pair: pair[1])
def test_what_may_both_hold_is_not(memory, pair):
    for text in pair:
        memory.remember(text)
    memory.work()
    assert not memory.review()


@pytest.mark.parametrize(
    "pair",
    [
        ("Der Kunde möchte lange Berichte", "Der Kunde möchte kurze Berichte"),
        ("Die Heizung im Büro ist eingeschaltet", "Die Heizung im Büro ist ausgeschaltet"),
        ("Rauchen im Hof ist erlaubt", "Rauchen im Hof ist verboten"),
        ("Die Leiter im Lager ist sicher", "Die Leiter im Lager ist unsicher"),
    ],
    ids=lambda pair: pair[1],
)
def test_opposites_contradict(memory, pair):
    for text in pair:
        memory.remember(text)
    memory.work()
    assert [one.kind for one in memory.review()] == ["contradiction"]


def test_a_statement_that_a_fact_holds_no_more_is_proposed_against_it(memory):
    memory.set_fact("project.mailer", "Postmark")
    memory.remember("Wir nutzen Postmark für die Alarme nicht mehr")
    memory.remember("Wir nutzen Postmark nicht mehr")
    memory.work()
    (one,) = memory.review()
    assert (one.kind, one.memory.content) == ("contradiction", "Wir nutzen Postmark nicht mehr")
