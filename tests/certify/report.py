"""What the certificate says: each part with what was tried and what was found."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Part:
    """One kind of harm. `tried`: in words; `counts`: in numbers; `problems`: what was found, [] when all is well."""

    name: str
    tried: str
    counts: dict[str, int] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Certificate:
    """Of a folder on its disk and file system. `kept`: where the files of a failure are."""

    folder: str
    file_system: str | None
    flush_ms: float
    seconds: float
    parts: list[Part]
    kept: str | None = None

    @property
    def ok(self) -> bool:
        return not any(part.problems for part in self.parts)
