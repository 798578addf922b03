"""What a text must hold for a form of change to be looked for stands in every text that the form fits."""

from __future__ import annotations

import random
import re

from limpet.text import updates

PARTS = (
    "The review|Anna|Das Team|we|wir haben|die Belege|Postgres|Redis|Jira|port 5432|10:30|Berlin|am Montag|"
    "was moved to|has been|removed|is|moved|from|to|to the|switched|brought forward to|KNOWN|now|as of today|only|"
    "Since|last week|yesterday|these days|wurde|ist, wie gesagt,|list|verlegt|umgezogen|erhöht|JETZT|ab sofort|nur|"
    "seit|no longer|to no longer use|dropped|Cancelled|canceled|support for|stopped using|got rid of|gave up|gave|"
    "abandoned|moved off|moved away from|replaced|with|by|instead of|rather than|nicht mehr|, sondern|keine|kein|mehr|"
    ", not|but|doesn’t|isn't|any more|in favour of|for Zulip|dropped Jira|, and not|back to|nicht|; und nicht|sondern|"
    "statt|anstatt|anstelle von|von|von Jira auf Linear|umgestellt|gewechselt|haben|abgeschafft|gekündigt|nutzen|."
).split("|")


def test_no_form_is_missed():
    chance = random.Random(7)
    fitted = set()
    several = (updates._CHANGES, updates._CEASED, updates._INSTEAD, updates._BACK)
    for _ in range(12_000):
        text = " ".join(chance.choices(PARTS, k=chance.randint(2, 7)))
        for forms in several:
            plain = [match for _, form in forms if (match := re.search(form, text, re.IGNORECASE))]
            fitted |= {match.re.pattern for match in plain}
            assert [one.span() for one in updates._fits(text, forms)] == [one.span() for one in plain], text
    assert len(fitted) == sum(map(len, several))
