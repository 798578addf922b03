"""The schema of a model's answer. Imported only when a model is asked: pydantic takes a while to load."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field


class Item(BaseModel):
    """One statement, and the number of the turn that says so."""

    model_config = ConfigDict(extra="forbid")

    kind: Literal["correction", "decision", "lesson", "preference", "fact", "goal", "skill"]
    statement: str = Field(min_length=8, max_length=500)
    turn: int


class Answer(BaseModel):
    """What a model found in one request."""

    model_config = ConfigDict(extra="forbid")

    memories: list[Item] = Field(max_length=50)


def as_json_schema() -> dict[str, Any]:
    return Answer.model_json_schema()


def parse(value: Any) -> list[Item]:
    """Raises ValueError for what the schema does not allow."""
    return Answer.model_validate(value).memories
