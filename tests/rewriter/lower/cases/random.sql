-- title: draw of aggregates
SELECT n, shuffle(array(n)) AS v FROM (SELECT count(*) AS n FROM cars GROUP BY model) AS g
-- error
UnsupportedError: a random function of aggregated values is not supported at 1:11
  SELECT n, shuffle(array(n)) AS v FROM (SELECT count(*) AS n 
            ^^^^^^^
Store the rows in a relation and track it.

-- title: draw of copies
SELECT d.model, rand() AS r FROM (SELECT model FROM cars EXCEPT ALL SELECT city FROM dealers) d
-- error
UnsupportedError: a random choice over EXCEPT ALL or INTERSECT ALL is not supported at 1:17
  SELECT d.model, rand() AS r FROM (SELECT model FROM cars EXC
                  ^^^^
Use EXCEPT or INTERSECT, or group the rows and count them.
-- advised
SELECT d.model, rand() AS r FROM (SELECT model FROM cars EXCEPT SELECT city FROM dealers) d

-- title: draw of one group
SELECT count(*) AS n, rand() AS r FROM cars
-- error
UnsupportedError: a random choice over an aggregate without GROUP BY, or over groups by aggregated values, is not supported at 1:23
  SELECT count(*) AS n, rand() AS r FROM cars
                        ^^^^
Store the rows in a relation and track it.

-- title: draw without from
SELECT rand() AS r
-- error
UnsupportedError: a random value without FROM is not supported at 1:8
  SELECT rand() AS r
         ^^^^
Store the rows in a relation and track it.

-- title: draw without provenance
SELECT city, rand() AS r FROM rates
-- error
UnsupportedError: a random choice over rows that nothing tells apart is not supported at 1:14
  SELECT city, rand() AS r FROM rates
               ^^^^
Store the rows in a relation and track it.

-- title: drawn for groups
SELECT model, sum(price) AS s, rand() AS r FROM cars GROUP BY model
-- expected
WITH `b1_members` AS (
  SELECT
    cars.`car_id` AS `car_id`,
    cars.`model` AS `model_3`,
    cars.`price` AS `price`
  FROM `cars` AS cars
), `b1` AS (
  SELECT
    g.`model_3` AS `model_3`,
    g.`sum_price` AS `sum_price`
  FROM (
    SELECT
      m.`model_3` AS `model_3`,
      SUM(m.`price`) AS `sum_price`
    FROM `b1_members` AS m
    GROUP BY
      m.`model_3`
  ) AS g
), `b2_members` AS (
  SELECT
    b1.`model_3` AS `b1_model_3`,
    RAND() AS `drawn`
  FROM `b1` AS b1
), `b2` AS (
  SELECT
    m.`b1_model_3` AS `b1_model_3`,
    m.`b1_model_3` AS `model_3`,
    b1.`sum_price` AS `sum_price`,
    m.`drawn` AS `drawn`
  FROM `b2_members` AS m, `b1` AS b1
  WHERE
    m.`b1_model_3` IS NOT DISTINCT FROM b1.`model_3`
)
SELECT
  b2.`model_3` AS `model_2`,
  b2.`sum_price` AS `s`,
  b2.`drawn` AS `r`,
  NAMED_STRUCT('b2', b2.`b1_model_3`) AS `_prov`
FROM `b2` AS b2

-- title: drawn in outer join
SELECT c.car_id, d.city FROM (SELECT *, rand() AS r FROM cars) AS c LEFT JOIN dealers AS d ON c.dealer = d.dealer AND c.r < 0.5
-- expected
WITH `b1_members` AS (
  SELECT
    cars.`car_id` AS `car_id`,
    cars.`model` AS `model`,
    cars.`price` AS `price`,
    cars.`dealer` AS `dealer`,
    RAND() AS `drawn`
  FROM `cars` AS cars
), `b1` AS (
  SELECT
    m.`car_id` AS `car_id__id`,
    m.`car_id` AS `car_id`,
    m.`model` AS `model`,
    m.`price` AS `price`,
    m.`dealer` AS `dealer`,
    m.`drawn` AS `drawn`
  FROM `b1_members` AS m
), `b3_members` AS (
  SELECT
    dealers_2.`dealer` AS `dealer`,
    b1_2.`car_id__id` AS `b1_2_car_id__id`,
    b1_2.`car_id` AS `car_id_2`,
    b1_2.`model` AS `model_2`,
    b1_2.`price` AS `price_2`,
    b1_2.`dealer` AS `dealer_2`,
    b1_2.`drawn` AS `r`,
    dealers_2.`city` AS `city`,
    dealers_2.`rating` AS `rating`
  FROM `b1` AS b1_2, `dealers` AS dealers_2
  WHERE
    b1_2.`dealer` = dealers_2.`dealer` AND b1_2.`drawn` < 0.5
), `b3` AS (
  SELECT
    m.`dealer` AS `dealer`,
    m.`b1_2_car_id__id` AS `b1_2_car_id__id`,
    m.`car_id_2` AS `car_id_2`,
    m.`model_2` AS `model_2`,
    m.`price_2` AS `price_2`,
    m.`dealer_2` AS `dealer_2`,
    m.`r` AS `r`,
    m.`dealer` AS `dealer_3`,
    m.`city` AS `city`,
    m.`rating` AS `rating`,
    NAMED_STRUCT('dealers_2', m.`dealer`, 'b1_2', b1_2.`car_id__id`) AS `_prov`
  FROM `b3_members` AS m, `b1` AS b1_2
  WHERE
    m.`b1_2_car_id__id` IS NOT DISTINCT FROM b1_2.`car_id__id`
), `b2_members` AS (
  SELECT
    dealers_3.`dealer` AS `dealer`
  FROM `dealers` AS dealers_3
), `b2` AS (
  SELECT
    g.`k1` AS `k1`
  FROM (
    SELECT
      m.`dealer` AS `k1`
    FROM `b2_members` AS m
    GROUP BY
      m.`dealer`
  ) AS g
), `b4` AS (
  SELECT
    b1_3.`car_id__id` AS `b1_3_car_id__id`,
    b1_3.`car_id` AS `car_id_2`,
    b1_3.`model` AS `model_2`,
    b1_3.`price` AS `price_2`,
    b1_3.`dealer` AS `dealer_2`,
    b1_3.`drawn` AS `r`,
    NULL AS `dealer_3`,
    NULL AS `city`,
    NULL AS `rating`,
    NAMED_STRUCT(
      'b1_3',
      b1_3.`car_id__id`,
      'b2_absent',
      CASE WHEN COALESCE((
        b1_3.`drawn` < 0.5
      ), FALSE) THEN b1_3.`dealer` END
    ) AS `_prov`
  FROM `b1` AS b1_3
  WHERE
    (
      NOT COALESCE((
        b1_3.`drawn` < 0.5
      ), FALSE)
      OR NOT EXISTS(
        SELECT
          1
        FROM `b2` AS k
        WHERE
          k.`k1` = b1_3.`dealer`
      )
    )
)
SELECT
  u.`car_id_2` AS `car_id_3`,
  u.`city` AS `city_2`,
  u.`_prov` AS `_prov`
FROM (
  SELECT
    0 AS `_branch`,
    t.`dealer` AS `_0_dealer`,
    t.`b1_2_car_id__id` AS `_0_b1_2_car_id__id`,
    NULL AS `_1_b1_3_car_id__id`,
    t.`car_id_2` AS `car_id_2`,
    t.`model_2` AS `model_2`,
    t.`price_2` AS `price_2`,
    t.`dealer_2` AS `dealer_2`,
    t.`r` AS `r`,
    t.`dealer_3` AS `dealer_3`,
    t.`city` AS `city`,
    t.`rating` AS `rating`,
    NAMED_STRUCT('branch', 0, 'p0', t.`_prov`, 'p1', NULL) AS `_prov`
  FROM `b3` AS t
  UNION ALL
  SELECT
    1 AS `_branch`,
    NULL AS `_0_dealer`,
    NULL AS `_0_b1_2_car_id__id`,
    t.`b1_3_car_id__id` AS `_1_b1_3_car_id__id`,
    t.`car_id_2` AS `car_id_2`,
    t.`model_2` AS `model_2`,
    t.`price_2` AS `price_2`,
    t.`dealer_2` AS `dealer_2`,
    t.`r` AS `r`,
    NULL AS `dealer_3`,
    NULL AS `city`,
    NULL AS `rating`,
    NAMED_STRUCT('branch', 1, 'p0', NULL, 'p1', t.`_prov`) AS `_prov`
  FROM `b4` AS t
) AS u

-- title: drawn values
SELECT model, r, uuid() AS u FROM (SELECT model, rand() AS r FROM cars) AS c WHERE r < 0.5 ORDER BY rand() LIMIT 3
-- expected
WITH `b1_members` AS (
  SELECT
    cars.`car_id` AS `car_id`,
    cars.`model` AS `model`,
    cars.`price` AS `price`,
    cars.`dealer` AS `dealer`,
    RAND() AS `drawn`
  FROM `cars` AS cars
), `b1` AS (
  SELECT
    m.`car_id` AS `car_id__id`,
    m.`car_id` AS `car_id`,
    m.`model` AS `model`,
    m.`price` AS `price`,
    m.`dealer` AS `dealer`,
    m.`drawn` AS `drawn`
  FROM `b1_members` AS m
), `b2_members` AS (
  SELECT
    b1.`car_id__id` AS `b1_car_id__id`,
    b1.`model` AS `model_2`,
    b1.`drawn` AS `r`,
    UUID() AS `drawn_2`,
    RAND() AS `drawn_3`
  FROM `b1` AS b1
  WHERE
    b1.`drawn` < 0.5
), `b2` AS (
  SELECT
    m.`b1_car_id__id` AS `b1_car_id__id`,
    m.`model_2` AS `model_2`,
    m.`r` AS `r`,
    m.`drawn_2` AS `drawn_2`,
    m.`drawn_3` AS `drawn_3`
  FROM `b2_members` AS m, `b1` AS b1
  WHERE
    m.`b1_car_id__id` IS NOT DISTINCT FROM b1.`car_id__id`
)
SELECT
  b2.`model_2` AS `model_4`,
  b2.`r` AS `r_3`,
  b2.`drawn_2` AS `u_2`,
  NAMED_STRUCT('b2', b2.`b1_car_id__id`) AS `_prov`
FROM `b2` AS b2
ORDER BY
  b2.`drawn_3` ASC,
  b2.`b1_car_id__id` ASC
LIMIT 3

-- title: random part by aggregates
SELECT * FROM (SELECT model, sum(price) AS s FROM cars GROUP BY model SORT BY s, model) WHERE rand(3) < 0.5
-- error
UnsupportedError: a random choice in an order by aggregated values is not supported at 1:95
  model SORT BY s, model) WHERE rand(3) < 0.5
                                ^^^^
Store the rows in a relation and track it.

-- title: random part of sorted groups
SELECT * FROM (SELECT model, sum(price) AS s FROM cars GROUP BY model SORT BY model, s) WHERE rand(3) < 0.5
-- expected
WITH `b1_members` AS (
  SELECT
    cars.`car_id` AS `car_id`,
    cars.`model` AS `model_3`,
    cars.`price` AS `price`
  FROM `cars` AS cars
), `b1` AS (
  SELECT
    g.`model_3` AS `model_3`,
    g.`model_3` AS `model_2`,
    g.`sum_price` AS `s`
  FROM (
    SELECT
      m.`model_3` AS `model_3`,
      SUM(m.`price`) AS `sum_price`
    FROM `b1_members` AS m
    GROUP BY
      m.`model_3`
  ) AS g
), `b2_members` AS (
  SELECT
    m.`b1_model_3` AS `b1_model_3`,
    m.`model_2` AS `model_2`,
    RAND(3) AS `drawn`
  FROM (
    SELECT
      b1.`model_3` AS `b1_model_3`,
      b1.`model_2` AS `model_2`,
      b1.`model_2` AS `_order 0`,
      b1.`model_3` AS `_order 1`
    FROM `b1` AS b1
    SORT BY
      `_order 0` ASC,
      `_order 1` ASC
  ) AS m
), `b2` AS (
  SELECT
    m.`b1_model_3` AS `b1_model_3`,
    m.`model_2` AS `model_2`,
    b1.`s` AS `s`,
    m.`drawn` AS `drawn`
  FROM `b2_members` AS m, `b1` AS b1
  WHERE
    m.`b1_model_3` IS NOT DISTINCT FROM b1.`model_3`
)
SELECT
  b2.`model_2` AS `model_4`,
  b2.`s` AS `s_2`,
  NAMED_STRUCT('b2', b2.`b1_model_3`) AS `_prov`
FROM `b2` AS b2
WHERE
  b2.`drawn` < 0.5

-- title: random part of sorted rows
WITH q1 AS (SELECT car_id, price + 1 AS p FROM cars SORT BY price DESC, p, car_id), q2 AS (SELECT car_id AS c, p FROM q1 SORT BY c, p DESC)
SELECT c, shuffle(array(c, p, c)) AS s FROM q2
UNION ALL SELECT car_id, NULL FROM q1 WHERE rand(3) < 0.5
-- expected
WITH `b1_members` AS (
  SELECT
    m.`car_id` AS `car_id`,
    m.`p_2` AS `p_2`,
    SHUFFLE(ARRAY(m.`drawn 0`, m.`drawn 1` + 1, m.`drawn 0`)) AS `drawn`
  FROM (
    SELECT
      cars.`car_id` AS `car_id`,
      cars.`price` + 1 AS `p_2`,
      cars.`car_id` AS `drawn 0`,
      cars.`price` AS `drawn 1`,
      cars.`car_id` AS `_order 0`,
      cars.`price` + 1 AS `_order 1`
    FROM `cars` AS cars
    SORT BY
      `_order 0` ASC,
      `_order 1` DESC
  ) AS m
), `b1` AS (
  SELECT
    m.`car_id` AS `car_id`,
    m.`car_id` AS `c`,
    m.`p_2` AS `p_2`,
    m.`drawn` AS `drawn`
  FROM `b1_members` AS m
), `b3` AS (
  SELECT
    b1.`car_id` AS `b1_car_id`,
    b1.`c` AS `c_2`,
    b1.`drawn` AS `s`,
    NAMED_STRUCT('b1', b1.`car_id`) AS `_prov`
  FROM `b1` AS b1
), `b2_members` AS (
  SELECT
    cars_2.`car_id` AS `car_id`,
    cars_2.`price` + 1 AS `p_3`,
    RAND(3) AS `drawn_2`
  FROM `cars` AS cars_2
), `b2` AS (
  SELECT
    m.`car_id` AS `car_id`,
    m.`car_id` AS `car_id_4`,
    m.`p_3` AS `p_3`,
    m.`drawn_2` AS `drawn_2`
  FROM `b2_members` AS m
), `b4` AS (
  SELECT
    b2.`car_id` AS `b2_car_id`,
    b2.`car_id_4` AS `car_id_5`,
    NULL AS `null`,
    NAMED_STRUCT('b2', b2.`car_id`) AS `_prov`
  FROM `b2` AS b2
  WHERE
    b2.`drawn_2` < 0.5
)
SELECT
  u.`c_2` AS `c_3`,
  u.`s` AS `s_2`,
  u.`_prov` AS `_prov`
FROM (
  SELECT
    0 AS `_branch`,
    t.`b1_car_id` AS `_0_b1_car_id`,
    NULL AS `_1_b2_car_id`,
    t.`c_2` AS `c_2`,
    t.`s` AS `s`,
    NAMED_STRUCT('branch', 0, 'p0', t.`_prov`, 'p1', NULL) AS `_prov`
  FROM `b3` AS t
  UNION ALL
  SELECT
    1 AS `_branch`,
    NULL AS `_0_b1_car_id`,
    t.`b2_car_id` AS `_1_b2_car_id`,
    t.`car_id_5` AS `c_2`,
    NULL AS `s`,
    NAMED_STRUCT('branch', 1, 'p0', NULL, 'p1', t.`_prov`) AS `_prov`
  FROM `b4` AS t
) AS u

-- title: sample of relation
SELECT model, count(*) AS n FROM cars TABLESAMPLE (10 PERCENT) REPEATABLE (7) WHERE price > 100 GROUP BY model
-- expected
WITH `b1_members` AS (
  SELECT
    m.`car_id`,
    m.`model`,
    m.`price`,
    m.`dealer`
  FROM (
    SELECT
      cars.`car_id` AS `car_id`,
      cars.`model` AS `model`,
      cars.`price` AS `price`,
      cars.`dealer` AS `dealer`
    FROM `cars` AS cars
  ) TABLESAMPLE (10 PERCENT) REPEATABLE (7) AS m
), `b1` AS (
  SELECT
    m.`car_id` AS `car_id__id`,
    m.`car_id` AS `car_id`,
    m.`model` AS `model`,
    m.`price` AS `price`,
    m.`dealer` AS `dealer`
  FROM `b1_members` AS m
)
SELECT
  g.`model_3` AS `model_2`,
  g.`count` AS `n`,
  g.`_prov`
FROM (
  SELECT
    b1.`model` AS `model_3`,
    COUNT(*) AS `count`,
    COLLECT_LIST(NAMED_STRUCT('b1', b1.`car_id__id`)) AS `_prov`
  FROM `b1` AS b1
  WHERE
    b1.`price` > 100
  GROUP BY
    b1.`model`
) AS g
