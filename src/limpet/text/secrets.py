"""Secrets that must not be stored: found by their form, replaced by a mark that says what was there."""

from __future__ import annotations

import re

# (name, pattern). A pattern with a group hides the group alone. All run in linear time.
# Compiled when a text is first suspected: most processes never need them.
_PATTERNS: tuple[tuple[str, str], ...] = (
    ("private-key", r"-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----(?:[A-Za-z0-9+/=\s:,]|-(?!----)){0,20000}-----END [A-Z ]{0,30}PRIVATE KEY-----"),
    ("aws-access-key", r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b"),
    ("aws-secret-key", r"(?i)aws_?secret_?(?:access_?)?key[\"']?\s{0,3}[=:]\s{0,3}[\"']?([A-Za-z0-9/+=]{40})"),
    ("github-token", r"\b(?:gh[pousr]_[A-Za-z0-9]{36,255}|github_pat_[A-Za-z0-9_]{22,255})\b"),
    ("gitlab-token", r"\bglpat-[A-Za-z0-9_-]{20,}"),
    ("slack-token", r"\bxox[abeoprs]-[A-Za-z0-9-]{10,}"),
    ("anthropic-key", r"\bsk-ant-[A-Za-z0-9_-]{20,}"),
    ("openai-key", r"\bsk-(?=[A-Za-z_-]{0,80}[0-9])(?:proj-|svcacct-)?[A-Za-z0-9_-]{20,}"),
    ("google-key", r"\bAIza[A-Za-z0-9_-]{35}"),
    ("stripe-key", r"\b[rs]k_(?:live|test)_[A-Za-z0-9]{16,}"),
    ("npm-token", r"\bnpm_[A-Za-z0-9]{36}\b"),
    ("pypi-token", r"\bpypi-[A-Za-z0-9_-]{40,}"),
    ("huggingface-token", r"\bhf_[A-Za-z0-9]{30,255}\b"),
    ("jwt", r"\beyJ[A-Za-z0-9_-]{10,4000}\.eyJ[A-Za-z0-9_-]{10,4000}\.[A-Za-z0-9_-]{10,4000}"),
    ("url-password", r"(?i)\b[a-z][a-z0-9+.-]{1,20}://[^\s:/@]{0,100}:([^\s/@]{1,200})@"),
    ("bearer-token", r"(?i)\bbearer\s{1,3}([A-Za-z0-9._~+/-]{20,}=*)"),
    ("password", r"(?i)\b(?:[a-z0-9]{1,30}[_-]){0,4}(?:password|passwd|pwd|secret(?:[_-]?key)?|api[_-]?key|token)[\"']?\s{0,3}[=:]\s{0,3}[\"']?"
                     r"((?=[^\s\"',;]{0,199}[0-9!@#$%^&*])(?![<$*{\[]|%\(|process\.env|os\.environ)[^\s\"',;]{8,})"),
)  # fmt: skip
# Nothing that could be a secret holds none of these, in lower case: ordinary text is passed after one look.
_MARKS = (
    "-----begin", "akia", "asia", "secret", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat", "glpat-", "xox", "sk-",
    "aiza", "k_live_", "k_test_", "npm_", "pypi-", "hf_", "eyj", "://", "bearer", "passw", "pwd", "api_key", "api-key",
    "apikey", "token",
)  # fmt: skip
_PLACEHOLDER = re.compile(r"(?i)^(?:x{3,}|\*+|\.{3,}|redacted|example|changeme|\[redacted)")


def suspected(text: str) -> bool:
    """Whether a text holds a mark of some secret; most texts hold none, and none of those holds a secret."""
    lower = text.lower()
    for mark in _MARKS:  # noqa: SIM110  any() with a generator takes twice the time, at every write
        if mark in lower:
            return True
    return False


def redact(text: str) -> tuple[str, tuple[str, ...]]:
    """The text with every secret replaced by `[redacted:NAME]`, and the names, each once, in order of the table."""
    if not suspected(text):
        return text, ()
    found: list[str] = []
    for name, pattern in _PATTERNS:
        compiled = re.compile(pattern)  # kept by re's own cache

        def hide(match: re.Match[str], name: str = name) -> str:
            group = 1 if match.re.groups else 0
            secret = match[group]
            if _PLACEHOLDER.match(secret) or "[redacted:" in secret:
                return match[0]
            if name not in found:
                found.append(name)
            whole, start = match[0], match.start()
            return whole[: match.start(group) - start] + f"[redacted:{name}]" + whole[match.end(group) - start :]

        text = compiled.sub(hide, text)
    return text, tuple(found)
