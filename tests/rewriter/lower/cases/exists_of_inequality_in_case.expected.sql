WITH `b1_members` AS (
  SELECT
    bids.`bid` AS `bid`,
    bids.`buyer` AS `buyer`,
    outer_.`price` AS `price`
  FROM `bids` AS bids, (
    SELECT DISTINCT
      cars_2.`price` AS `price`
    FROM `cars` AS cars_2
  ) AS outer_
  WHERE
    bids.`amount` > outer_.`price`
), `b1` AS (
  SELECT
    g.`price` AS `price`,
    g.`found` AS `found`
  FROM (
    SELECT
      m.`price` AS `price`,
      TRUE AS `found`
    FROM `b1_members` AS m
    GROUP BY
      m.`price`,
      TRUE
  ) AS g
), `b0_members` AS (
  SELECT
    cars.`car_id` AS `car_id`,
    cars.`price` AS `price`
  FROM `cars` AS cars
)
SELECT
  g.`sum_case_when_found_then_1_else_0_end` AS `n`,
  g.`_prov`
FROM (
  SELECT
    SUM(CASE WHEN (
      NOT b1_found.`found` IS NULL
    ) THEN 1 ELSE 0 END) AS `sum_case_when_found_then_1_else_0_end`,
    COLLECT_LIST(
      NAMED_STRUCT(
        'cars',
        m.`car_id`,
        'sum_case_when_found_then_1_else_0_end_value',
        CASE WHEN (
          NOT b1_found.`found` IS NULL
        ) THEN 1 ELSE 0 END
      )
    ) AS `_prov`
  FROM `b0_members` AS m
  LEFT JOIN `b1` AS b1_found
    ON b1_found.`price` IS NOT DISTINCT FROM m.`price`
) AS g
