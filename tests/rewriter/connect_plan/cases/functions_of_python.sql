-- title: rows of python
{
 "common": {"plan_id": "1109"},
 "apply_in_pandas_with_state": {
  "input": {"common": {"plan_id": "0"}, "tracked": {"name": "l", "columns": ["id", "k", "v"]}},
  "func": {"function_name": "<lambda>"},
  "is_barrier": false
 }
}
-- error
UnsupportedError: in this data frame, groupBy().applyInPandasWithState makes rows of which nothing says what they came from
Use expressions, a udf() of one row, or in SQL a table function of partitions, f(TABLE(t) PARTITION BY k); or track the frame that it returns.
