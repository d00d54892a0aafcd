-- title: parameter without value
SELECT a FROM t WHERE b = :limit
-- error
QueryError: parameter :limit has no value at 1:27
  SELECT a FROM t WHERE b = :limit
                            ^^^^^^
Give its value in args.

-- title: session variables
SELECT a, session.named AS n, a * share AS s
FROM t
WHERE b > least AND b > low
-- expected
Project: a_2 'a' := `a`, n := CAST(NULL AS STRING), s := `a` * CAST('0.50' AS DECIMAL(4, 2))
  Filter: `b` > 2 AND `b` > (-7L)
    Scan t: a, b

-- title: variable of array
SELECT a
FROM t
WHERE array_contains(listed, a)
-- error
UnsupportedError: the variable listed of the type array<int> is not supported at 3:22
  WHERE array_contains(listed, a)
                       ^^^^^^
Give its value as a parameter or in a column.
-- advised
SELECT a FROM t WHERE array_contains(array(1), a)
