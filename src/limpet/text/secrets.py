"""Secrets that must not be stored: found by their form or by the name of their field, replaced by a mark.

What a name means is said once, by `names_secret`: for `NAME=value` in texts and for the fields of JSON. Patterns that only a
text with a secret needs are compiled, and kept by re's own cache, when one comes; what is none is in `placeholders.py`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache, partial

from . import forms

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# Of every name that `names_secret` knows.
_NAME_MARKS = (
    "pass",
    "pwd",
    "secret",
    "token",
    "key",
    "credential",
    "cookie",
    "authorization",
    "psk",
    "auth",
    "kennwort",
    "mnemonic",
)
# What sentences call a password (`passwords.py`): the few letters that are looked for, and what they must be part of.
_TOLD_MARKS = ("pass", "pw", "pin", "kennw", "clave", "fi key", "psk", "shared", "communit")
_TOLD_WORDS = (
    "passw",
    "passp",
    "passc",
    "passe ",
    "pass ",
    "pw",
    "pin is",
    "pin for",
    "pin:",
    "kennwort",
    "clave",
    "fi key",
    "psk",
    "shared key",
    "shared-key",
    "community",
)
_TOLD_ABROAD = ("contrase", "schlüssel", "密码", "口令", "密钥", "令牌")
# Of what `credentials.py` finds: beside a digit, and words alone.
_KEY_MARKS = (
    "key", "token", "secret", "cred", "login", "passw", "jeton", "clave", "zugang", "identifiant", "code", "combination", "combo",
    "cvv", "cvc", "puk", "pin ", "pin:", "otp", "2fa", "mfa", "authenticator", " with ", " using ", " mit ", ":*:", "432:", ":thin:",
)  # fmt: skip
_KEYS_ABROAD = ("clé", "schlüssel", "密", "令牌", "口令", "código")
_WORDS_ALONE = ("phrase", "mnemonic", "machine ", "default login", ":*:", "432:")
_DIGIT = re.compile(r"\d")
_SHUT = (False, False, False, False, False)
# Programs that take a secret by a flag that is not named after it.
_PROGRAMS = (
    "mysql",
    "mariadb",
    "curl",
    "sshpass",
    "mongo",
    " login",
    "redis-cli",
    "zip",
    "7z",
    "ldap",
    "openssl",
    "sudo",
    "net use",
    "chpasswd",
)


def suspected(text: str) -> bool:
    """Whether a text holds a mark of some secret; most texts hold none, and none of those holds a secret."""
    return any(_gates(text, text.lower()))


def _gates(text: str, lower: str) -> tuple[bool, bool, bool, bool, bool]:
    """Which of forms, assignments, sentences, commands, and keys by their context a text may hold.

    Nearly everything takes a digit, and other languages' words take other letters: so few marks are looked for in most texts.
    """
    digit = _DIGIT.search(text) is not None
    abroad = not text.isascii()
    told = (_holds(lower, _TOLD_MARKS) and (_holds(lower, _TOLD_WORDS) or "PIN" in text)) or (
        abroad and _holds(lower, _TOLD_ABROAD)
    )
    key = _holds(lower, _WORDS_ALONE) or (
        digit and (_holds(lower, _KEY_MARKS) or (abroad and _holds(lower, _KEYS_ABROAD)))
    )
    return forms.may_hold(text, lower, digit=digit), _named_in(lower), told, _given(lower), key


def _given(lower: str) -> bool:
    """Whether a command may give a password to a program."""
    return (" -" in lower or " pass:" in lower or "passwd" in lower or "net use" in lower) and _holds(lower, _PROGRAMS)


def _named_in(lower: str) -> bool:
    """Whether something may be assigned to the name of a secret."""
    return (":" in lower or "=" in lower or "--" in lower or "</" in lower) and _holds(lower, _NAME_MARKS)


def _holds(text: str, marks: tuple[str, ...]) -> bool:
    for mark in marks:  # noqa: SIM110  any() with a generator takes twice the time, at every write
        if mark in text:
            return True
    return False


# What a field is called that holds a secret: its last word, or its last two.
_SECRET_WORDS = frozenset(
    {"password", "passwords", "passwd", "passphrase", "passcode", "pwd", "secret", "secrets", "token", "credential",
     "credentials", "authorization", "cookie", "cookies", "psk", "authtoken", "requirepass", "storepass", "keypass", "privkey", "mnemonic", "secretkey"}
)  # fmt: skip
_SECRET_KINDS = {
    "key": frozenset({"api", "access", "private", "secret", "encryption", "signing", "master", "account", "shared", "app",
                      "hmac", "session", "crypt", "cipher", "webhook"}),
    "auth": frozenset({"registry", "basic", "docker", "npm"}),
    "tokens": frozenset({"api", "access", "auth", "bearer", "refresh"}),
    "pass": frozenset({"db", "database", "user", "smtp", "mail", "admin", "root", "ftp", "mysql", "pg", "redis", "auth", "sa",
                       "require", "store", "key", "trust", "mongo", "postgres", "proxy", "rpc", "wifi", "wp", "git", "app"}),
}  # fmt: skip
_SECRET_KINDS["keys"] = _SECRET_KINDS["key"]
# The same written as one word: dbpassword, clientsecret.
_SECRET_ENDS = (
    "password", "passwd", "passphrase", "apikey", "apikeys", "accesskey", "secretkey", "privatekey", "clientsecret",
    "accesstoken", "authtoken", "refreshtoken", "apitoken", "accountkey", "signingkey", "encryptionkey", "passwort", "kennwort", "contraseña",
)  # fmt: skip
# Of which kind a token or key is no secret: it says where a list goes on, or that a request is the same.
HANDLES = frozenset(
    {"next", "page", "pagination", "starting", "start", "continuation", "continue", "sequence", "idempotency", "cursor", "resume", "position",
     "forward", "backward", "chunk", "creation", "client_request", "copy_product"}
)  # fmt: skip
# What may follow and changes nothing: password_2, secret-value.
_TAILS = frozenset({"value", "plain", "plaintext", "confirm", "confirmation", "repeat"})
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_PART = re.compile(r"[a-z]+")
# A name is told by its end.
NAME_CHARACTERS = 100

# What is assigned to such a name is a secret if it looks like this.
VALUE = (
    r"""(?=[^\s"',;]{0,199}[0-9!@#$%^&*])(?![<$*{\[]|%\(|process\.env|os\.environ)((?:[^\s"',;\\]|\\(?!["'])){8,})"""
)
# In a command, where `NAME=` and `--name ` say for certain that a value follows.
_ARGUMENT = r"""(?<![\w.-])(?:--([\w.-]++)(?:=|\s{1,3})|([\w.-]++)=)["']?((?![-<$"'\[{*%])[^\s"';&|]+)"""
# What stands where a secret would: hidden before, or to be filled in from elsewhere.
_NO_SECRET = r"\s*|\[redacted:[a-z-]+\]|\*+|<[^<>]*>|\$?\{\{?[^{}]*\}\}?"


_MARK, _BEARER, _LABEL_WORD = r"\[redacted:[a-z-]+\]", r"(?i)\b(?:bearer|basic)\s*$", r"[\w.-]+"
# A label before a secret: `DB_PASSWORD=`, `staging API key:`, `aws key`. Longer ones, and what follows, say something.
LABEL_WORDS = 4
# Before a secret, these say where it is used: a file, or that something has it.
_TELLS = r"(?i)\w\.\w|\b(?:has|have|had|uses?|used|needs?|holds|contains|hat|nutzt|braucht)\b"


def is_bare(redacted: str) -> bool:
    """Whether a redacted text was nothing but secrets: on each line that says anything, a mark and at most its label.

    A label is up to LABEL_WORDS words that end in `:` or `=`, or in a word for a secret.
    """
    lines = [line for line in redacted.splitlines() if line.strip()]
    return bool(lines) and all(map(_bare_line, lines))


def _bare_line(line: str) -> bool:
    before, *rest = re.split(_MARK, line)
    if not rest or any(re.search(r"\w", one) for one in rest):
        return False
    label = re.sub(_BEARER, "", before.rstrip()).rstrip(" \t\"'`([{")
    words = re.findall(_LABEL_WORD, label)
    if not words:
        return True
    closed = label[-1] in ":="
    if len(words) > LABEL_WORDS or re.search(_TELLS, label) or re.search("[:=]", label.rstrip(" \t:=")):
        return False
    return closed or words[-1].lower().endswith(_NAME_MARKS)


@lru_cache(maxsize=4096)
def names_secret(name: str) -> bool:
    """Whether a field of this name holds a secret: db_password, X-Api-Key, clientSecret; not token_count, secret_santa."""
    words = _PART.findall(_HUMP.sub("_", name[-NAME_CHARACTERS:]).lower())
    while len(words) > 1 and (words[-1] in _TAILS or words[-1] == "v"):
        words.pop()
    if not words:
        return False
    last = words[-1]
    if last == "token" and len(words) > 1 and (words[-2] in HANDLES or "_".join(words[-3:-1]) in HANDLES):
        return False
    if last in _SECRET_WORDS or last.endswith(_SECRET_ENDS):
        return True
    return len(words) > 1 and words[-2] in _SECRET_KINDS.get(last, ())


def redact(text: str) -> tuple[str, tuple[str, ...]]:
    """The text with every secret replaced by `[redacted:NAME]`, and the names, each once, in order of the table."""
    if not text:
        return text, ()
    lower = text.lower()
    gates = _gates(text, lower)
    if gates == _SHUT:
        return text, ()
    formed, named, told, given, key = gates
    found: list[str] = []
    if formed:
        for name, form in forms.matches(lower):
            text = form.sub(partial(_hide, name, found), text)
    if not (named or told or given or key):
        return text, tuple(found)
    from . import assignments, credentials, passwords

    hidden = text
    if named:
        hidden = _without(hidden, assignments.assigned(hidden))
    if told:
        hidden = _without(hidden, passwords.told(hidden))
    if given:
        hidden = _without(hidden, passwords.given(hidden))
    if key:
        hidden = _without(hidden, credentials.held(hidden, lower))
    return hidden, tuple(found) if hidden == text else (*found, "password")


def _hide(name: str, found: list[str], match: re.Match[str]) -> str:
    """The match with its last group, or all of it, replaced by a mark."""
    from .placeholders import FILLED, KEY_LINE, PLACEHOLDER

    group = len(match.groups())
    secret = match[group] if group and "dash" not in match.re.groupindex else match[0]
    if PLACEHOLDER.match(secret) or FILLED.search(secret) or "[redacted:" in secret:
        return match[0]
    if "dash" in match.re.groupindex and not KEY_LINE.search(secret, secret.index("KEY")):
        return match[0]  # the marks alone, as code looks for them
    if "beside" in match.re.groupindex and not forms.beside_key_id(match):
        return match[0]
    if name not in found:
        found.append(name)
    return match[0].replace(secret, f"[redacted:{name}]")


def _without(text: str, spans: Iterable[tuple[int, int]]) -> str:
    parts, done = [], 0
    for start, end in spans:
        parts += [text[done:start], "[redacted:password]"]
        done = end
    return "".join(parts) + text[done:] if parts else text


def redact_command(text: str) -> tuple[str, tuple[str, ...]]:
    """As `redact`, and whatever a shell command gives to the name of a secret: PGPASSWORD=x, --token x."""
    text, found = redact(text)
    if not _holds(text.lower(), _NAME_MARKS):
        return text, found
    from .placeholders import is_handle

    def hide(match: re.Match[str]) -> str:
        name = (match[1] or match[2])[-NAME_CHARACTERS:]
        if not names_secret(name) or is_handle(name, match[3]):
            return match[0]
        return f"{match[0][: match.start(3) - match.start()]}[redacted:password]"

    hidden = re.sub(_ARGUMENT, hide, text)
    return hidden, found if hidden == text or "password" in found else (*found, "password")


def redact_value(name: str | None, text: str) -> tuple[str, tuple[str, ...]]:
    """The text that is said of `name`, as `NAME=text` would be redacted."""
    if name is None or not names_secret(name):
        return redact(text)
    from .placeholders import PLACEHOLDER, is_handle

    said = re.fullmatch(VALUE, text) and not PLACEHOLDER.match(text) and not is_handle(name, text)
    return _hidden(text) if said else redact(text)


def redact_fields(value: Any) -> tuple[Any, tuple[str, ...]]:
    """JSON without secrets: in its texts, in its names, and whatever text stands under a name that means one.

    Numbers and truth values stay. Returns the value, or a copy, and what was found, each once.
    """
    texts: list[str] = []
    if not _named(value, texts) and not suspected("\n".join(texts)):
        return value, ()
    found: dict[str, None] = {}
    return _clean(value, found, hidden=False), tuple(found)


def _named(value: Any, texts: list[str]) -> bool:
    """Whether a field has the name of a secret; if none has, all texts are in `texts`."""
    kind = type(value)
    if kind is str:
        texts.append(value)
    elif kind is list:
        return any(_named(one, texts) for one in value)
    elif kind is dict:
        if "value" in value or any(map(names_secret, value)):
            return True  # the first: perhaps a field written as two
        texts.extend(value)
        for one in value.values():
            if type(one) is str:
                texts.append(one)
            elif (type(one) is dict or type(one) is list) and _named(one, texts):
                return True
    return False


def _clean(value: Any, found: dict[str, None], *, hidden: bool) -> Any:
    if isinstance(value, str):
        text, names = _hidden(value) if hidden and not re.fullmatch(_NO_SECRET, value) else redact(value)
        found.update(dict.fromkeys(names))
        return text
    if isinstance(value, dict):
        # {"name": "DB_PASSWORD", "value": "..."}: a field written as two.
        called = value.get("name", value.get("key")) if "value" in value else None
        pair = isinstance(called, str) and names_secret(called)
        from .placeholders import is_handle

        return {
            _clean(name, found, hidden=False): _clean(
                one,
                found,
                hidden=hidden
                or (names_secret(name) and not (isinstance(one, str) and is_handle(name, one)))
                or (pair and name == "value"),
            )
            for name, one in value.items()
        }
    if isinstance(value, list):
        return [_clean(one, found, hidden=hidden) for one in value]
    return value


def _hidden(text: str) -> tuple[str, tuple[str, ...]]:
    """All of it replaced; what it is by its form says more than the name of its field."""
    names = redact(text)[1] or ("password",)
    return f"[redacted:{names[0]}]", names
