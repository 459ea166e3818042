"""A question flows in: Litestar only speaks HTTP here; the work is in `askbook.asking`."""
