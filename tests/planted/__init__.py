"""Errors planted in data of public shapes, and how often explanations find them.

`cases.py` makes the data and plants the errors; it knows nothing of the code under test.
`scoreboard.py` asks for explanations, and `baseline.py` groups by every column, as people do.
``python -m tests.planted 0-50`` prints what became of each case.
"""
