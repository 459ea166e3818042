"""Real parts that only integration tests need."""

from language_model import language_model

__all__ = ["language_model"]
