"""Offline benchmarks: what askbook is measured with, and by what."""
