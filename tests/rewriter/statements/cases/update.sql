-- title: all rows
UPDATE orders SET a = a + 1, c = DEFAULT
-- expected
SELECT
  `orders`.`k` AS `k`,
  CAST(a + 1 AS INT) AS `a`,
  CAST(NULL AS STRING) AS `c`
FROM `before` AS `orders`

-- title: rows of a condition, under an alias
UPDATE db.orders AS o SET o.a = o.a + 1, c = 'n' WHERE o.k > 1 OR c IS NULL
-- expected
SELECT
  `o`.`k` AS `k`,
  CASE WHEN o.k > 1 OR c IS NULL THEN CAST(o.a + 1 AS INT) ELSE `o`.`a` END AS `a`,
  CASE WHEN o.k > 1 OR c IS NULL THEN CAST('n' AS STRING) ELSE `o`.`c` END AS `c`
FROM `before` AS `o`

-- title: qualified by the whole name of the table
UPDATE db.orders SET db.orders.a = db.orders.k WHERE db.orders.a = 1
-- expected
SELECT
  `orders`.`k` AS `k`,
  CASE WHEN orders.a = 1 THEN CAST(orders.k AS INT) ELSE `orders`.`a` END AS `a`,
  `orders`.`c` AS `c`
FROM `before` AS `orders`

-- title: a condition with a subquery
UPDATE orders SET a = 1 WHERE k IN (SELECT k FROM db.news WHERE db.news.a > orders.a)
-- expected
SELECT
  `orders`.`k` AS `k`,
  CAST(1 AS INT) AS `a`,
  `orders`.`c` AS `c`
FROM `before` AS `orders`
WHERE
  k IN (
    SELECT
      k
    FROM `news_view` AS `news`
    WHERE
      news.a > orders.a
  )
UNION ALL
SELECT
  `orders`.`k` AS `k`,
  `orders`.`a` AS `a`,
  `orders`.`c` AS `c`
FROM `before` AS `orders`
WHERE
  NOT (
    (
      k IN (
        SELECT
          k
        FROM `news_view` AS `news`
        WHERE
          news.a > orders.a
      )
    ) IS NOT DISTINCT FROM TRUE
  )

-- title: a scalar subquery for a value
UPDATE orders SET a = (SELECT max(a) FROM news)
-- expected
SELECT
  `orders`.`k` AS `k`,
  CAST((
    SELECT
      max(a)
    FROM `news_view` AS `news`
  ) AS INT) AS `a`,
  `orders`.`c` AS `c`
FROM `before` AS `orders`
UNION ALL
SELECT
  `orders`.`k` AS `k`,
  `orders`.`a` AS `a`,
  `orders`.`c` AS `c`
FROM `before` AS `orders`
WHERE
  FALSE

-- title: a condition that has CASE and the words of the statement
UPDATE orders SET c = CASE WHEN a > 1 THEN 'WHERE, ' ELSE `c` END WHERE CASE WHEN a > 1 THEN c END = 'SET'
-- expected
SELECT
  `orders`.`k` AS `k`,
  `orders`.`a` AS `a`,
  CASE
    WHEN CASE WHEN a > 1 THEN c END = 'SET'
    THEN CAST(CASE WHEN a > 1 THEN 'WHERE, ' ELSE `c` END AS STRING)
    ELSE `orders`.`c`
  END AS `c`
FROM `before` AS `orders`

-- title: a field of a column
UPDATE orders SET c.x = 1
-- error
UnsupportedError: 'c' has no field 'x'
Its type is STRING.

-- title: fields of a struct, at two depths
UPDATE nested AS t SET t.s.Y.z = c, s.x = t.s.x + 1, a = 2 WHERE k = 1
-- expected
SELECT
  `t`.`k` AS `k`,
  CASE WHEN k = 1 THEN CAST(2 AS INT) ELSE `t`.`a` END AS `a`,
  `t`.`c` AS `c`,
  CASE
    WHEN k = 1
    THEN named_struct('x', CAST(t.s.x + 1 AS INT), 'y', named_struct('z', CAST(c AS STRING)))
    ELSE `t`.`s`
  END AS `s`
FROM `before` AS `t`

-- title: a field that is not there
UPDATE nested SET s.y.w = 1
-- error
UnsupportedError: 'y' has no field 'w'
Its type is STRUCT<z: STRING>.

-- title: a field and the struct that it is in
UPDATE nested SET s.y.z = 'a', s.y = NULL
-- error
UnsupportedError: the column 's.y' is assigned twice
Assign it once.

-- title: a column assigned twice
UPDATE orders SET a = 1, A = 2
-- error
UnsupportedError: the column 'a' is assigned twice
Assign it once.

-- title: a column that is not there
UPDATE orders SET z = 1
-- error
UnsupportedError: the table has no column 'z'
Its columns are k, a, c.

-- title: a table that numbers its rows
UPDATE numbered SET a = 1
-- expected
SELECT
  `numbered`.`k` AS `k`,
  CAST(1 AS INT) AS `a`,
  `numbered`.`c` AS `c`,
  `numbered`.`g` AS `g`
FROM `before` AS `numbered`

-- title: a row of a table that numbers its rows
INSERT INTO numbered (k) VALUES (1)
-- error
UnsupportedError: the table numbers its rows in the column 'g'
Statements that insert no rows are reenacted over tables with identity columns.

-- title: a generated column
UPDATE generated SET a = 1
-- expected
SELECT
  `k`,
  `a`,
  `c`,
  CAST((
    k + a
  ) AS INT) AS `g`
FROM (
  SELECT
    `generated`.`k` AS `k`,
    CAST(1 AS INT) AS `a`,
    `generated`.`c` AS `c`,
    `generated`.`g` AS `g`
  FROM `before` AS `generated`
) AS _lipstick_rows

-- title: an update without SET
UPDATE orders WHERE a = 1
-- error
NotUnderstoodError: This statement is not understood at 1:15
  UPDATE orders WHERE a = 1
                ^^^^^
Write it by Spark's grammar; if Spark accepts the text, please report it.

-- title: an assignment without a value
UPDATE orders SET a = , c = 1
-- error
NotUnderstoodError: This statement is not understood at 1:23
  UPDATE orders SET a = , c = 1
                        ^
Write it by Spark's grammar; if Spark accepts the text, please report it.

-- title: two values for a column
UPDATE orders SET a = 1 2
-- error
NotUnderstoodError: This text is not understood (Invalid expression / Unexpected token) at 1:25
  UPDATE orders SET a = 1 2
                          ^
Simplify or reword this part; if Spark accepts the text, please report it.

-- title: an assignment by another sign
UPDATE orders SET a > 1
-- error
NotUnderstoodError: This statement is not understood at 1:21
  UPDATE orders SET a > 1
                      ^
Write it by Spark's grammar; if Spark accepts the text, please report it.

-- title: a value that chance decides
UPDATE orders SET a = 1 WHERE rand() < 0.5
-- error
UnsupportedError: rand() is another value each time that the statement runs
Store its values in a column of a relation that the statement reads.
