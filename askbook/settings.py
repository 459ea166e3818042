"""All settings: typed, one documented line each, read from ASKBOOK_* and `.env` on call."""

from __future__ import annotations

from ipaddress import ip_network
from pathlib import Path
from typing import Annotated, Literal

from pydantic import (
    AfterValidator,
    AliasChoices,
    BeforeValidator,
    Field,
    SecretStr,
    ValidationError,
)
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from askbook.errors import SettingsError


def _split(value: object) -> object:
    return tuple(part.strip() for part in value.split(",")) if isinstance(value, str) else value


def _are_networks(values: tuple[str, ...]) -> tuple[str, ...]:
    for value in values:
        ip_network(value)  # uvicorn would take what is none for a name that never matches
    return values


Patterns = Annotated[tuple[str, ...], NoDecode, BeforeValidator(_split)]
Networks = Annotated[Patterns, AfterValidator(_are_networks)]
Share = Annotated[float, Field(ge=0.0, le=1.0)]


class Settings(BaseSettings):
    """Every setting of askbook. Nothing is read at import; call `load_settings()`."""

    model_config = SettingsConfigDict(
        env_prefix="ASKBOOK_", env_file=".env", env_ignore_empty=True, extra="ignore", frozen=True
    )

    home: Path = Field(Path("data/runtime"), description="Folder of all runtime state.")
    book_dir: Path = Field(
        Path("data/books/physical-ai-robotics"), description="The book to ingest by default."
    )
    book_id: str = Field(
        "physical-ai-robotics",
        pattern=r"^[a-z0-9][a-z0-9._-]{0,99}$",
        description="Id of the default book.",
    )
    collection: str = Field(
        "physical_ai_book",
        pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]{0,99}$",
        description="Public name of the index.",
    )

    qdrant_url: str | None = Field(
        None, description="Qdrant server; unset: the Qdrant engine in process."
    )
    qdrant_api_key: SecretStr | None = Field(None, description="Key for the Qdrant server.")
    qdrant_shards: int | None = Field(
        None, ge=1, description="Shards of a new collection on a Qdrant cluster."
    )
    qdrant_replicas: int | None = Field(
        None, ge=1, description="Copies of every shard on a Qdrant cluster."
    )
    qdrant_write_consistency: int | None = Field(
        None, ge=1, description="Copies that must confirm a write on a Qdrant cluster."
    )
    quantization: Literal["none", "int8"] = Field(
        "none", description="Vectors searched as 8-bit copies (int8), in an index made anew."
    )
    database_url: SecretStr | None = Field(
        None, description="postgresql:// address; unset: PostgreSQL from a wheel, under HOME."
    )
    prefect_api_url: str | None = Field(
        None, description="Prefect server; unset: the one of `askbook up`, else an ephemeral one."
    )

    dask_address: str | None = Field(
        None,
        pattern=r"^(local|[a-z]+://.+)$",
        description="Dask scheduler that chunks and embeds (tcp://host:8786), or local; "
        "unset: threads.",
    )

    embedder: str = Field("minilm", description="minilm, hashing, cohere, openai or fastembed.")
    fastembed_model: str = Field(
        "BAAI/bge-small-en-v1.5", description="Model of the fastembed embedder."
    )
    writer: str = Field("extractive", description="Who words the answers: extractive or openai.")
    writer_model: str = Field("gpt-4o-mini", description="Model of the openai writer.")
    writer_timeout_s: float = Field(
        30.0, gt=0, description="Seconds the writer may be silent before it is given up."
    )
    on_writer_failure: Literal["extractive", "unavailable"] = Field(
        "extractive",
        description="When the writer fails: quote the book (extractive), or answer 503 "
        "(unavailable).",
    )
    reranker: str = Field("none", description="Who sorts the found passages: none or cohere.")
    rerank_model: str = Field("rerank-v3.5", description="Model of the cohere reranker.")
    rerank_timeout_s: float = Field(
        5.0, gt=0, description="Seconds a question waits for the reranker."
    )
    on_reranker_failure: Literal["skip", "unavailable"] = Field(
        "skip",
        description="When the reranker fails: go on without it (skip), or answer 503 "
        "(unavailable).",
    )
    cohere_api_key: SecretStr | None = Field(
        None,
        validation_alias=AliasChoices("ASKBOOK_COHERE_API_KEY", "COHERE_API_KEY"),
        description="Key for Cohere (COHERE_API_KEY works too).",
    )
    cohere_base_url: str | None = Field(None, description="Another address for Cohere's API.")
    openai_api_key: SecretStr | None = Field(
        None,
        validation_alias=AliasChoices("ASKBOOK_OPENAI_API_KEY", "OPENAI_API_KEY"),
        description="Key for OpenAI (OPENAI_API_KEY works too).",
    )
    openai_base_url: str | None = Field(
        None,
        validation_alias=AliasChoices("ASKBOOK_OPENAI_BASE_URL", "OPENAI_BASE_URL"),
        description="Any server that speaks OpenAI's protocol (OPENAI_BASE_URL works too).",
    )

    chunk_preset: Literal["compact", "standard", "wide"] = Field(
        "compact", description="Chunk size: compact (400 tokens), standard (512) or wide (800)."
    )
    max_file_mb: float = Field(20.0, gt=0, description="Larger files are quarantined (MB).")
    include: Patterns = Field(
        (), description="Only these files: patterns as in .gitignore, separated by commas."
    )
    exclude: Patterns = Field(
        (), description="Not these files: patterns as in .gitignore, separated by commas."
    )
    max_deleted_share: Share = Field(
        0.3, description="Stop when more than this share of the known files vanished."
    )
    max_quarantined_share: Share = Field(
        0.5, description="Gate: stop when more than this share of the files is quarantined."
    )
    min_tokens_median: int = Field(
        20, ge=0, description="Gate: stop when the median chunk has fewer tokens."
    )
    max_duplicate_share: Share = Field(
        0.5, description="Gate: stop when more than this share of a shard's chunks repeat others."
    )
    checkpoints: str | None = Field(
        None, description="Where runs keep their checkpoints: any fsspec address; unset: HOME."
    )
    keep_checkpoints: int = Field(3, ge=0, description="Finished runs whose checkpoints are kept.")
    golden_dir: Path = Field(
        Path("data/benchmarks"),
        description="Golden sets, as <book id>/questions.jsonl; an index built anew must not be "
        "significantly worse on its book's.",
    )
    keep_versions: int = Field(3, ge=1, description="Index versions kept for rollback.")
    top_k: int = Field(5, ge=1, le=20, description="Passages an answer is made from.")
    prefetch: int = Field(100, ge=10, le=1000, description="Candidates per search before fusion.")
    neighbours: int = Field(
        0, ge=0, le=20, description="Best passages whose neighbours are read along with them."
    )
    prompt_tokens: int = Field(
        4000, ge=1000, description="Tokens of a prompt and its answer together; never exceeded."
    )
    refuse_below: Share | None = Field(
        None, description="Confidence below which askbook refuses; unset: as measured per model."
    )
    grounding: Literal["trim", "strict"] = Field(
        "trim",
        description="An unsupported sentence is left out (trim), or the whole answer is (strict).",
    )

    host: str = Field("127.0.0.1", description="Address the API listens on.")
    port: int = Field(8000, ge=1, le=65535, description="Port the API listens on.")
    workers: int = Field(1, ge=1, le=256, description="Processes that answer, on the one port.")
    shutdown_s: int = Field(
        30, ge=0, description="Seconds that running answers get to finish when the API is stopped."
    )
    heartbeat_s: float = Field(
        15.0, gt=0, description="Seconds of silence after which a stream sends a sign of life."
    )
    trusted_proxies: Networks = Field(
        (),
        description="Addresses or networks of proxies whose X-Forwarded-For is believed, "
        "separated by commas.",
    )
    cors_origins: Patterns = Field(
        (), description="Origins of pages that may call the API, separated by commas; * for any."
    )
    admin_key: SecretStr | None = Field(
        None, description="Key for ingestion and rollback over HTTP; unset: both are refused."
    )
    jwt_secret: SecretStr | None = Field(
        None, description="Secret that readers' bearer tokens are signed with (HS256)."
    )
    jwt_jwks: str | None = Field(
        None, description="Public keys for readers' bearer tokens: a JWKS file or https address."
    )
    jwt_audience: str | None = Field(None, description="Audience that bearer tokens must name.")
    jwt_issuer: str | None = Field(None, description="Issuer that bearer tokens must name.")
    anonymous_per_hour: int = Field(
        10, ge=1, description="Questions an address may ask in an hour without a token."
    )
    authenticated_per_hour: int = Field(
        50, ge=1, description="Questions a reader with a token may ask in an hour."
    )
    log_questions: bool = Field(
        default=False, description="Write readers' questions to the log (true), or never (false)."
    )

    def anchored(self) -> Settings:
        """The same, for processes that work in other folders."""
        return self.model_copy(update={"home": self.home.resolve()})

    @property
    def checkpoint_root(self) -> str:
        """Where all runs keep their checkpoints: an address that fsspec knows."""
        return (self.checkpoints or str(self.home.resolve() / "checkpoints")).rstrip("/")

    @property
    def max_file_bytes(self) -> int:
        """Larger files are quarantined."""
        return int(self.max_file_mb * 1_000_000)


def load_settings() -> Settings:
    """Read the settings from the environment and `.env`; a bad one is named in the error."""
    try:
        return Settings()
    except ValidationError as error:
        raise SettingsError(_explain(error)) from None


def _explain(error: ValidationError) -> str:
    """One line per bad setting, by the name the user typed."""
    lines = []
    for problem in error.errors():
        name = str(problem["loc"][0]) if problem["loc"] else "?"
        name = name if name.isupper() else f"ASKBOOK_{name.upper()}"
        lines.append(f"{name}={problem['input']!r}: {problem['msg']}")
    return "Wrong setting: " + "; ".join(lines)
