-- title: rows of a condition
DELETE FROM orders WHERE a > 1 AND c = 'x'
-- expected
SELECT
  `orders`.`k` AS `k`,
  `orders`.`a` AS `a`,
  `orders`.`c` AS `c`
FROM `before` AS `orders`
WHERE
  NOT (
    (
      a > 1 AND c = 'x'
    ) IS NOT DISTINCT FROM TRUE
  )

-- title: rows by a subquery
DELETE FROM orders AS o WHERE NOT EXISTS (SELECT 1 FROM news AS n WHERE n.k = o.k)
-- expected
SELECT
  `o`.`k` AS `k`,
  `o`.`a` AS `a`,
  `o`.`c` AS `c`
FROM `before` AS `o`
WHERE
  NOT (
    (
      NOT EXISTS(
        SELECT
          1
        FROM `news_view` AS n
        WHERE
          n.k = o.k
      )
    ) IS NOT DISTINCT FROM TRUE
  )

-- title: all rows deleted
DELETE FROM orders
-- expected
SELECT
  `orders`.`k` AS `k`,
  `orders`.`a` AS `a`,
  `orders`.`c` AS `c`
FROM `before` AS `orders`
WHERE
  FALSE

-- title: a truncated table
TRUNCATE TABLE orders
-- expected
SELECT
  `orders`.`k` AS `k`,
  `orders`.`a` AS `a`,
  `orders`.`c` AS `c`
FROM `before` AS `orders`
WHERE
  FALSE

-- title: a truncated partition
TRUNCATE TABLE orders PARTITION (a = 1)
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

-- title: text behind the statement
TRUNCATE TABLE orders FORCE
-- error
NotUnderstoodError: This statement is not understood at 1:23
  TRUNCATE TABLE orders FORCE
                        ^^^^^
Write it by Spark's grammar; if Spark accepts the text, please report it.
