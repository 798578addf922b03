"""Secrets that must not be stored: found by their form or by their surroundings, replaced by a mark.

Forms of vendors are in `forms.py`, other forms in `rules.py`; a text without a mark of one loads neither.
"""

from __future__ import annotations

import re
from functools import lru_cache, partial

from .told import MARK, MARKS, is_likely, without_told

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


# Nearly all secrets that the rules know stand beside one of these.
_MARKS = ("pass", "pw", "pswd", "secret", "token", "key", "cred", "cookie", "sess", "auth", "psk", "kennw", "mnemonic", "clave", "contrase", "shared", "communit", "login", "identif", "otp", "phrase", " words", "2fa", "mfa", "senha", "heslo", "haslo", "parola", "wachtw", "encrypt", "seed", "wallet", "wifi:", "rabbitmqctl", "net use", "connect", "pdo(", "licen", "/p:", "/rp ", ":*:", "432:", ":thin:")  # fmt: skip
# The same with an option of a program, or as what is called with a text.
_MARKS_WITH = ((" -", ("snowsql", "psexec", "sqlcmd", "cqlsh", "rdesktop", "plink", "pscp", "mysql", "mariadb", "curl", "mongo", "redis-cli", "zip", "7z", "ldap", "smbclient", "lftp", "ipmi", "mosquitto", "sudo", "influx", "bcp", "openssl", "gpg", "ansible")), ("(\"", ("client", "search", "translator", "session", "sdk", "bot", "api")), ("('", ("client", "search", "translator", "session", "sdk", "bot", "api")))  # fmt: skip
# What stands beside the number of a bank card, and of others whose words are short.
_CARDS = ("://", "private", "authorization", "card", "cart", "kart", "tarj", "visa", "amex", "cvc", "cvv", "cryptog", "mullvad", "key: [", "key\": [", "cccc")  # fmt: skip
# Keys in capitals and the digits 2 to 7, of which one in thirty has no digit.
_CAPITALS = ("akia", "asia", "abia", "acca", "://", "private", "authorization")
# No form with a digit is shorter, but cards.
_LONG = 20
# In a command, where `NAME=` and `--name ` say for certain that a value follows.
_ARGUMENT = r"""(?<![\w.-])(?:--([\w.-]++)(?:=|\s{1,3})|([\w.-]++)=)["']?((?![-<$"'\[{*%])[^\s"';&|]+)"""
_ESCAPES = ("%", "\\u00", "\\x", "&#")
# Text in the place of a secret: hidden before, or to be filled in from elsewhere.
_NO_SECRET = r"\s*|\[redacted:[a-z0-9-]+\]|\*+|<[^<>]*>|\$?\{\{?[^{}]*\}\}?"
# A vendor's form filled with what no vendor makes: ghp_xxxxxxxx. What a key's lines hold and the marks around them do not.
_FILLED = r"(?i:(?<![a-z])your[-_]|x{8}|(.)\1{9})"
_KEY_LINE = r"(?![A-Z]{9}|[a-z]{9})[A-Za-z0-9+/=]{9}"

# Names of fields that hold a secret: the last word, or the last two.
_WORDS = frozenset("adminpass authorization authtoken cookie cookies credential credentials dbpass ftppass haslo heslo jsessionid keypass mailpass mnemonic mysqlpass parola passcode passphrase passphrases passwd password passwords pgpass phpsessid privkey proxypass psk pswd pw pwd requirepass rootpass secret secretkey secrets senha sessionid smtppass sshpass storepass token userpass wachtwoord wifipass".split())  # noqa: SIM905 # fmt: skip
_KINDS = frozenset("refresh bearer access account admin api app auth cipher crypt encryption hmac licence license local master network preshared private secret session shared signing unseal webhook".split())  # noqa: SIM905 # fmt: skip
# Kinds that are none: a pass of a compiler or for a train, a key that anybody may see.
_NO_PASS = frozenset("backward band boarding bus by first forward high last low max min multi no one post pre render season second single ski test tests two".split())  # noqa: SIM905 # fmt: skip
_SHOWN = frozenset("bucket cache dedup foreign gpg group host idempotency object partition pgp primary pub public publishable routing row s3 site sort ssh verify".split())  # noqa: SIM905 # fmt: skip
# The same written as one word: dbpassword, clientsecret.
_ENDS = ("password", "passwd", "passphrase", "apikey", "apikeys", "accesskey", "secretkey", "privatekey", "clientsecret", "accesstoken", "authtoken", "refreshtoken", "apitoken", "accountkey", "signingkey", "encryptionkey", "passwort", "kennwort", "contraseña")  # fmt: skip
# Kinds of tokens that are no secret: a place in a list, or the mark of a request.
HANDLES = frozenset("backward chunk client_request continuation continue copy_product creation cursor forward idempotency next page pagination position resume sequence start starting".split())  # noqa: SIM905 # fmt: skip
# Endings that change nothing: password_2, secret-value.
_TAILS = frozenset("base confirm confirmation plain plaintext repeat value".split())  # noqa: SIM905 # fmt: skip
HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_PART = re.compile(r"[a-z]+")
# Characters of a name that are read, at its end.
NAME_CHARACTERS = 100


def suspected(text: str) -> bool:
    """Return whether a text holds a mark of some secret; a text without one holds no secret."""
    lower, digit, longest = _measured(text)
    return _marked(lower) or _may_have_form(lower, digit, longest) or _may_be_coded(text, longest) or is_likely(text)


def _measured(text: str) -> tuple[str, bool, int]:
    """Return the text in lower case, whether it has a digit, and the length of its longest word."""
    digit = any(map(text.__contains__, "0123456789")) or (not text.isascii() and any(map(str.isdigit, text)))
    return text.lower(), digit, max(map(len, text.split()), default=0)


def _marked(lower: str) -> bool:
    return any(map(lower.__contains__, _MARKS)) or any(
        sign in lower and any(map(lower.__contains__, marks)) for sign, marks in _MARKS_WITH
    )


def _may_be_coded(text: str, longest: int) -> bool:
    """Return whether a text may hold base64, or characters that are written as escapes."""
    return longest >= _LONG or (longest > 0 and any(map(text.__contains__, _ESCAPES)))


def _may_have_form(lower: str, digit: bool, longest: int) -> bool:
    """Return whether a text may hold a secret of one of `forms.FORMS`; without a digit, only a key or a URL's."""
    return longest >= _LONG or any(map(lower.__contains__, _CARDS if digit else _CAPITALS))


def is_bare(given: str, redacted: str) -> bool:
    """Return whether a text was one word and all of it a secret: no word beside it says what it is for."""
    return len(given.split()) == 1 and MARKS.fullmatch(redacted.strip()) is not None


def redact(text: str, *, sentences: bool = True) -> tuple[str, tuple[str, ...]]:
    """Return the text with every secret replaced by `[redacted:NAME]`, and the names, each once, in table order.

    What is written as base64 or with escapes is decoded once. `sentences`: also what the words around it tell; else by
    form alone, for names that would be refused.
    """
    lower, digit, longest = _measured(text)
    redacted, names = _redact(text, lower, digit, longest, sentences=sentences)
    if not _may_be_coded(text, longest):
        return redacted, names
    from .forms import decoded

    redacted, more = decoded(redacted, lambda plain: _redact(plain, *_measured(plain), sentences=sentences))
    return redacted, tuple(dict.fromkeys(names + more)) if more else names


def _redact(text: str, lower: str, digit: bool, longest: int, *, sentences: bool = True) -> tuple[str, tuple[str, ...]]:
    names: list[str] = []
    if _may_have_form(lower, digit, longest):
        from .forms import matches

        for name, form in matches(lower):
            text = form.sub(partial(_hide, name, names), text)
    given = text
    if _marked(lower):
        from . import rules

        for start, end in reversed(rules.secret_spans(text, lower)):
            text = f"{text[:start]}{MARK}{text[end:]}"
    if sentences:
        text = without_told(text)
    return text, tuple(names) if text == given else (*names, "password")


def _hide(name: str, names: list[str], match: re.Match[str]) -> str:
    """Return the match with its last group, or all of it, replaced by a mark."""
    from .forms import beside_key_id, is_card
    from .values import PLACEHOLDER

    groups = match.re.groupindex
    secret = match[match.lastindex or 0] if not {"dash", "card"} & groups.keys() else match[0]
    none = PLACEHOLDER.match(secret) or re.search(_FILLED, secret) or "[redacted:" in secret
    none = none or ("card" in groups and not is_card(match)) or ("beside" in groups and not beside_key_id(match))
    # The marks of a key alone, as code looks for them.
    if none or ("dash" in groups and not re.compile(_KEY_LINE).search(secret, secret.index("KEY"))):
        return match[0]
    if name not in names:
        names.append(name)
    return match[0].replace(secret, f"[redacted:{name}]")


def redact_command(text: str) -> tuple[str, tuple[str, ...]]:
    """Redact as `redact` does, and also values of a shell command's secret names: PGPASSWORD=x, --token x."""
    text, names = redact(text)
    if not _marked(text.lower()):
        return text, names
    from .values import is_handle

    def hide(match: re.Match[str]) -> str:
        name = (match[1] or match[2])[-NAME_CHARACTERS:]
        if not names_secret(name) or is_handle(name, match[3]):
            return match[0]
        return f"{match[0][: match.start(3) - match.start()]}[redacted:password]"

    hidden = re.sub(_ARGUMENT, hide, text)
    return hidden, names if hidden == text or "password" in names else (*names, "password")


def redact_value(name: str | None, text: str) -> tuple[str, tuple[str, ...]]:
    """Redact a text that belongs to `name`, as `NAME=text` would be redacted."""
    if name is None or not names_secret(name):
        return redact(text)
    from .rules import VALUE
    from .values import PLACEHOLDER, is_handle

    is_secret = re.fullmatch(VALUE, text) and not PLACEHOLDER.match(text) and not is_handle(name, text)
    return _hidden(text) if is_secret else redact(text)


def redact_fields(value: Any) -> tuple[Any, tuple[str, ...]]:
    """Return JSON without secrets: in its texts, in its names, and any text under a name that means one.

    Numbers and truth values stay. Returns the value, or a copy, and what was found, each once.
    """
    texts: list[str] = []
    if not _named(value, texts) and not any(map(suspected, texts)):
        return value, ()
    names: dict[str, None] = {}
    return _clean(value, names, hidden=False), tuple(names)


def _named(value: Any, texts: list[str]) -> bool:
    """Return whether a field has the name of a secret; if none has, all texts are in `texts`."""
    if isinstance(value, str):
        texts.append(value)
    elif isinstance(value, list):
        return any(_named(item, texts) for item in value)
    elif isinstance(value, dict):
        texts.extend(value)
        # The first: perhaps a field written as two.
        named = "value" in value or any(names_secret(name) or names_key(name) for name in value)
        return named or any(_named(item, texts) for item in value.values())
    return False


def _clean(value: Any, secrets: dict[str, None], *, hidden: bool) -> Any:
    if isinstance(value, str):
        text, names = _hidden(value) if hidden and not re.fullmatch(_NO_SECRET, value) else redact(value)
        secrets.update(dict.fromkeys(names))
        return text
    if isinstance(value, list):
        return [_clean(item, secrets, hidden=hidden) for item in value]
    if not isinstance(value, dict):
        return value
    from .values import holds_secret

    # {"name": "DB_PASSWORD", "value": "..."}: a field written as two.
    called = value.get("name", value.get("key")) if "value" in value else None
    pair = isinstance(called, str) and names_secret(called)
    cleaned = {}
    for name, item in value.items():
        is_secret = holds_secret(name, item) if isinstance(item, str) else names_secret(name)
        is_hidden = hidden or is_secret or (pair and name == "value")
        shown = _clean(name, secrets, hidden=False)
        cleaned[shown] = _clean(item, secrets, hidden=is_hidden)
    return cleaned


def _hidden(text: str) -> tuple[str, tuple[str, ...]]:
    """Return a text replaced as a whole; the name of its form says more than that of its field."""
    names = redact(text)[1] or ("password",)
    return f"[redacted:{names[0]}]", names


@lru_cache(maxsize=4096)
def names_secret(name: str) -> bool:
    """Return whether a field's name means a secret: db_password, X-Api-Key, clientSecret; not token_count."""
    words = _words(name)
    last, before = (words or [""])[-1], words[-2:-1]
    if last == "token" and before and (before[0] in HANDLES or "_".join(words[-3:-1]) in HANDLES):
        return False
    if last == "pass" and before:
        return before[0] not in _NO_PASS
    kept = last in ("key", "keys", "tokens") and not _KINDS.isdisjoint(before)
    return kept or last in _WORDS or last.endswith(_ENDS)


# The last words of names whose value is a secret if it is random.
_KEYS = frozenset("auth bearer cred creds jwt login pat pk salt session webhook".split())  # noqa: SIM905 # fmt: skip


@lru_cache(maxsize=4096)
def names_key(name: str) -> bool:
    """Return whether a field's name may mean a secret: one is in it if its value is random."""
    words = _words(name) or [""]
    if words[-2:] == ["secret", "id"] or words[-3:] == ["private", "key", "id"]:
        return True
    kind, ending = re.fullmatch("(.*?)(keys?|token|secret|)", words[-1]).groups()  # type: ignore[union-attr]
    kind = kind if ending and kind else (words[-2] if len(words) > 1 else "")
    return words[-1] != "token" and kind not in _SHOWN and (bool(kind and ending) or words[-1] in _KEYS)


def _words(name: str) -> list[str]:
    words = _PART.findall(HUMP.sub("_", name[-NAME_CHARACTERS:]).lower())
    while len(words) > 1 and (words[-1] in _TAILS or words[-1] == "v"):
        words.pop()
    return words
