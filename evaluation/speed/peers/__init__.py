"""Other libraries bringing an index up to date with a folder: each by its own way to do it.

Run by the Python of an environment of their own: `python <script> BOOK STATE`. All embed with
askbook's feature hashing, which costs next to nothing, and keep their vectors in Qdrant's local
mode, the store they document for use without a server; all cut at about 400 tokens.
"""
