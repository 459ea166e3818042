"""askbook: a Markdown/MDX book in, cited and checked answers out."""

__version__ = "0.1.0"
