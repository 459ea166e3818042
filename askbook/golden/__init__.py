"""Golden sets: questions about a book, the words that answer them, and who finds them better.

records.py    JSON lines with checked fields
questions.py  the questions and their labels, located in the book's files
scoring.py    how high in a search the labelled words stand
comparing.py  two runs on the same questions: a paired test
verdict.py    a new index against the live one: may it be promoted?

`evaluation/` reports with these; `flows/` decides with them. That is why they are here.
"""
