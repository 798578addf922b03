"""The look of secrets, and of values that are none: placeholders, code, terms, handles."""

from __future__ import annotations

import re

from . import NAME_CHARACTERS, names_key, names_secret

# Text in the place of a secret: hidden before, to be filled in, or the word itself.
PLACEHOLDER = re.compile(r"x{3,}|\*+|\u2022+|\.{3,}|redacted|\[redacted|example|change-?_?me|[<{]|%[sr(]|&#?\w{1,8};|\$(?:[{(]|(?-i:[A-Z_][A-Z0-9_]*|[a-z_]+)$|\w+(?:::|->?|[;{\[]|[)\]}>]+[,;.]?$))|(?:_{3,}|#+|pass(?:word|wd)?|passwort|kennwort|contraseña|pwd|secret|token|null|none|true|false|string|todo)\]?$|.{0,60}?(?:^|[-_.])(?:your|example|placeholder|dummy|sample|insert|goes|here)(?:[-_.]|$)", re.IGNORECASE)  # fmt: skip
# Names of passwords, which take words too; of other names the value must hold a digit or a symbol.
STRICT = re.compile(r"(?i)(?:pass(?:word|wd|phrase|code|wort)?|pwd|kennwort|contraseña|psk|pw)(?:[_.-]?(?:\d+|value|plain))?$|^secret$")  # fmt: skip
_FILE = r"\.(?:pem|key|crt|cer|p12|pfx|jks|asc|gpg|pub|txt|json|ya?ml)$"
# A file of a program and a line of it: what a compiler speaks of. No digits, unless in a folder.
FILE_LINE = r"(?:[\w./+-]*/[\w.+-]+|[A-Za-z_-]+)\.(?:py|pyx|go|rs|cc?|h|cpp|hpp|cxx|cs|tsx?|jsx?|mjs|java|kt|rb|php|sh|pl|lua|swift|scala|m|ex|exs|hs|ml|sql|vue):\d+(?::\d+)?[:,;)]*$"
# An entry of a vault, and its field, by its start or its field: secret/data/shop#api_key.
ENTRY = r"(?:(?:vault:/?|/?(?:kv\d?|secret)/)[\w.-]+(?:/[\w.-]+)*#[A-Za-z][A-Za-z_-]*|/?[a-z\d_.-]+(?:/[\w.-]+)+#(?i:(?:[a-z]+[_-])*(?:(?:api|access|hmac|private)?key|(?:access|auth)?token|(?:client)?secret|password|passwd|passphrase|pwd|credentials?)))[,;.)\]`]*$"
# Code that has the value from somewhere: a call, an index, a path of names, a constant; an address, a file, an entry.
CODE = re.compile(rf"[A-Za-z_][\w.:]*[(\[]|(?![a-z_]*\d\w*{_FILE})[a-z_]\w*(?:\.[A-Za-z_]\w*)+[,;)\]}}]*$|-{{1,2}}[a-z]" r"|[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+[,;|\\)\]}]*$|[A-Z]<|/\^|(?:https?|op|vault|bws|ssm|keyring)://|arn:aws" rf"|[a-z\d_.-]+(?:/[a-z\d_.-]+){{2,}}$|{FILE_LINE}|{ENTRY}|(?:[\w.~-]*/[\w./~-]+|[a-z._~-]+|[a-z\d]+(?:[_-][a-z\d]+)+){_FILE}")  # fmt: skip
# A word that only names what is meant: new-password, my_secret, db-credentials-v2.
REFERENCE = re.compile(r"(?i)[a-z\d_.:/-]*(?:pass|secret|token|credential|cookie|pwd|key)[a-z\d_.:/-]*$")
# Technical terms and measures have digits too: SHA256, TLS1.3, 2048-bit, 2026-03-01, 30s, 1Password, OAuth2, v2.
_TERM = re.compile(r"(?:pb?kdf|sha|md|utf|base|aes|rsa|http|oauth|ipv|argon|bcrypt|scrypt|tls|ed|curve|gpio|rfc|cve|crc|ssl|ntlm|blake|hmac|nist|latin|iso|v|s|x|h|q|level|php|python|win|mp|log4j|k8|i18|l10|e2|a11|step|day|week|room|chapter|section|line|page|version|issue|pr|c|f|g|p)-?_?[\d.]+[a-z]{0,2}(?:-\w+)?$|\d[\d.,]*-?(?:bits?|bytes?|chars?|characters?|digits?|th|st|nd|rd|days?|hours?|h|min|minutes?|weeks?|months?|years?|ms|s|m|cm|mm|kb|mb|gb|x|fa|password|am|pm|%|\+)(?:[-/]\w+)*$|\d{4}-\d\d?-\d\d?(?:T\S*)?$|\d\d?[:/.]\d\d(?:[:/.]\d+)?$|\w+@[\w-]+\.\w+$|(?:https?|ftp|file)://", re.IGNORECASE)  # fmt: skip
_SYMBOL = re.compile(r"[!@#$%^&*+~|\\?=]")
# Words that describe a password: endings of adjectives and participles, and exceptions.
ADJECTIVE = re.compile(r"(?:ed|ing|ly|able|ible|ive|al|ous|ful|less|ory|ary|ics?|ent|ant|en|ish|ete|ute|ate|ure|iert|bar|lich|ig|isch|t)$")  # fmt: skip
PLAIN_WORDS = frozenset("wrong right weak strong long empty blank null none invalid valid safe unsafe plain plaintext simple complex easy hard tough obvious false true mine yours ours theirs there below above inside outside elsewhere everywhere enough known unknown stale fresh shown taken clear clean better worse longer shorter stronger weaker newer older other these those which where something anything nothing everything nobody never always later today tomorrow yesterday again alone whatever default random gibberish nonsense legacy missing string bytes number integer email username login field input value third second first under about after before between without with through across until because either neither maybe perhaps rather really pending alive broken super great awesome funny stupid crazy strange falsch richtig stark sicher geheim".split())  # noqa: SIM905 # fmt: skip # fmt: skip
# In names of things that are no password.
NAMED = frozenset("set env field input not required prompt label hint confirm reset type column param text hash from file user data max min error see auth login admin app prod test new old".split())  # noqa: SIM905 # fmt: skip
# A phrase that holds one of these is a sentence.
LITTLE = frozenset("a an the is are was be not no to of in on at by for with and or as it this that your my".split())  # noqa: SIM905 # fmt: skip
_TURN = re.compile(r"(?<=[A-Za-z])(?=[0-9])|(?<=[0-9])(?=[A-Za-z])")
_CASE = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[a-z])")
# The name of a class: words that begin with capitals.
_CAMEL = re.compile(r"_*(?:V\d{1,2}(?:(?:[Aa]lpha|[Bb]eta)\d{0,2})?)?[a-z]{0,20}(?:[A-Z]{1,5}[a-z]{2,20}\d{0,2})+[A-Z]{0,5}$")  # fmt: skip
_HEX = re.compile(r"(?i)0x[0-9a-f]+|[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}")
UUID = re.compile(r"(?i)[0-9a-z]{7,8}-(?:[0-9a-z]{4}-){3}[0-9a-z]{12}")
# A token of these says which request this is or which version is meant, and is then a UUID. Vault's client_token is none.
REQUESTS = re.compile(r"(?:(?i:request|change|lock|update|action|sync)[ _.-]?|(?i:client)[ .-]?|[Cc]lient_?(?=T))[Tt](?i:oken)$")  # fmt: skip


_WHOLE = re.compile(r"[^\s\"'`<>]*")
_TOKEN_OF = r"(?i)([\w-]+ ?token)[\"']?\s{0,2}(?:[=: ]|is)\s{0,2}[\"']?$"


def is_placeholder(word: str) -> bool:
    return bool(PLACEHOLDER.match(word) or CODE.match(word))


def is_handle(name: str, value: str) -> bool:
    """Return whether the value of a field identifies a request, a version or who signs, or is a time."""
    if re.fullmatch(r"[12]\d{9}\.\d{1,9}", value) or (
        re.fullmatch("[0-9A-F]{16}|[0-9A-F]{40}", value) and "sign" in name
    ):
        return True
    return UUID.fullmatch(value.rstrip(":")) is not None and REQUESTS.search(name[-NAME_CHARACTERS:]) is not None


def holds_secret(name: str, value: str) -> bool:
    """Return whether the value of a field is a secret, by its name, or by its look too."""
    return not is_handle(name, value) if names_secret(name) else names_key(name) and is_random(value, least=16)


def is_none(text: str, start: int) -> bool:
    """Return whether the word around a place is a placeholder, code, a term, `name#digest`, or the mark of a request."""
    begin = max(text.rfind(sign, 0, start) for sign in " \t\n=\"'`:<>") + 1
    first = max(text.rfind(sign, 0, start) for sign in " \t\n\"'`") + 1
    word, whole = (_WHOLE.match(text, place)[0] for place in (begin, first))  # type: ignore[index]
    named = re.search(_TOKEN_OF, text[max(0, begin - 40) : begin])
    name = named[1].replace(" ", "_") if named is not None else ""
    is_mark = named is not None and (not names_secret(name) or is_handle(named[1], word))
    is_code = is_placeholder(word) and not re.match(FILE_LINE, word)
    is_digest = re.search(r"#[0-9a-f]{8,}$", word) is not None
    is_term = _TERM.match(word) is not None and re.match(r"[A-Za-z]\d", word) is None
    return is_mark or is_code or is_term or is_digest or text[begin - 1 : begin] == "<" or whole.startswith("arn:aws")


def is_reference(word: str) -> bool:
    """Return whether a word only names what is meant, or a technical term."""
    return REFERENCE.match(word) is not None or _TERM.match(word) is not None


def is_mixed(word: str) -> bool:
    """Return whether a word mixes letters with digits or symbols as no word or technical term does."""
    word = word.strip("!?.,;:*'\"")
    if len(word) < 5 or _TERM.match(word) or not any(map(str.isalpha, word)):
        return False
    return any(map(str.isdigit, word)) or _SYMBOL.search(word) is not None


def is_random(word: str, *, least: int) -> bool:
    """Return whether letters and digits alternate in it, as in generated values; in a hash they do too."""
    word = word.strip(".!,")
    if len(word) < least or is_placeholder(word) or (least >= 24 and _HEX.fullmatch(word)):
        return False
    if word.count("/") > 2 and "+" not in word and not word.endswith("=") and len(word) < 40:
        return False
    for part in re.split(r"[-_./@:=+~!#$%^&*]", word):
        turns = len(_TURN.findall(part))
        if (turns >= 3 and len(part) >= 8) or (
            turns >= 1 and len(part) >= 16 and not _CAMEL.match(part) and turns + len(_CASE.findall(part)) >= 7
        ):
            return True
    return len(word) >= 24 and sum(len(_TURN.findall(part)) for part in re.split(r"[+/=]", word)) >= 3


def is_told(word: str) -> bool:
    """Return whether a word that is given as a password is one, and no name, place or text."""
    if is_placeholder(word) or is_reference(word):
        return False
    return is_mixed(word) or re.search(r"^(?=.*[A-Z]).*[^\W_][-._+~][^\W_]", word) is not None


def names_plain(word: str) -> bool:
    """Return whether a part of a word is in names of things that are no password."""
    return not (PLAIN_WORDS | NAMED).isdisjoint(re.split("[-_]", word.lower()))


def is_plain_value(word: str) -> bool:
    """Return whether a word may be a password: it is long enough and no plain word or adjective."""
    return word.isalpha() and len(word) >= 5 and word.lower() not in PLAIN_WORDS and not ADJECTIVE.search(word)
