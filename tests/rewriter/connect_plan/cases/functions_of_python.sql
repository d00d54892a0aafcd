-- title: apply with state
{
 "common": {"plan_id": "1109"},
 "apply_in_pandas_with_state": {
  "input": {"common": {"plan_id": "0"}, "tracked": {"name": "l", "columns": ["id", "k", "v"]}},
  "func": {"function_name": "<lambda>"},
  "is_barrier": false
 }
}
-- error
UnsupportedError: in this data frame, groupBy().applyInPandasWithState keeps a state of its own from one micro-batch to the next
Use what keeps a state that is followed: a grouping by keys, by window() or by session_window(), dropDuplicates(), or a join of streams; or track the folder that the stream is written to, and query that.

-- title: transform with state
{
 "common": {"plan_id": "1109"},
 "group_map": {
  "input": {"common": {"plan_id": "0"}, "tracked": {"name": "l", "columns": ["id", "k", "v"]}},
  "func": {"function_name": "<lambda>"},
  "transform_with_state_info": {"time_mode": "None"}
 }
}
-- error
UnsupportedError: in this data frame, groupBy().transformWithState keeps a state of its own from one micro-batch to the next
Use what keeps a state that is followed: a grouping by keys, by window() or by session_window(), dropDuplicates(), or a join of streams; or track the folder that the stream is written to, and query that.
