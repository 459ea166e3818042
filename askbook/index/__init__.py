"""Where the chunks live: the Qdrant engine in process, or a Qdrant server. One contract."""
