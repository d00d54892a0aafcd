WITH `b1_members` AS (
  SELECT
    cars.`car_id` AS `car_id`,
    cars.`model` AS `model`,
    cars.`price` AS `price`,
    cars.`dealer` AS `dealer`
  FROM `cars` AS cars
), `b1` AS (
  SELECT
    m.`car_id` AS `car_id__id`,
    m.`car_id` AS `car_id`,
    m.`model` AS `model`,
    m.`price` AS `price`,
    m.`dealer` AS `dealer`,
    ROW_NUMBER() OVER (ORDER BY m.`model`, m.`car_id` ASC) AS `position__1`
  FROM `b1_members` AS m
)
SELECT
  TRANSFORM(
    ARRAY_SORT(
      COLLECT_LIST(
        CASE
          WHEN NOT b1.`price` IS NULL
          THEN NAMED_STRUCT('at', b1.`position__1`, 'value', b1.`price`)
        END
      ) OVER (ORDER BY b1.`model`),
      (l, r) -> l.at - r.at
    ),
    e -> e.value
  ) AS `collect_list_price_over_order_by_model`,
  GET(
    TRANSFORM(
      ARRAY_SORT(
        COLLECT_LIST(
          CASE
            WHEN NOT b1.`price` IS NULL
            THEN NAMED_STRUCT('at', b1.`position__1`, 'value', b1.`price`)
          END
        ) OVER (ORDER BY b1.`model` RANGE BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING),
        (l, r) -> l.at - r.at
      ),
      e -> e.value
    ),
    3 - 1
  ) AS `nth_value_price_3_ignore_nulls_over_orde`,
  NAMED_STRUCT('b1', b1.`car_id__id`) AS `_prov`
FROM `b1` AS b1
