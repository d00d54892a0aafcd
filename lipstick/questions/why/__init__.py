"""Explanations of values, differences and checks by the rows and the predicates behind them.

`pipeline.py` shows the way: `measure.py` has the number to be moved and its value in scenarios;
`sources.py` reads the columns of the input relations beside the tokens of the capture, and
`columns.py` makes conditions on them and on the `terms.py` computed from them; `deletions.py`,
`partials.py` and `effects.py` compute the effects of many conditions at once, over a sample of
large relations; `search.py` finds the predicates worth showing, and `answer.py` shows them, each
with the exact effect of its own what-if. `rows.py` ranks single tuples, `shares.py` has their
Shapley values, and `smallest.py` the smallest sets of them; `corrections.py` changes values in
place of deleting rows. What no deletion mends is elsewhere: `fan_out.py` has rows that a join
adds several times, and `lost.py` rows that the query loses where a number is too low.

Sources: Wu, Madden, *Scorpion: Explaining Away Outliers in Aggregate Queries*, PVLDB 6(8), 2013;
Roy, Suciu, *A Formal Approach to Finding Explanations for Database Queries*, SIGMOD 2014; Abuzaid
et al., *DIFF: A Relational Interface for Large-Scale Data Explanation*, PVLDB 12(4), 2019.
"""
