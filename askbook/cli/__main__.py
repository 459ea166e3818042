"""`python -m askbook.cli` is `askbook`."""

from askbook.cli import main

main()
