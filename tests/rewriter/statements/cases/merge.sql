-- title: an upsert
MERGE INTO orders USING news ON orders.k = news.k WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *
-- expected
SELECT
  CASE
    WHEN NOT `news`.`_lipstick_matched` IS NULL
    THEN `news`.`k`
    ELSE `orders`.`k`
  END AS `k`,
  CASE
    WHEN NOT `news`.`_lipstick_matched` IS NULL
    THEN `news`.`a`
    ELSE `orders`.`a`
  END AS `a`,
  CASE
    WHEN NOT `news`.`_lipstick_matched` IS NULL
    THEN `news`.`c`
    ELSE `orders`.`c`
  END AS `c`
FROM `before` AS `orders`
LEFT JOIN (
  SELECT
    *,
    TRUE AS _lipstick_matched
  FROM (
    SELECT
      *
    FROM `news_view` AS `news`
  ) AS `_lipstick_source_row`
) AS `news`
  ON orders.k = news.k
UNION ALL
SELECT
  `news`.`k` AS `k`,
  `news`.`a` AS `a`,
  `news`.`c` AS `c`
FROM (
  SELECT
    *
  FROM `news_view` AS `news`
) AS `news`
WHERE
  NOT EXISTS(
    SELECT
      1
    FROM `before` AS `orders`
    WHERE
      orders.k = news.k
  )
-- fails for rows of
SELECT
  1 AS _lipstick_ambiguous
FROM (
  SELECT
    *,
    monotonically_increasing_id() AS _lipstick_row
  FROM `before`
) AS `orders`
JOIN (
  SELECT
    *
  FROM `news_view` AS `news`
) AS `news`
  ON orders.k = news.k
GROUP BY
  `orders`.`_lipstick_row`
HAVING
  COUNT(*) > 1
-- keys: orders.k = news.k

-- title: all clauses in order
MERGE INTO db.orders AS t USING (SELECT * FROM db.news WHERE a > 0) s ON t.k = s.k AND s.a > 1 WHEN MATCHED AND s.op = 'D' THEN DELETE WHEN MATCHED AND CASE WHEN s.op = 'U' THEN TRUE END THEN UPDATE SET t.a = s.a + t.a, c = op WHEN NOT MATCHED AND s.a > 1 THEN INSERT * WHEN NOT MATCHED BY TARGET THEN INSERT (k, a) VALUES (s.k, DEFAULT) WHEN NOT MATCHED BY SOURCE AND a = 1 OR c = 'x' THEN UPDATE SET a = a + 2 WHEN NOT MATCHED BY SOURCE THEN DELETE
-- expected
SELECT
  `t`.`k` AS `k`,
  CASE
    WHEN NOT `s`.`_lipstick_matched` IS NULL AND s.op = 'D'
    THEN `t`.`a`
    WHEN NOT `s`.`_lipstick_matched` IS NULL AND CASE WHEN s.op = 'U' THEN TRUE END
    THEN CAST(s.a + t.a AS INT)
    WHEN `s`.`_lipstick_matched` IS NULL AND (
      `t`.a = 1 OR `t`.c = 'x'
    )
    THEN CAST(`t`.a + 2 AS INT)
    WHEN `s`.`_lipstick_matched` IS NULL
    THEN `t`.`a`
    ELSE `t`.`a`
  END AS `a`,
  CASE
    WHEN NOT `s`.`_lipstick_matched` IS NULL AND s.op = 'D'
    THEN `t`.`c`
    WHEN NOT `s`.`_lipstick_matched` IS NULL AND CASE WHEN s.op = 'U' THEN TRUE END
    THEN CAST(op AS STRING)
    WHEN `s`.`_lipstick_matched` IS NULL AND (
      `t`.a = 1 OR `t`.c = 'x'
    )
    THEN `t`.`c`
    WHEN `s`.`_lipstick_matched` IS NULL
    THEN `t`.`c`
    ELSE `t`.`c`
  END AS `c`
FROM `before` AS `t`
LEFT JOIN (
  SELECT
    *,
    TRUE AS _lipstick_matched
  FROM (
    SELECT
      *
    FROM `news_view` AS `news`
    WHERE
      a > 0
  ) AS `_lipstick_source_row`
) AS `s`
  ON t.k = s.k AND s.a > 1
WHERE
  CASE
    WHEN NOT `s`.`_lipstick_matched` IS NULL AND s.op = 'D'
    THEN FALSE
    WHEN NOT `s`.`_lipstick_matched` IS NULL AND CASE WHEN s.op = 'U' THEN TRUE END
    THEN TRUE
    WHEN `s`.`_lipstick_matched` IS NULL AND (
      `t`.a = 1 OR `t`.c = 'x'
    )
    THEN TRUE
    WHEN `s`.`_lipstick_matched` IS NULL
    THEN FALSE
    ELSE TRUE
  END
UNION ALL
SELECT
  CASE WHEN s.a > 1 THEN `s`.`k` WHEN TRUE THEN s.k END AS `k`,
  CASE WHEN s.a > 1 THEN `s`.`a` WHEN TRUE THEN CAST(7 AS INT) END AS `a`,
  CASE WHEN s.a > 1 THEN `s`.`c` WHEN TRUE THEN CAST(NULL AS STRING) END AS `c`
FROM (
  SELECT
    *
  FROM `news_view` AS `news`
  WHERE
    a > 0
) AS `s`
WHERE
  NOT EXISTS(
    SELECT
      1
    FROM `before` AS `t`
    WHERE
      t.k = s.k AND s.a > 1
  )
-- fails for rows of
SELECT
  1 AS _lipstick_ambiguous
FROM (
  SELECT
    *,
    monotonically_increasing_id() AS _lipstick_row
  FROM `before`
) AS `t`
JOIN (
  SELECT
    *
  FROM `news_view` AS `news`
  WHERE
    a > 0
) AS `s`
  ON t.k = s.k AND s.a > 1
GROUP BY
  `t`.`_lipstick_row`
HAVING
  COUNT(*) > 1
-- keys: t.k = s.k

-- title: deletes alone, whom several rows may match
MERGE INTO orders t USING news s ON s.k = t.k WHEN MATCHED THEN DELETE
-- expected
SELECT
  `t`.`k` AS `k`,
  `t`.`a` AS `a`,
  `t`.`c` AS `c`
FROM `before` AS `t`
WHERE
  NOT EXISTS(
    SELECT
      1
    FROM (
      SELECT
        *
      FROM `news_view` AS `news`
    ) AS `s`
    WHERE
      s.k = t.k
  )
-- keys: t.k = s.k

-- title: inserts alone
MERGE INTO orders t USING db.news ON db.news.k = t.k WHEN NOT MATCHED AND op = 'I' THEN INSERT (k, c) VALUES (db.news.k, op)
-- expected
SELECT
  `t`.`k` AS `k`,
  `t`.`a` AS `a`,
  `t`.`c` AS `c`
FROM `before` AS `t`
UNION ALL
SELECT
  news.k AS `k`,
  CAST(7 AS INT) AS `a`,
  CAST(op AS STRING) AS `c`
FROM (
  SELECT
    *
  FROM `news_view` AS `news`
) AS `news`
WHERE
  NOT EXISTS(
    SELECT
      1
    FROM `before` AS `t`
    WHERE
      news.k = t.k
  )
  AND op = 'I'
-- keys: t.k = news.k

-- title: rows that the source has not
MERGE INTO orders t USING news s ON t.k = s.k WHEN NOT MATCHED BY SOURCE AND t.a > 1 THEN UPDATE SET c = 'gone'
-- expected
SELECT
  `t`.`k` AS `k`,
  `t`.`a` AS `a`,
  `t`.`c` AS `c`
FROM `before` AS `t`
WHERE
  EXISTS(
    SELECT
      1
    FROM (
      SELECT
        *
      FROM `news_view` AS `news`
    ) AS `s`
    WHERE
      t.k = s.k
  )
UNION ALL
SELECT
  `t`.`k` AS `k`,
  `t`.`a` AS `a`,
  CASE WHEN t.a > 1 THEN CAST('gone' AS STRING) ELSE `t`.`c` END AS `c`
FROM `before` AS `t`
WHERE
  NOT EXISTS(
    SELECT
      1
    FROM (
      SELECT
        *
      FROM `news_view` AS `news`
    ) AS `s`
    WHERE
      t.k = s.k
  )
-- fails for rows of
SELECT
  1 AS _lipstick_ambiguous
FROM (
  SELECT
    *,
    monotonically_increasing_id() AS _lipstick_row
  FROM `before`
) AS `t`
JOIN (
  SELECT
    *
  FROM `news_view` AS `news`
) AS `s`
  ON t.k = s.k
GROUP BY
  `t`.`_lipstick_row`
HAVING
  COUNT(*) > 1
-- keys: t.k = s.k

-- title: a match that is not an equality
MERGE INTO orders t USING news s ON t.a < s.a AND 1 = 1 WHEN MATCHED AND s.c = 'x' THEN DELETE
-- expected
SELECT
  `t`.`k` AS `k`,
  `t`.`a` AS `a`,
  `t`.`c` AS `c`
FROM `before` AS `t`
LEFT JOIN (
  SELECT
    *,
    TRUE AS _lipstick_matched
  FROM (
    SELECT
      *
    FROM `news_view` AS `news`
  ) AS `_lipstick_source_row`
) AS `s`
  ON t.a < s.a AND 1 = 1
WHERE
  CASE WHEN NOT `s`.`_lipstick_matched` IS NULL AND s.c = 'x' THEN FALSE ELSE TRUE END
-- fails for rows of
SELECT
  1 AS _lipstick_ambiguous
FROM (
  SELECT
    *,
    monotonically_increasing_id() AS _lipstick_row
  FROM `before`
) AS `t`
JOIN (
  SELECT
    *
  FROM `news_view` AS `news`
) AS `s`
  ON t.a < s.a AND 1 = 1
GROUP BY
  `t`.`_lipstick_row`
HAVING
  COUNT(*) > 1

-- title: evolution of the schema, with columns that the source has not
MERGE WITH SCHEMA EVOLUTION INTO orders USING (SELECT k, c FROM news) AS n ON orders.k = n.k WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *
-- expected
SELECT
  CASE WHEN NOT `n`.`_lipstick_matched` IS NULL THEN `n`.`k` ELSE `orders`.`k` END AS `k`,
  `orders`.`a` AS `a`,
  CASE WHEN NOT `n`.`_lipstick_matched` IS NULL THEN `n`.`c` ELSE `orders`.`c` END AS `c`
FROM `before` AS `orders`
LEFT JOIN (
  SELECT
    *,
    TRUE AS _lipstick_matched
  FROM (
    SELECT
      k,
      c
    FROM `news_view` AS `news`
  ) AS `_lipstick_source_row`
) AS `n`
  ON orders.k = n.k
UNION ALL
SELECT
  `n`.`k` AS `k`,
  CAST(7 AS INT) AS `a`,
  `n`.`c` AS `c`
FROM (
  SELECT
    k,
    c
  FROM `news_view` AS `news`
) AS `n`
WHERE
  NOT EXISTS(
    SELECT
      1
    FROM `before` AS `orders`
    WHERE
      orders.k = n.k
  )
-- fails for rows of
SELECT
  1 AS _lipstick_ambiguous
FROM (
  SELECT
    *,
    monotonically_increasing_id() AS _lipstick_row
  FROM `before`
) AS `orders`
JOIN (
  SELECT
    k,
    c
  FROM `news_view` AS `news`
) AS `n`
  ON orders.k = n.k
GROUP BY
  `orders`.`_lipstick_row`
HAVING
  COUNT(*) > 1
-- keys: orders.k = n.k

-- title: a subquery in a condition
MERGE INTO orders t USING news s ON t.k = s.k WHEN MATCHED AND s.a > (SELECT 1) THEN DELETE
-- error
UnsupportedError: a condition of MERGE with a subquery is not reenacted
Join what it reads in the query of USING.

-- title: a source that lacks a column
MERGE INTO orders t USING (SELECT k, a FROM news) s ON t.k = s.k WHEN MATCHED THEN UPDATE SET *
-- error
UnsupportedError: the source has no column 'c', which * sets
Name the columns that the clause sets.

-- title: a merge without clauses
MERGE INTO orders t USING news s ON t.k = s.k
-- error
UnsupportedError: MERGE has no WHEN at 1:45
  ers t USING news s ON t.k = s.k
                                ^
Say what becomes of the rows.

-- title: clauses in another order
MERGE INTO orders t USING news s ON t.k = s.k WHEN NOT MATCHED THEN INSERT * WHEN MATCHED THEN DELETE
-- error
UnsupportedError: The clauses of this MERGE are not in Spark's order at 1:96
  EN INSERT * WHEN MATCHED THEN DELETE
                                ^^^^^^
Write WHEN MATCHED, WHEN NOT MATCHED, WHEN NOT MATCHED BY SOURCE.

-- title: a clause that never applies
MERGE INTO orders t USING news s ON t.k = s.k WHEN MATCHED THEN DELETE WHEN MATCHED AND s.a = 1 THEN UPDATE SET *
-- error
UnsupportedError: Only the last WHEN MATCHED may have no condition at 1:113
  D AND s.a = 1 THEN UPDATE SET *
                                ^
Those behind it would never apply.

-- title: a star for rows that the source has not
MERGE INTO orders t USING news s ON t.k = s.k WHEN NOT MATCHED BY SOURCE THEN UPDATE SET *
-- error
NotUnderstoodError: This statement is not understood at 1:90
  HED BY SOURCE THEN UPDATE SET *
                                ^
Write it by Spark's grammar; if Spark accepts the text, please report it.

-- title: a value too few
MERGE INTO orders t USING news s ON t.k = s.k WHEN NOT MATCHED THEN INSERT (k, a) VALUES (s.k)
-- error
NotUnderstoodError: This statement is not understood at 1:94
  THEN INSERT (k, a) VALUES (s.k)
                                ^
Write it by Spark's grammar; if Spark accepts the text, please report it.

-- title: an alias with columns
MERGE INTO orders t USING (SELECT 1, 2) s (k, a) ON t.k = s.k WHEN MATCHED THEN DELETE
-- error
UnsupportedError: An alias with names of columns is not read in statements at 1:43
  rders t USING (SELECT 1, 2) s (k, a) ON t.k = s.k WHEN MATCH
                                ^
Name the columns in the query.

-- title: an unfinished name
MERGE INTO orders t USING (SELECT 1) AS
-- error
NotUnderstoodError: This statement is not understood at 1:38
  NTO orders t USING (SELECT 1) AS
                                ^^
Write it by Spark's grammar; if Spark accepts the text, please report it.

-- title: aliases that are names of columns
MERGE INTO orders AS a USING (SELECT k, a, c FROM news) AS c ON a.k = c.k WHEN MATCHED AND a.a > 1 THEN UPDATE SET c = c.c WHEN NOT MATCHED AND c.a > 1 THEN INSERT (k, c) VALUES (c.k, c.c)
-- expected
SELECT
  `_lipstick_target`.`k` AS `k`,
  `_lipstick_target`.`a` AS `a`,
  CASE
    WHEN NOT `_lipstick_source`.`_lipstick_matched` IS NULL AND `_lipstick_target`.a > 1
    THEN `_lipstick_source`.c
    ELSE `_lipstick_target`.`c`
  END AS `c`
FROM `before` AS `_lipstick_target`
LEFT JOIN (
  SELECT
    *,
    TRUE AS _lipstick_matched
  FROM (
    SELECT
      k,
      a,
      c
    FROM `news_view` AS `news`
  ) AS `_lipstick_source_row`
) AS `_lipstick_source`
  ON `_lipstick_target`.k = `_lipstick_source`.k
UNION ALL
SELECT
  `_lipstick_source`.k AS `k`,
  CAST(7 AS INT) AS `a`,
  `_lipstick_source`.c AS `c`
FROM (
  SELECT
    k,
    a,
    c
  FROM `news_view` AS `news`
) AS `_lipstick_source`
WHERE
  NOT EXISTS(
    SELECT
      1
    FROM `before` AS `_lipstick_target`
    WHERE
      `_lipstick_target`.k = `_lipstick_source`.k
  )
  AND `_lipstick_source`.a > 1
-- fails for rows of
SELECT
  1 AS _lipstick_ambiguous
FROM (
  SELECT
    *,
    monotonically_increasing_id() AS _lipstick_row
  FROM `before`
) AS `_lipstick_target`
JOIN (
  SELECT
    k,
    a,
    c
  FROM `news_view` AS `news`
) AS `_lipstick_source`
  ON `_lipstick_target`.k = `_lipstick_source`.k
GROUP BY
  `_lipstick_target`.`_lipstick_row`
HAVING
  COUNT(*) > 1
-- keys: `_lipstick_target`.k = `_lipstick_source`.k

-- title: named queries before the statement
WITH n AS (SELECT * FROM news) MERGE INTO orders USING n ON orders.k = n.k WHEN MATCHED THEN DELETE
-- error
UnsupportedError: WITH before MERGE is not read at 1:32
  ITH n AS (SELECT * FROM news) MERGE INTO orders USING n ON o
                                ^^^^^
Write it in the query that reads it: USING (WITH ... SELECT ...).
