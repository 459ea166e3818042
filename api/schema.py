"""The OpenAPI document as a file, for the generator of the TypeScript types.

python -m api.schema OUT.json     write it
python -m api.schema --stamp      print the line by which the types say what they were made from
"""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path

from api.app import create_app
from api.openapi import exact
from askbook.settings import Settings


def document() -> bytes:
    """The document, always the same bytes for the same API."""
    schema = exact(create_app(Settings()).openapi_schema.to_schema())
    return json.dumps(schema, sort_keys=True, ensure_ascii=False, indent=1).encode()


def stamp() -> str:
    """The first line of the generated types."""
    return f"// made by `make types` from OpenAPI {hashlib.sha256(document()).hexdigest()}"


if __name__ == "__main__":
    if sys.argv[1:] == ["--stamp"]:
        sys.stdout.write(stamp() + "\n")
    else:
        Path(sys.argv[1]).write_bytes(document())
