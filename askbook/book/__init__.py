"""Read, locate, identify and chunk a book: pure functions, no file system."""
