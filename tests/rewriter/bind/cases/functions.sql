-- title: cast to collated
SELECT CAST(b AS STRING COLLATE UTF8_LCASE) AS c, a::STRING COLLATE UNICODE AS d FROM t
-- expected
Project: c := CAST(`b` AS STRING COLLATE UTF8_LCASE), d := CAST(`a` AS STRING) COLLATE UNICODE
  Scan t: a, b

-- title: column or function
SELECT current_date FROM (SELECT DATE '2020-01-01' AS current_date)
-- error
UnsupportedError: current_date is both a column and a function at 1:8
  SELECT current_date FROM (SELECT DATE '2020-01-01' AS curren
         ^^^^^^^^^^^^
Write the column as `current_date` with its relation's name before it.
-- advised
SELECT v.`current_date` FROM (SELECT DATE '2020-01-01' AS `current_date`) v

-- title: function of schema
SELECT db.f(a) FROM t
-- error
UnsupportedError: function db.f(a) of a schema is not supported at 1:8
  SELECT db.f(a) FROM t
         ^^^^^^
Call it by its name alone.
-- advised
SELECT parts(a) FROM t

-- title: function without brackets
SELECT user, current_date, session_user FROM (SELECT 1 AS user)
-- expected
Project: user_2 'user' := `user`, current_date 'CURRENT_DATE()' := CURRENT_DATE(), current_user 'CURRENT_USER()' := CURRENT_USER()
  Project: user := 1
    OneRow

-- title: hint
SELECT /*+ BROADCAST(s), REPARTITION(3, k), COALESCE(2) */ r.k, max(s.x) AS m FROM r JOIN l AS s ON r.k = s.k GROUP BY r.k
-- expected
Project: k_3 'k' := `k_4`, m := `max_x`
  Aggregate: by (k_4 'k' := `k`) compute (max_x 'max(x)' := MAX(`x`))
    InnerJoin: `k` = `k_2`
      Scan r: y, j, k
      Scan l: x, k_2 := k, j_2 := j

-- title: identifier clauses
SELECT IDENTIFIER('x.a') AS a, count(*) AS n
FROM IDENTIFIER('db.t') AS x
WHERE IDENTIFIER('b') > 1
GROUP BY IDENTIFIER('a')
-- expected
Project: a_2 'a' := `a_3`, n := `count`
  Aggregate: by (a_3 'a' := `a`) compute (count 'COUNT(*)' := COUNT(*))
    Filter: `b` > 1
      Scan t: a, b

-- title: identifier of concatenated texts
SELECT IDENTIFIER('t.' || ('a')) AS v FROM IDENTIFIER('' || 't') WHERE IDENTIFIER('b') = 'x'
-- expected
Project: v := `a`
  Filter: `b` = 'x'
    Scan t: a, b

-- title: identifiers of functions
SELECT IDENTIFIER('abs')(a - 3) AS v, IDENTIFIER('sum')(DISTINCT b) OVER (PARTITION BY a) AS s FROM t
-- expected
Project: v := ABS(`a` - 3), s := `sum`
  Windows: sum := SUM(DISTINCT `b`) OVER (PARTITION BY `a`)
    Scan t: a, b

-- title: lambda field
SELECT filter(arr, x -> x.f > nested.a), aggregate(arr, 0, (acc, x) -> acc + x) FROM nested
-- expected
Project: filter_arr_x_x_f_nested_a 'filter(arr, x -> x.f > nested.a)' := FILTER(`arr`, x -> x.f > `a`), aggregate_arr_0_acc_x_acc_x 'aggregate(arr, 0, (acc, x) -> acc + x)' := AGGREGATE(`arr`, 0, (acc, x) -> acc + x)
  Scan nested: st, a, arr

-- title: lambda variable is not an attribute
SELECT transform(arr, a -> a + nested.a) FROM nested
-- expected
Project: transform_arr_a_a_nested_a 'transform(arr, a -> a + nested.a)' := TRANSFORM(`arr`, a -> a + `a_2`)
  Scan nested: st, a_2 := a, arr

-- title: unknown function
SELECT my_function(a) FROM t
-- error
UnsupportedError: function my_function is not one of Spark's at 1:8
  SELECT my_function(a) FROM t
         ^^^^^^^^^^^
Declare it as a deterministic function of one row, or use a function of Spark's.
-- advised
SELECT abs(a) FROM t
