"""A file flows in: discover → diff → chunk → embed → upsert → record.

ingest.py        the Prefect flow: one call per stage
discover.py …    one stage, one module, plain functions
checkpoints.py   Parquet between the stages
"""
