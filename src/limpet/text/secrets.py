"""Secrets that must not be stored: found by their form or by their surroundings, replaced by a mark.

Forms of vendors are in `forms.py`, everything else in `secret_rules.py`; a text without a mark of one loads neither.
"""

from __future__ import annotations

import re
from functools import lru_cache, partial

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


# Nearly all secrets that the rules know stand beside one of these.
_MARKS = (
    "pass", "pw", "secret", "token", "key", "cred", "cookie", "auth", "psk", "kennw", "mnemonic", "pin", "clave", "contrase",
    "shared", "communit", "login", "log ", "zugang", "anmeld", "account", "identif", "acceso", "cod", "kod", "comb", "cv",
    "puk", "otp", "phrase", "frase", " words", "jeton", "2fa", "mfa", "machine ", "net use", "wachtw", "senha", "heslo", "haslo", "parola", "@",
)  # fmt: skip
# The same beside a sign: programs with an option, files, sessions; in texts that are not only ASCII; with a digit
# ("open it with 4711").
_MARKS_WITH = (
    (" -", ("mysql", "mariadb", "curl", "mongo", "redis-cli", "zip", "7z", "ldap", "smbclient", "lftp", "ipmi", "mosquitto", "sudo")),
    ("|", ("sudo", "chpass", "|")), (":", (":*:", "432:", ":thin:", "wifi:")), ("=", ("essionid", "sessid")), (" /", ("/p:",)),
)  # fmt: skip
_MARKS_BEYOND = (
    "clé", "schlüssel", "密", "口令", "令牌", "秘", "验证码", "hasł", "парол", "код", "пин", "パスワード", "暗", "비밀", "비번", "コード", "şifre", "lösen", "jelsz", "salasana", "κωδικ", "códig", "tür",
)  # fmt: skip
_MARKS_OF_DIGITS = (" with ", " using ", " mit ", "alarm", "lock", "door", "gate", "safe", "tresor", "puerta", "porta", "crypt")  # fmt: skip
# What stands beside the number of a bank card.
_CARDS = ("card", "cart", "kart", "tarj", "visa")
# Keys in capitals and the digits 2 to 7, of which one in thirty has no digit.
_CAPITALS = ("akia", "asia", "abia", "acca")
# No form with a digit is shorter, but cards.
_LONG = 20
# In a command, where `NAME=` and `--name ` say for certain that a value follows.
_ARGUMENT = r"""(?<![\w.-])(?:--([\w.-]++)(?:=|\s{1,3})|([\w.-]++)=)["']?((?![-<$"'\[{*%])[^\s"';&|]+)"""
_ESCAPES = ("%", "\\u00", "\\x", "&#")
# Text in the place of a secret: hidden before, or to be filled in from elsewhere.
_NO_SECRET = r"\s*|\[redacted:[a-z-]+\]|\*+|<[^<>]*>|\$?\{\{?[^{}]*\}\}?"
_MARK, _BEARER, _LABEL_WORD = r"\[redacted:[a-z-]+\]", r"(?i)\b(?:bearer|basic)\s*$", r"[\w.-]+"
_LABELS = ("pass", "pwd", "secret", "token", "key", "credential", "cookie", "authorization", "psk", "auth", "kennwort")
# A label before a secret: `DB_PASSWORD=`, `staging API key:`, `aws key`. Longer ones, and what follows, say something.
LABEL_WORDS = 4
# Before a secret, these say where it is used: a file, or that something has it.
_TELLS = r"(?i)\w\.\w|\b(?:has|have|had|uses?|used|needs?|holds|contains|hat|nutzt|braucht)\b"
# A vendor's form filled with what no vendor makes: ghp_xxxxxxxx. What a key's lines hold and the marks around them do not.
_FILLED = r"(?i:(?<![a-z])your[-_]|x{8}|(.)\1{9})"
_KEY_LINE = r"(?![A-Z]{9}|[a-z]{9})[A-Za-z0-9+/=]{9}"

# Names of fields that hold a secret: the last word, or the last two.
_WORDS = frozenset(
    {"password", "passwords", "passwd", "passphrase", "passcode", "pwd", "secret", "secrets", "token", "credential",
     "credentials", "authorization", "cookie", "cookies", "psk", "authtoken", "requirepass", "storepass", "keypass", "privkey",
     "mnemonic", "secretkey", "passphrases", "wachtwoord", "senha", "heslo", "haslo", "parola", "sessionid", "jsessionid",
     "phpsessid"}
)  # fmt: skip
_KINDS = {
    "key": frozenset({"api", "access", "private", "secret", "encryption", "signing", "master", "account", "shared", "app",
                      "hmac", "session", "crypt", "cipher", "webhook", "preshared", "license", "licence", "admin", "unseal"}),
    "auth": frozenset({"registry", "basic", "docker", "npm"}),
    "tokens": frozenset({"api", "access", "auth", "bearer", "refresh"}),
    "pass": frozenset({"db", "database", "user", "smtp", "mail", "admin", "root", "ftp", "mysql", "pg", "redis", "auth", "sa",
                       "require", "store", "key", "trust", "mongo", "postgres", "proxy", "rpc", "wifi", "wp", "git", "app"}),
}  # fmt: skip
_KINDS["keys"] = _KINDS["key"]
# The same written as one word: dbpassword, clientsecret.
_ENDS = (
    "password", "passwd", "passphrase", "apikey", "apikeys", "accesskey", "secretkey", "privatekey", "clientsecret",
    "accesstoken", "authtoken", "refreshtoken", "apitoken", "accountkey", "signingkey", "encryptionkey", "passwort", "kennwort",
    "contraseña",
)  # fmt: skip
# Kinds of tokens that are no secret: a place in a list, or the mark of a request.
HANDLES = frozenset(
    {"next", "page", "pagination", "starting", "start", "continuation", "continue", "sequence", "idempotency", "cursor", "resume",
     "position", "forward", "backward", "chunk", "creation", "client_request", "copy_product"}
)  # fmt: skip
# Endings that change nothing: password_2, secret-value.
_TAILS = frozenset({"value", "plain", "plaintext", "confirm", "confirmation", "repeat"})
HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_PART = re.compile(r"[a-z]+")
# Characters of a name that are read, at its end.
NAME_CHARACTERS = 100


def suspected(text: str) -> bool:
    """Return whether a text holds a mark of some secret; a text without one holds no secret."""
    lower, digit, longest = _measured(text)
    return _marked(lower, digit) or _may_have_form(lower, digit, longest) or _may_be_coded(text, longest)


def _measured(text: str) -> tuple[str, bool, int]:
    """Return the text in lower case, whether it has a digit, and then the length of its longest word."""
    digit = any(map(text.__contains__, "0123456789")) or (not text.isascii() and any(map(str.isdigit, text)))
    return text.lower(), digit, max(map(len, text.split())) if digit else 0


def _marked(lower: str, digit: bool) -> bool:
    return (
        any(map(lower.__contains__, _MARKS))
        or (digit and any(map(lower.__contains__, _MARKS_OF_DIGITS)))
        or any(sign in lower and any(map(lower.__contains__, marks)) for sign, marks in _MARKS_WITH)
        or (not lower.isascii() and any(map(lower.__contains__, _MARKS_BEYOND)))
    )


def _may_be_coded(text: str, longest: int) -> bool:
    """Return whether a text may hold base64, or characters that are written as escapes."""
    return longest >= _LONG or (longest > 0 and any(map(text.__contains__, _ESCAPES)))


def _may_have_form(lower: str, digit: bool, longest: int) -> bool:
    """Return whether a text may hold a secret of one of `forms.FORMS`; without a digit, only a key or a URL's."""
    if longest >= _LONG or "://" in lower or "private" in lower or "authorization" in lower:
        return True
    return any(map(lower.__contains__, _CARDS if digit else _CAPITALS))


def is_bare(redacted: str) -> bool:
    """Return whether a redacted text held only secrets: each line with text has a mark and at most its label.

    A label is up to LABEL_WORDS words that end in `:` or `=`, or in a word for a secret.
    """
    lines = [line for line in redacted.splitlines() if line.strip()]
    return bool(lines) and all(map(_bare_line, lines))


def _bare_line(line: str) -> bool:
    before, *rest = re.split(_MARK, line)
    if not rest or any(re.search(r"\w", part) for part in rest):
        return False
    label = re.sub(_BEARER, "", before.rstrip()).rstrip(" \t\"'`([{")
    words = re.findall(_LABEL_WORD, label)
    if not words:
        return True
    if len(words) > LABEL_WORDS or re.search(_TELLS, label) or re.search("[:=]", label.rstrip(" \t:=")):
        return False
    return label[-1] in ":=" or words[-1].lower().endswith(_LABELS)


def redact(text: str) -> tuple[str, tuple[str, ...]]:
    """Return the text with every secret replaced by `[redacted:NAME]`, and the names, each once, in table order.

    What is written as base64 or with escapes is decoded once.
    """
    lower, digit, longest = _measured(text)
    redacted, names = _redact(text, lower, digit, longest)
    if not _may_be_coded(text, longest):
        return redacted, names
    from .forms import decoded

    redacted, more = decoded(redacted, lambda plain: _redact(plain, *_measured(plain)))
    return redacted, tuple(dict.fromkeys(names + more)) if more else names


def _redact(text: str, lower: str, digit: bool, longest: int) -> tuple[str, tuple[str, ...]]:
    names: list[str] = []
    if _may_have_form(lower, digit, longest):
        from .forms import matches

        for name, form in matches(lower):
            text = form.sub(partial(_hide, name, names), text)
    if not _marked(lower, digit):
        return text, tuple(names)
    from . import secret_rules

    parts, done = [], 0
    for start, end in secret_rules.secret_spans(text, lower):
        parts += [text[done:start], "[redacted:password]"]
        done = end
    return ("".join(parts) + text[done:], (*names, "password")) if parts else (text, tuple(names))


def _hide(name: str, names: list[str], match: re.Match[str]) -> str:
    """Return the match with its last group, or all of it, replaced by a mark."""
    from .forms import beside_key_id, is_card
    from .secret_values import PLACEHOLDER

    groups = match.re.groupindex
    secret = match[match.lastindex or 0] if not {"dash", "card"} & groups.keys() else match[0]
    if PLACEHOLDER.match(secret) or re.search(_FILLED, secret) or "[redacted:" in secret:
        return match[0]
    if "dash" in groups and not re.compile(_KEY_LINE).search(secret, secret.index("KEY")):
        return match[0]  # the marks alone, as code looks for them
    if "card" in groups and not is_card(match):
        return match[0]
    if "beside" in groups and not beside_key_id(match):
        return match[0]
    if name not in names:
        names.append(name)
    return match[0].replace(secret, f"[redacted:{name}]")


def redact_command(text: str) -> tuple[str, tuple[str, ...]]:
    """Redact as `redact` does, and also values of a shell command's secret names: PGPASSWORD=x, --token x."""
    text, names = redact(text)
    if not _marked(text.lower(), digit=False):
        return text, names
    from .secret_values import is_handle

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
    from .secret_rules import VALUE
    from .secret_values import PLACEHOLDER, is_handle

    is_secret = re.fullmatch(VALUE, text) and not PLACEHOLDER.match(text) and not is_handle(name, text)
    return _hidden(text) if is_secret else redact(text)


def redact_fields(value: Any) -> tuple[Any, tuple[str, ...]]:
    """Return JSON without secrets: in its texts, in its names, and any text under a name that means one.

    Numbers and truth values stay. Returns the value, or a copy, and what was found, each once.
    """
    texts: list[str] = []
    if not _named(value, texts) and not suspected("\n".join(texts)):
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
        return "value" in value or any(map(names_secret, value)) or any(_named(item, texts) for item in value.values())
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
    from .secret_values import is_handle

    # {"name": "DB_PASSWORD", "value": "..."}: a field written as two.
    called = value.get("name", value.get("key")) if "value" in value else None
    pair = isinstance(called, str) and names_secret(called)

    def is_hidden(name: str, item: Any) -> bool:
        if hidden or (pair and name == "value"):
            return True
        return names_secret(name) and not (isinstance(item, str) and is_handle(name, item))

    return {
        _clean(name, secrets, hidden=False): _clean(item, secrets, hidden=is_hidden(name, item))
        for name, item in value.items()
    }


def _hidden(text: str) -> tuple[str, tuple[str, ...]]:
    """Return a text replaced as a whole; the name of its form says more than that of its field."""
    names = redact(text)[1] or ("password",)
    return f"[redacted:{names[0]}]", names


@lru_cache(maxsize=4096)
def names_secret(name: str) -> bool:
    """Return whether a field's name means a secret: db_password, X-Api-Key, clientSecret; not token_count."""
    words = _PART.findall(HUMP.sub("_", name[-NAME_CHARACTERS:]).lower())
    while len(words) > 1 and (words[-1] in _TAILS or words[-1] == "v"):
        words.pop()
    if not words:
        return False
    last = words[-1]
    if last == "token" and len(words) > 1 and (words[-2] in HANDLES or "_".join(words[-3:-1]) in HANDLES):
        return False
    if last in _WORDS or last.endswith(_ENDS):
        return True
    return len(words) > 1 and words[-2] in _KINDS.get(last, ())
