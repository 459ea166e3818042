"""A question flows in: retrieve → answer → ground → reply. One chain behind every door."""
