"""How large chunks are: the presets, and the fingerprint that makes files stale when it changes.

Apart from the chunker, so that a plan can be made without loading it.
"""

from __future__ import annotations

from typing import Final

from askbook.models import ChunkSettings

CHUNKER_VERSION: Final = 2  # raised whenever the same text and settings give other chunks

PRESETS: Final[dict[str, ChunkSettings]] = {
    "compact": ChunkSettings("compact", target_tokens=400, max_tokens=512, min_tokens=100),
    "standard": ChunkSettings("standard", target_tokens=512, max_tokens=704, min_tokens=128),
    "wide": ChunkSettings(
        "wide", target_tokens=800, max_tokens=1024, min_tokens=512, overlap_tokens=128
    ),
}


def chunker_fingerprint(settings: ChunkSettings) -> str:
    """Return what chunks depend on besides the text; when it changes, files are stale."""
    numbers = (
        settings.target_tokens, settings.max_tokens, settings.min_tokens, settings.overlap_tokens,
    )  # fmt: skip
    return f"v{CHUNKER_VERSION}:{settings.preset}:" + "/".join(map(str, numbers))
