"""What stands where a secret would and is none: placeholders, code, where it is kept, the handles of requests.

Loaded when a text has something to judge: most texts that are stored have not.
"""

from __future__ import annotations

import re

from .secrets import NAME_CHARACTERS

# Hidden before, to be filled in, or the word itself.
PLACEHOLDER = re.compile(
    r"x{3,}|\*+|\u2022+|\.{3,}|redacted|example|change-?_?me|[<{]|%[sr(]|&#?\w{1,8};"
    r"|\$(?:[{(]|(?-i:[A-Z_][A-Z0-9_]*|[a-z_]+)$|\w+(?:::|->?|[;{\[]|[)\]}>]+[,;.]?$))"
    r"|(?:_{3,}|#+|pass(?:word|wd)?|passwort|kennwort|contraseña|pwd|secret|token|null|none|true|false|string|todo)\]?$"
    r"|.{0,60}?(?:^|[-_.])(?:your|example|placeholder|dummy|sample|insert|goes|here)(?:[-_.]|$)",
    re.IGNORECASE,
)
# A file has a folder, or a name without capitals, and without digits unless of several parts: `S3cret.key` may be a
# password.
_ENDING = r"\.(?:pem|key|crt|cer|p12|pfx|jks|asc|gpg|pub|txt|json|ya?ml)$"
# An entry of a vault, and its field: secret/data/shop#api_key. The start or the field says so: a password may hold both
# signs.
_ENTRY = (
    r"(?:(?:vault:/?|/?(?:kv\d?|secret)/)[\w.-]+(?:/[\w.-]+)*#[A-Za-z][A-Za-z_-]*"
    r"|/?[a-z\d_.-]+(?:/[\w.-]+)+#(?i:(?:[a-z]+[_-])*(?:(?:api|access|hmac|private)?key|(?:access|auth)?token|(?:client)?secret"
    r"|password|passwd|passphrase|pwd|credentials?)))[,;.)\]`]*$"
)
ENTRY = re.compile(_ENTRY)
# A file of a program and a line of it: what a compiler speaks of. No digits, unless in a folder.
FILE_LINE = (
    r"(?:[\w./+-]*/[\w.+-]+|[A-Za-z_-]+)\.(?:py|pyx|go|rs|cc?|h|cpp|hpp|cxx|cs|tsx?|jsx?|mjs|java|kt|rb|php|sh|pl|lua|swift"
    r"|scala|m|ex|exs|hs|ml|sql|vue):\d+(?::\d+)?[:,;)]*$"
)
# A call, an index, a path of names, the name of a constant, a pattern: code that has the value from somewhere. An
# address, a file or an entry of a vault: where it is kept.
CODE = re.compile(
    r"(?-i:[A-Za-z_][\w.:]*[(\[]|(?![a-z_]*\d\w*"
    + _ENDING
    + r")[a-z_]\w*(?:\.[A-Za-z_]\w*)+[,;)\]}]*$|-{1,2}[a-z]|[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+[,;|\\)\]}]*$"
    r"|[A-Z]<|/\^|(?:https?|op|vault|bws|ssm|keyring)://|arn:aws|[a-z\d_.-]+(?:/[a-z\d_.-]+){2,}$|"
    + FILE_LINE
    + "|"
    + _ENTRY
    + "|"
    r"(?:[\w.~-]*/[\w./~-]+|[a-z._~-]+|[a-z\d]+(?:[_-][a-z\d]+)+)" + _ENDING + ")"
)
# Ends within the name of a thing of AWS; within that or an address.
ARN = re.compile(r"\barn:[^\s\"'`<>]*$")
ADDRESS = re.compile(r"(?:\w://|\barn:)[^\s\"'`<>]*$")
# A vendor's form filled with what no vendor makes: ghp_xxxxxxxx.
FILLED = re.compile(r"(?i:(?<![a-z])your[-_]|x{8}|(.)\1{9})")
# What a key's lines hold and the marks around them do not. Of bounded width: it is looked for at every place.
KEY_LINE = re.compile(r"(?![A-Z]{9}|[a-z]{9})[A-Za-z0-9+/=]{9}")
# A token of these may be a secret, or say which request this is or which version is meant, and is then a UUID, in
# manuals a made up one. Vault's client_token is one.
_REQUESTS = re.compile(
    r"(?:(?i:request|change|lock|update|action|sync)[ _.-]?|(?i:client)[ .-]?|[Cc]lient_?(?=T))[Tt](?i:oken)$"
)
UUID = re.compile(r"(?i)[0-9a-z]{7,8}-(?:[0-9a-z]{4}-){3}[0-9a-z]{12}")
# Seconds since 1970 with a fraction: when a secret was changed or used.
_TIME = re.compile(r"[12]\d{9}\.\d{1,9}")


def is_handle(name: str, value: str) -> bool:
    """Whether the value of a field that `names_secret` knows tells a request or a version from others, or is a time."""
    if _TIME.fullmatch(value):
        return True
    return UUID.fullmatch(value.rstrip(":")) is not None and _REQUESTS.search(name[-NAME_CHARACTERS:]) is not None
