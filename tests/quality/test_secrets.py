"""Secrets of sixteen classes: found on the half nothing was tuned on; what only looks like one is left alone."""

from __future__ import annotations

import json

import pytest

from limpet.text.forms import FORMS
from limpet.text.secrets import redact, suspected

from .halves import FOLDER, is_held_back

# In the file the secrets are in two parts, so that nobody's scanner takes the file for a leak.
JOINT = "\u00a6"
ROWS = [
    json.loads(line.replace(JOINT, "")) for line in (FOLDER / "secrets" / "rows.jsonl").read_text("utf-8").splitlines()
]
# Forms that no row of the set has.
MORE = (
    f"PuTTY-User-Key-File-3: ssh-ed25519\nPrivate-Lines: 1\n{'Ab3d' * 16}\nPrivate-MAC: 00",
    "stripe whs" + "ec_" + "a1B2c3D4" * 4,
    "npm" + "_" + "a1B2c3D4e" * 4,
    "pypi" + "-" + "a1B2c3D4e" * 6,
    "hf" + "_" + "a1B2c3D4e" * 4,
    "https://acme.webhook.office.com/" + "a1b2c3d4-" * 9,
    "EAA" + "CEdE" + "a1B2c3D4" * 9,
    "sl" + "." + "a1B2c3D4" * 9,
    "pscale" + "_tkn_" + "a1B2c3D4" * 5,
    "pat-" + "na1-" + "9f86d081-884c-4d65-9a2f-eaa0c55ad015",
    "HRKU" + "-" + "a1b2c3d4" * 5,
    "1/" + "12345678901234" + ":" + "a1b2c3d4" * 4,
    "sb" + "p_" + "a1b2c3d4" * 5,
    "tskey" + "-auth-" + "a1B2c3D4" * 4,
    "fo1" + "_" + "a1B2c3D4e" * 5,
    "pul" + "-" + "a1b2c3d4" * 5,
    "LTAI" + "a1B2c3D4" * 2,
    "https://" + "a1B2c3D4" * 4 + "@git.example.org/a.git",
)


def half(held_back):
    return [row for row in ROWS if is_held_back(row["text"]) is held_back]


def is_found(row):
    return not any(one in redact(row["text"])[0] for one in row["secrets"])


def test_the_set_is_large_and_has_both_sides():
    assert len({row["text"] for row in ROWS}) == len(ROWS)
    positives = [row for row in ROWS if row["secrets"]]
    assert len(positives) >= 150 and len({row["class"] for row in positives}) >= 15
    assert len(ROWS) - len(positives) >= 150
    for held_back in (False, True):
        assert sum(bool(row["secrets"]) for row in half(held_back)) >= 75
        assert sum(not row["secrets"] for row in half(held_back)) >= 75


@pytest.mark.parametrize("held_back", [False, True], ids=["tuning", "held back"])
def test_secrets_are_found_and_little_else(held_back, capsys):
    rows = half(held_back)
    told = [row for row in rows if row["secrets"]]
    found = sum(map(is_found, told))
    false = [row["text"] for row in rows if not row["secrets"] and redact(row["text"])[1]]
    recall, precision = found / len(told), found / (found + len(false))
    with capsys.disabled():
        name = "held back" if held_back else "tuning"
        print(f"\nsecrets, {name}: recall {recall:.3f}, precision {precision:.3f} ({len(false)} false)")  # noqa: T201
    assert recall >= 0.9
    assert precision >= 0.95, false


def test_what_was_redacted_stays_as_it_is():
    for row in ROWS:
        text, found = redact(row["text"])
        assert redact(text) == (text, ())
        assert not found or suspected(row["text"])


def test_every_form_is_shown_by_an_example():
    shown = {name for text in (*MORE, *(row["text"] for row in ROWS)) for name in redact(text)[1]}
    missing = {name for name, _, _ in FORMS} - shown
    assert not missing


@pytest.mark.parametrize("mark", sorted({mark for _, marks, _ in FORMS for mark in marks}))
def test_a_long_text_of_nothing_but_marks_comes_back(mark):
    """A pattern whose steps grew with the square of the length would not."""
    text = f"{mark} the key is {'a' * 30} " * 300
    assert redact(text)[0] == text or "[redacted:" in redact(text)[0]
