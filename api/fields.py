"""Kinds of fields that several requests share."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    model_validator,
)

from api.markup import without_nuls
from askbook.models import ChunkFilter

CleanText = BeforeValidator(lambda value: without_nuls(value) if isinstance(value, str) else value)
BookId = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9._-]{0,99}$")]
Name = Annotated[str, StringConstraints(min_length=1, max_length=512), CleanText]
Id = Annotated[
    UUID, BeforeValidator(lambda value: UUID(value) if isinstance(value, str) else value)
]
Number = Annotated[int, Field(ge=0, le=1_000_000)]


class Asked(BaseModel):
    """A request body. Unknown fields are refused; that true is no number, the app sees to."""

    model_config = ConfigDict(extra="forbid")


class Selection(Asked):
    """A range of the book that a reader selected (seed 001)."""

    source_file: Name | None = Field(None, description="The file, relative to the book's folder.")
    chapter_id: Name | None = Field(None, description="Or the chapter.")
    start: int = Field(ge=0, le=2**31, description="First code point of the range.")
    end: int = Field(ge=1, le=2**31, description="First code point after it.")

    @model_validator(mode="after")
    def _is_a_range(self) -> Selection:
        if self.end <= self.start:
            raise ValueError("end must be greater than start")
        if (self.source_file is None) == (self.chapter_id is None):
            raise ValueError("give either source_file or chapter_id")
        return self

    def narrow(self, book_id: str) -> ChunkFilter:
        """Only chunks that overlap the range."""
        return ChunkFilter(
            book_id=book_id,
            source_file=self.source_file,
            chapter_id=self.chapter_id,
            overlaps=(self.start, self.end),
        )
