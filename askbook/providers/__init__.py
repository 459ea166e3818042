"""Embedders and writers. One literal registry each; an unknown name lists the known ones."""
