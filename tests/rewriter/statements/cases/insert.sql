-- title: by place
INSERT INTO orders SELECT k, a, c FROM news
-- expected
SELECT
  `orders`.`k` AS `k`,
  `orders`.`a` AS `a`,
  `orders`.`c` AS `c`
FROM `before` AS `orders`
UNION ALL
SELECT
  `_lipstick_source`.`_lipstick_0` AS `k`,
  `_lipstick_source`.`_lipstick_1` AS `a`,
  `_lipstick_source`.`_lipstick_2` AS `c`
FROM (
  SELECT
    k,
    a,
    c
  FROM `news_view` AS `news`
) AS `_lipstick_source`(`_lipstick_0`, `_lipstick_1`, `_lipstick_2`)

-- title: listed columns, and defaults of others
INSERT INTO orders (c, k) SELECT c, k FROM news
-- expected
SELECT
  `orders`.`k` AS `k`,
  `orders`.`a` AS `a`,
  `orders`.`c` AS `c`
FROM `before` AS `orders`
UNION ALL
SELECT
  `_lipstick_source`.`_lipstick_1` AS `k`,
  CAST(7 AS INT) AS `a`,
  `_lipstick_source`.`_lipstick_0` AS `c`
FROM (
  SELECT
    c,
    k
  FROM `news_view` AS `news`
) AS `_lipstick_source`(`_lipstick_0`, `_lipstick_1`)

-- title: by name
INSERT INTO TABLE orders BY NAME SELECT c, k FROM db.news
-- expected
SELECT
  `orders`.`k` AS `k`,
  `orders`.`a` AS `a`,
  `orders`.`c` AS `c`
FROM `before` AS `orders`
UNION ALL
SELECT
  `_lipstick_source`.`k` AS `k`,
  CAST(7 AS INT) AS `a`,
  `_lipstick_source`.`c` AS `c`
FROM (
  SELECT
    c,
    k
  FROM `news_view` AS `news`
) AS `_lipstick_source`

-- title: values that are cast
INSERT INTO orders SELECT k, op, c FROM news
-- expected
SELECT
  `orders`.`k` AS `k`,
  `orders`.`a` AS `a`,
  `orders`.`c` AS `c`
FROM `before` AS `orders`
UNION ALL
SELECT
  `_lipstick_source`.`_lipstick_0` AS `k`,
  CAST(`_lipstick_source`.`_lipstick_1` AS INT) AS `a`,
  `_lipstick_source`.`_lipstick_2` AS `c`
FROM (
  SELECT
    k,
    op,
    c
  FROM `news_view` AS `news`
) AS `_lipstick_source`(`_lipstick_0`, `_lipstick_1`, `_lipstick_2`)

-- title: named queries before
WITH n AS (SELECT k, a, c FROM news) INSERT INTO orders SELECT k, a, c FROM n
-- expected
SELECT
  `orders`.`k` AS `k`,
  `orders`.`a` AS `a`,
  `orders`.`c` AS `c`
FROM `before` AS `orders`
UNION ALL
SELECT
  `_lipstick_source`.`_lipstick_0` AS `k`,
  `_lipstick_source`.`_lipstick_1` AS `a`,
  `_lipstick_source`.`_lipstick_2` AS `c`
FROM (
  WITH n AS (
    SELECT
      k,
      a,
      c
    FROM `news_view` AS `news`
  )
  SELECT
    k,
    a,
    c
  FROM n
) AS `_lipstick_source`(`_lipstick_0`, `_lipstick_1`, `_lipstick_2`)

-- title: a partition given
INSERT INTO orders PARTITION (a = 1) SELECT k, c FROM news
-- expected
SELECT
  `orders`.`k` AS `k`,
  `orders`.`a` AS `a`,
  `orders`.`c` AS `c`
FROM `before` AS `orders`
UNION ALL
SELECT
  `_lipstick_source`.`_lipstick_0` AS `k`,
  CAST(1 AS INT) AS `a`,
  `_lipstick_source`.`_lipstick_1` AS `c`
FROM (
  SELECT
    k,
    c
  FROM `news_view` AS `news`
) AS `_lipstick_source`(`_lipstick_0`, `_lipstick_1`)

-- title: all rows overwritten
INSERT OVERWRITE orders SELECT k, a, c FROM news
-- expected
SELECT
  `_lipstick_source`.`_lipstick_0` AS `k`,
  `_lipstick_source`.`_lipstick_1` AS `a`,
  `_lipstick_source`.`_lipstick_2` AS `c`
FROM (
  SELECT
    k,
    a,
    c
  FROM `news_view` AS `news`
) AS `_lipstick_source`(`_lipstick_0`, `_lipstick_1`, `_lipstick_2`)

-- title: a partition overwritten
INSERT OVERWRITE orders PARTITION (a = 1) SELECT k, c FROM news
-- expected
SELECT
  `orders`.`k` AS `k`,
  `orders`.`a` AS `a`,
  `orders`.`c` AS `c`
FROM `before` AS `orders`
WHERE
  NOT (
    (
      `orders`.`a` IS NOT DISTINCT FROM CAST(1 AS INT)
    ) IS NOT DISTINCT FROM TRUE
  )
UNION ALL
SELECT
  `_lipstick_source`.`_lipstick_0` AS `k`,
  CAST(1 AS INT) AS `a`,
  `_lipstick_source`.`_lipstick_1` AS `c`
FROM (
  SELECT
    k,
    c
  FROM `news_view` AS `news`
) AS `_lipstick_source`(`_lipstick_0`, `_lipstick_1`)

-- title: partitions overwritten that the rows are in
INSERT OVERWRITE dynamic SELECT k, a, c FROM news
-- expected
SELECT
  `dynamic`.`k` AS `k`,
  `dynamic`.`a` AS `a`,
  `dynamic`.`c` AS `c`
FROM `before` AS `dynamic`
WHERE
  NOT EXISTS(
    SELECT
      1
    FROM (
      SELECT
        `_lipstick_source`.`_lipstick_0` AS `k`,
        `_lipstick_source`.`_lipstick_1` AS `a`,
        `_lipstick_source`.`_lipstick_2` AS `c`
      FROM (
        SELECT
          k,
          a,
          c
        FROM `news_view` AS `news`
      ) AS `_lipstick_source`(`_lipstick_0`, `_lipstick_1`, `_lipstick_2`)
    ) AS _lipstick_new
    WHERE
      `_lipstick_new`.`a` IS NOT DISTINCT FROM `dynamic`.`a`
  )
UNION ALL
SELECT
  `_lipstick_source`.`_lipstick_0` AS `k`,
  `_lipstick_source`.`_lipstick_1` AS `a`,
  `_lipstick_source`.`_lipstick_2` AS `c`
FROM (
  SELECT
    k,
    a,
    c
  FROM `news_view` AS `news`
) AS `_lipstick_source`(`_lipstick_0`, `_lipstick_1`, `_lipstick_2`)

-- title: rows of a condition replaced
INSERT INTO orders REPLACE WHERE a > 1 SELECT k, a, c FROM news
-- expected
SELECT
  `orders`.`k` AS `k`,
  `orders`.`a` AS `a`,
  `orders`.`c` AS `c`
FROM `before` AS `orders`
WHERE
  NOT (
    (
      a > 1
    ) IS NOT DISTINCT FROM TRUE
  )
UNION ALL
SELECT
  `_lipstick_source`.`_lipstick_0` AS `k`,
  `_lipstick_source`.`_lipstick_1` AS `a`,
  `_lipstick_source`.`_lipstick_2` AS `c`
FROM (
  SELECT
    k,
    a,
    c
  FROM `news_view` AS `news`
) AS `_lipstick_source`(`_lipstick_0`, `_lipstick_1`, `_lipstick_2`)

-- title: a table replaced
CREATE OR REPLACE TABLE orders USING delta PARTITIONED BY (a) AS SELECT k, a, c FROM news
-- expected
SELECT
  `_lipstick_source`.`_lipstick_0` AS `k`,
  `_lipstick_source`.`_lipstick_1` AS `a`,
  `_lipstick_source`.`_lipstick_2` AS `c`
FROM (
  SELECT
    k,
    a,
    c
  FROM `news_view` AS `news`
) AS `_lipstick_source`(`_lipstick_0`, `_lipstick_1`, `_lipstick_2`)

-- title: too few columns
INSERT INTO orders SELECT k, a FROM news
-- error
UnsupportedError: the query gives 2 columns for 3
Give each column of the table a value, or list the columns.

-- title: a column listed twice
INSERT INTO orders (k, a, K) SELECT k, a, c FROM news
-- error
UnsupportedError: a column is listed twice
List each column once.

-- title: two columns of one name
INSERT INTO orders SELECT k, k, c FROM news
-- expected
SELECT
  `orders`.`k` AS `k`,
  `orders`.`a` AS `a`,
  `orders`.`c` AS `c`
FROM `before` AS `orders`
UNION ALL
SELECT
  `_lipstick_source`.`_lipstick_0` AS `k`,
  `_lipstick_source`.`_lipstick_1` AS `a`,
  `_lipstick_source`.`_lipstick_2` AS `c`
FROM (
  SELECT
    k,
    k,
    c
  FROM `news_view` AS `news`
) AS `_lipstick_source`(`_lipstick_0`, `_lipstick_1`, `_lipstick_2`)

-- title: schema evolution of an insert
INSERT WITH SCHEMA EVOLUTION INTO orders SELECT k, a, c FROM news
-- error
UnsupportedError: INSERT WITH SCHEMA EVOLUTION is not reenacted at 1:8
  INSERT WITH SCHEMA EVOLUTION INTO orders SELECT k, a, c FROM
         ^^^^
Add the columns by ALTER TABLE, then insert.

-- title: files instead of a table
INSERT OVERWRITE DIRECTORY '/x' SELECT 1
-- error
UnsupportedError: INSERT OVERWRITE DIRECTORY changes no table at 1:18
  INSERT OVERWRITE DIRECTORY '/x' SELECT 1
                   ^^^^^^^^^
UPDATE, DELETE, INSERT, MERGE, TRUNCATE TABLE and CREATE [OR REPLACE] TABLE AS are.

-- title: a partition unless it exists
INSERT OVERWRITE orders PARTITION (a = 1) IF NOT EXISTS SELECT k, c FROM news
-- error
UnsupportedError: IF NOT EXISTS of a partition is not reenacted at 1:43
  RITE orders PARTITION (a = 1) IF NOT EXISTS SELECT k, c FROM
                                ^^
Leave it out: it decides now.

-- title: no query to insert
INSERT INTO orders SET a = 1
-- error
UnsupportedError: This INSERT is not reenacted at 1:20
  INSERT INTO orders SET a = 1
                     ^^^
Write INSERT INTO t SELECT ...

-- title: named queries twice
WITH n AS (SELECT 1) INSERT INTO orders WITH m AS (SELECT 2) SELECT k, a, c FROM m
-- error
UnsupportedError: WITH stands twice in this INSERT at 1:41
  (SELECT 1) INSERT INTO orders WITH m AS (SELECT 2) SELECT k,
                                ^^^^
Write one WITH for all queries.

-- title: a table unless it exists
CREATE TABLE IF NOT EXISTS orders AS SELECT 1
-- error
UnsupportedError: IF NOT EXISTS is not reenacted at 1:14
  CREATE TABLE IF NOT EXISTS orders AS SELECT 1
               ^^
Leave it out: it decides now.

-- title: a table without rows
CREATE TABLE orders (a INT)
-- error
UnsupportedError: This statement gives the table no rows at 1:27
  CREATE TABLE orders (a INT)
                            ^
Write CREATE TABLE t AS SELECT ...

-- title: another statement
OPTIMIZE orders
-- error
UnsupportedError: This statement is not reenacted at 1:1
  OPTIMIZE orders
  ^^^^^^^^
UPDATE, DELETE, INSERT, MERGE, TRUNCATE TABLE and CREATE [OR REPLACE] TABLE AS are.

-- title: a computed name
DELETE FROM IDENTIFIER('orders') WHERE a = 1
-- error
UnsupportedError: IDENTIFIER(...) is not read in statements at 1:23
  DELETE FROM IDENTIFIER('orders') WHERE a = 1
                        ^
Name the table.

-- title: an earlier version of a source
INSERT INTO orders SELECT * FROM news VERSION AS OF 3
-- error
UnsupportedError: news VERSION AS OF 3 is an earlier version, and a replay has the tables as they are before the statement
Run it by spark.sql, then untrack the table and track it again: its history begins anew there.

-- title: rows replaced by a condition with FROM in it
INSERT INTO orders REPLACE WHERE a IS NOT DISTINCT FROM 1 SELECT k, a, c FROM news
-- expected
SELECT
  `orders`.`k` AS `k`,
  `orders`.`a` AS `a`,
  `orders`.`c` AS `c`
FROM `before` AS `orders`
WHERE
  NOT (
    (
      a IS NOT DISTINCT FROM 1
    ) IS NOT DISTINCT FROM TRUE
  )
UNION ALL
SELECT
  `_lipstick_source`.`_lipstick_0` AS `k`,
  `_lipstick_source`.`_lipstick_1` AS `a`,
  `_lipstick_source`.`_lipstick_2` AS `c`
FROM (
  SELECT
    k,
    a,
    c
  FROM `news_view` AS `news`
) AS `_lipstick_source`(`_lipstick_0`, `_lipstick_1`, `_lipstick_2`)
