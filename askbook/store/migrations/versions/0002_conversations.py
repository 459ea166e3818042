"""Sessions, messages, citations and rate limits (seed 003)."""

from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    op.execute("""
        CREATE TABLE chat_sessions (
            id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
            user_id uuid,
            session_token varchar(64) NOT NULL UNIQUE,
            created_at timestamptz NOT NULL DEFAULT now(),
            last_activity_at timestamptz NOT NULL DEFAULT now(),
            metadata jsonb DEFAULT '{}',
            CONSTRAINT valid_identification CHECK (user_id IS NOT NULL OR session_token IS NOT NULL)
        )
    """)
    op.execute("CREATE INDEX idx_chat_sessions_user_id ON chat_sessions (user_id)")
    op.execute("CREATE INDEX idx_chat_sessions_token ON chat_sessions (session_token)")
    op.execute("CREATE INDEX idx_chat_sessions_activity ON chat_sessions (last_activity_at)")
    op.execute("""
        CREATE TABLE chat_messages (
            id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
            session_id uuid NOT NULL REFERENCES chat_sessions (id) ON DELETE CASCADE,
            role varchar(20) NOT NULL CHECK (role IN ('user', 'assistant')),
            content text NOT NULL CHECK (length(content) > 0 AND length(content) <= 10000),
            tokens_used jsonb DEFAULT '{}',
            confidence float CHECK (confidence IS NULL OR (confidence >= 0 AND confidence <= 1)),
            created_at timestamptz NOT NULL DEFAULT now(),
            CONSTRAINT confidence_only_for_assistant CHECK (role != 'user' OR confidence IS NULL)
        )
    """)
    op.execute("CREATE INDEX idx_chat_messages_session ON chat_messages (session_id)")
    op.execute("CREATE INDEX idx_chat_messages_created ON chat_messages (created_at)")
    op.execute("""
        CREATE TABLE source_citations (
            id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
            message_id uuid NOT NULL REFERENCES chat_messages (id) ON DELETE CASCADE,
            chapter_id varchar(100) NOT NULL,
            chapter_title varchar(255) NOT NULL,
            relevance_score float NOT NULL
                CHECK (relevance_score >= 0 AND relevance_score <= 1),
            excerpt text NOT NULL CHECK (length(excerpt) <= 1000),
            position int NOT NULL CHECK (position > 0),
            UNIQUE (message_id, position)
        )
    """)
    op.execute("CREATE INDEX idx_source_citations_message ON source_citations (message_id)")
    op.execute("CREATE INDEX idx_source_citations_chapter ON source_citations (chapter_id)")
    op.execute("""
        CREATE TABLE rate_limits (
            identifier varchar(100) PRIMARY KEY,
            query_count int NOT NULL DEFAULT 0 CHECK (query_count >= 0),
            window_start timestamptz NOT NULL,
            limit_tier varchar(20) NOT NULL CHECK (limit_tier IN ('anonymous', 'authenticated'))
        )
    """)


def downgrade() -> None:
    op.execute("DROP TABLE rate_limits, source_citations, chat_messages, chat_sessions")
