"""Jobs that are asked for before they run; 003's purge function."""

from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    op.execute("ALTER TABLE ingestion_jobs ADD COLUMN queued_at timestamptz")
    op.execute("ALTER TABLE ingestion_jobs ADD COLUMN flow_run_id uuid")
    op.execute("""
        CREATE FUNCTION purge_old_chat_sessions(days integer DEFAULT 30) RETURNS integer AS $$
            WITH deleted AS (
                DELETE FROM chat_sessions
                WHERE last_activity_at < now() - make_interval(days => purge_old_chat_sessions.days)
                RETURNING id
            )
            SELECT count(*)::integer FROM deleted
        $$ LANGUAGE sql
    """)


def downgrade() -> None:
    op.execute("DROP FUNCTION purge_old_chat_sessions(integer)")
    op.execute("ALTER TABLE ingestion_jobs DROP COLUMN flow_run_id, DROP COLUMN queued_at")
