"""One file that holds all of it: the index, PostgreSQL's rows, and a manifest.

archive.py   the file: a tar whose every byte is covered by a hash
rows.py      PostgreSQL's tables as CSV
points.py    the index as Parquet
saving.py    `askbook backup`
restoring.py `askbook restore`
"""
