"""The causes of a changed answer: two versions of the data, of the text of a query, or both.

`answers.py` pairs the rows of both answers by a key, `changes.py` the rows of the relations;
`shares.py` divides the change of an aggregate among the changed rows, and `cells.py` that of a
cell; `parts.py` and `difference.py` have the answers that users see, `report.py` a report, and
`pipeline.py` the way to them. `counterexample.py` finds small databases on which two texts differ.

The rules, by which parts add up to the difference exactly:

- *Code* has what the new text yields over the new data, less what the old text does; the rest is
  the change of the data under the old text. A row that is not there, and NULL, count as 0.
- SUM and COUNT are sums over members, the combinations of input rows that conditions and joins
  leave. A member adds its value after, and takes it away before; either is shared equally among
  its rows that differ between the versions, by the key of their relation. Among
  rows that only were added, or only removed, this is the Shapley value. An unmatched row of an
  outer join that has partners in the other version is shared among its changed partners.
- AVG is SUM divided by COUNT. Quotients, products and sums of aggregates change by the means of
  both orders (Bennet's indicator, :mod:`rewriter.analysis.rational_change`).
- COUNT(DISTINCT x): each value that came or went is shared equally among the changed rows that
  have it. MIN, MAX: the change is shared equally among the changed rows that have the new extreme,
  where it lies further out, or the old one.
- Numbers without such a rule (windows, percentiles, values of subqueries) are divided by kinds:
  what the removed rows take away from the answer before, what the added rows add to the answer
  after, each by a what-if, and what the changed values make in between.
- *Unchanged rows* have what the same members add because conditions on other rows (HAVING, LIMIT,
  EXISTS, values of subqueries) now keep or lose them; *rounding* is what Spark's types round.

Sources: Bennet, *The Theory of Measurement of Changes in Cost of Living*, JRSS 83, 1920; Shapley,
*A Value for n-Person Games*, 1953; Miao et al., *Explaining Wrong Queries Using Small Examples*,
SIGMOD 2019 (RATest); Abuzaid et al., *DIFF*, PVLDB 12(4), 2019.
"""
