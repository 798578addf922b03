"""Data sets of others. Their texts are no part of this project: each is downloaded by hand and given by its path.

A benchmark whose data is missing, or is something else, ends with the sentence that says where it is.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class DataSet:
    """A data set: what it is, and the names that each of its items has."""

    name: str
    licence: str
    url: str
    has: frozenset[str]
    or_has: frozenset[str] = frozenset()  # of one object in the place of a list: a part of it, made for this project

    def where(self) -> str:
        return (
            f"{self.name} ({self.licence}) is not part of this project: download {self.url} and give the file's path."
        )


LOCOMO = DataSet(
    name="LoCoMo", licence="CC BY-NC 4.0", has=frozenset({"conversation", "qa", "sample_id"}),
    url="https://raw.githubusercontent.com/snap-research/locomo/main/data/locomo10.json",
)  # fmt: skip
LONGMEMEVAL = DataSet(
    name="LongMemEval", licence="MIT", has=frozenset({"question_id", "haystack_sessions", "haystack_dates"}),
    or_has=frozenset({"sessions", "questions"}),
    url="https://huggingface.co/datasets/xiaowu0162/longmemeval-cleaned/resolve/main/longmemeval_s_cleaned.json",
)  # fmt: skip
PUBLIC = (LOCOMO, LONGMEMEVAL)


def read(data: DataSet, path: str | Path | None) -> Any:
    """Parse a data set. Ends the process with the sentence that says where it is if it is not at `path`."""
    if path is None:
        raise SystemExit(data.where())
    try:
        content = json.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise SystemExit(f"{path} cannot be read: {error}. {data.where()}") from None
    item, names = (content, data.or_has) if isinstance(content, dict) else (content[:1], data.has)
    item = item[0] if isinstance(item, list) and item else item
    if not (isinstance(item, dict) and names and names <= item.keys()):
        raise SystemExit(f"{path} is something else. {data.where()}")
    return content
