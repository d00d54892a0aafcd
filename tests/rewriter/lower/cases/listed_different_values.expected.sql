WITH `b0_members` AS (
  SELECT
    cars.`car_id` AS `car_id`,
    cars.`dealer` AS `dealer_3`,
    cars.`price` AS `price`
  FROM `cars` AS cars
)
SELECT
  g.`dealer_3` AS `dealer_2`,
  g.`listagg_distinct_price` AS `p`,
  g.`_prov`
FROM (
  SELECT
    m.`dealer_3` AS `dealer_3`,
    LISTAGG(DISTINCT SUBSTRING(m.`price`, 1), '|') WITHIN GROUP (ORDER BY
      SUBSTRING(m.`price`, 1) ASC) AS `listagg_distinct_price`,
    COLLECT_LIST(
      NAMED_STRUCT(
        'cars',
        m.`car_id`,
        'listagg_distinct_price_value',
        NAMED_STRUCT('_1', SUBSTRING(m.`price`, 1), '_2', '|', '_3', SUBSTRING(m.`price`, 1))
      )
    ) AS `_prov`
  FROM `b0_members` AS m
  GROUP BY
    m.`dealer_3`
) AS g
