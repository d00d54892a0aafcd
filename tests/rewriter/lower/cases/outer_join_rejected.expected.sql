WITH `b0_members` AS (
  SELECT
    dealers.`dealer` AS `dealer`,
    cars.`car_id` AS `car_id`,
    bids.`bid` AS `bid`,
    bids.`buyer` AS `buyer`,
    dealers.`city` AS `city_3`
  FROM `dealers` AS dealers, `cars` AS cars, `bids` AS bids
  WHERE
    cars.`dealer` = dealers.`dealer`
    AND bids.`car_id` = cars.`car_id` + 1
    AND (
      NOT bids.`amount` IS NULL
      OR bids.`buyer` LIKE 'a%'
      AND bids.`amount` * 2 > 3
      OR bids.`amount` BETWEEN 1 AND 2
    )
)
SELECT
  g.`city_3` AS `city_2`,
  g.`count` AS `n`,
  g.`_prov`
FROM (
  SELECT
    m.`city_3` AS `city_3`,
    COUNT(*) AS `count`,
    COLLECT_LIST(
      NAMED_STRUCT(
        'dealers',
        m.`dealer`,
        'cars',
        m.`car_id`,
        'bids',
        NAMED_STRUCT('_1', m.`bid`, '_2', m.`buyer`)
      )
    ) AS `_prov`
  FROM `b0_members` AS m
  GROUP BY
    m.`city_3`
) AS g
