"""Whether a text is in English: measured on the texts that were written for training, whose stores tell their language."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from limpet.text.language import is_english

WRITTEN = Path(__file__).parents[2] / "training" / "written"


def test_no_english_text_in_a_thousand_is_called_another_and_most_others_are():
    said = Counter()
    for path in WRITTEN.glob("*.jsonl"):
        for line in path.read_text("utf-8").splitlines():
            store = json.loads(line)
            if "-" not in store["language"]:  # stores in two languages say "en-de"
                said.update((store["language"] == "en", is_english(one["text"])) for one in store["memories"])
    english, others = ({value: said[language, value] for value in (True, False, None)} for language in (True, False))
    assert english[False] < 0.001 * sum(english.values())
    assert others[False] > 0.7 * sum(others.values()) and others[True] < 0.01 * sum(others.values())


@pytest.mark.parametrize(
    "text, english",
    [
        ("Deploys: Tuesday, ten sharp, no excuses", None),
        ("The deploys are run on Tuesday after ten", True),
        ("Wir rollen dienstags nach zehn aus, weil dann alle da sind", False),
        ("Die Rechnungsnummern müssen lückenlos sein, sonst meckert das Finanzamt", False),
        ("Unsere Rechnungen muss immer jemand gegenlesen", False),
        ("Chaque facture doit toujours partir avant midi", False),
        ("Los martes siempre revisan nuestras facturas", False),
        ("Signed-off-by: Lei Hanno Welche <hanno.welche@example.com> by patch", True),
        ("commit a929f36693567e57eca89fb48f23cada8ce7291a Author: Cui Dann", None),
        ("部署在星期二十点之后进行", False),
        ("Развёртывание идёт по вторникам после десяти", False),
        ("", None),
        ("npm ERR! code ELIFECYCLE errno 1 build: `tsc -p .`", None),
        ("if (x > 0) return y;", None),
        ("Die Hard is the film that we watch in December", True),
    ],
)
def test_of_some_texts(text, english):
    assert is_english(text) is english
