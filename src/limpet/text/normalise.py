"""The normal form of a text and its fingerprint: when two texts are the same statement."""

from __future__ import annotations

import re
import unicodedata


def normalise(text: str) -> str:
    """Return a text in NFC, case-folded, white space collapsed, without closing punctuation."""
    if text.isascii():
        return " ".join(text.lower().split()).rstrip(".! ")
    return " ".join(unicodedata.normalize("NFC", text).casefold().split()).rstrip(".! ")


def same_value(text: str, other: str) -> bool:
    """Return whether two texts of one fingerprint are the same value, also of a flag, a path or a name. White space in
    and after a line, a full stop after a word, and the first letter of several words may differ."""
    return value_form(text) == value_form(other)


def value_form(text: str) -> str:
    """Return the form that `same_value` compares."""
    text = unicodedata.normalize("NFC", text).strip()
    if "\n" in text:
        return "\n".join(line.rstrip() for line in text.splitlines())
    words = text.split()
    if len(words) > 1 and words[0][:1].isalpha():
        words[0] = words[0][:1].lower() + words[0][1:]
    return re.sub(r"(?<=[\w)\]\"'])[.!]+$", "", " ".join(words))


def same_words(text: str, other: str) -> bool:
    """Return whether two texts of one fingerprint are the same to a reader: the case of plain words does not count,
    that of flags and names does (`-v`, `rateLimit`)."""
    return same_value(text, other) or ("\n" not in text + other and _plain_words(text) == _plain_words(other))


def _plain_words(text: str) -> list[str]:
    words = value_form(text).split()
    for i, word in enumerate(words):
        is_word = len(word) > 1 and word.strip(",;:.?!()").isalpha()
        if is_word and (word.islower() or word.isupper() or word.istitle()):
            words[i] = word.casefold()
    return words


def fingerprint(scope: str, kind: str, speaker: str | None, key: str | None, text: str) -> int:
    """Return a signed 64-bit mark, equal for the same statement of the same speaker, key and scope: of what happened,
    or of what is believed, whatever the kind of belief."""
    import hashlib  # 4 ms that a recall need not pay

    what = kind if kind == "episode" else "belief"
    parts = "\0".join((scope, what, speaker or "", key or "", normalise(text)))
    return int.from_bytes(hashlib.sha256(parts.encode()).digest()[:8], "big", signed=True)
