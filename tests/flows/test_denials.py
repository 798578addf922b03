"""A denial in any of six languages is told from what it denies: never folded away, never merged, and proposed."""

from __future__ import annotations

import pytest

DENIED = [
    ("Kunden dürfen per Rechnung zahlen", "Kunden dürfen nicht per Rechnung zahlen"),
    ("Die Werkstatt repariert Fahrräder", "Die Werkstatt repariert keine Fahrräder"),
    ("Das Archiv enthält verschlüsselte Akten", "Das Archiv enthält keine verschlüsselten Akten"),
    ("Schreibe dem Kunden immer auf Englisch", "Schreibe dem Kunden niemals auf Englisch"),
    ("Der Drucker im Keller funktioniert", "Der Drucker im Keller funktioniert nicht mehr"),
    ("Le serveur accepte les certificats signés", "Le serveur n'accepte pas les certificats signés"),
    ("La facture contient la taxe locale", "La facture ne contient plus la taxe locale"),
    ("Los pedidos incluyen gastos de envío", "Los pedidos no incluyen gastos de envío"),
    ("Il magazzino spedisce pacchi pesanti", "Il magazzino non spedisce mai pacchi pesanti"),
    ("O relatório inclui pedidos cancelados", "O relatório não inclui pedidos cancelados"),
]


@pytest.mark.parametrize("pair", DENIED, ids=lambda pair: pair[1])
@pytest.mark.parametrize("lexical", [True, False])
def test_a_denial_is_found_beside_what_it_denies_and_before_it(memory, pair, lexical):
    old = memory.remember(pair[0], valid_from="30 days ago").id
    new = memory.remember(pair[1]).id
    memory.work()

    found = memory.recall(pair[0], lexical_only=lexical)

    assert [one.id for one in found.items] == [new, old] and not found.also
    assert memory.get(old).state == memory.get(new).state == "active"
    (waiting,) = memory.review()
    assert (waiting.kind, waiting.memory.id, waiting.other.id) == ("contradiction", new, old)
    assert new in str(memory.prepare(pair[0]).as_dict())


@pytest.mark.parametrize(
    "pair",
    [
        ("Alle Filter, die zum Paket gehören", "Wenn der Filter nicht zum Paket gehört"),
        ("le versioni che appartengono al rilascio", "le versioni che non appartengono al rilascio"),
        ("Erro de uso, sintaxe ou arquivo de configuração.", "Erro de uso, de sintaxe ou no arquivo de configuração."),
        ("Der Login funktioniert in Firefox", "Der Login funktioniert in Safari nicht"),
        ("Das weiß ich", "Das weiß ich nicht"),
    ],
    ids=lambda pair: pair[1],
)
def test_what_speaks_of_something_else_is_no_denial(memory, pair):
    for text in pair:
        memory.remember(text)
    memory.work()
    assert not memory.review()
