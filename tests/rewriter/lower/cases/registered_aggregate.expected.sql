WITH `b0_members` AS (
  SELECT
    cars.`car_id` AS `car_id`,
    cars.`dealer` AS `dealer_3`,
    cars.`price` AS `price`
  FROM `cars` AS cars
)
SELECT
  g.`dealer_3` AS `dealer_2`,
  g.`middle_price` AS `m`,
  g.`_prov`
FROM (
  SELECT
    own.`dealer_3` AS `dealer_3`,
    own.`_prov` AS `_prov`,
    opaque.`middle_price` AS `middle_price`,
    opaque.`middle_price_dealer` AS `middle_price_dealer`
  FROM (
    SELECT
      m.`dealer_3` AS `dealer_3`,
      COLLECT_LIST(
        NAMED_STRUCT(
          'cars',
          m.`car_id`,
          'middle_price_value',
          m.`price`,
          'middle_price_dealer_value',
          NAMED_STRUCT('_1', m.`price`, '_2', m.`dealer_3`)
        )
      ) AS `_prov`
    FROM `b0_members` AS m
    GROUP BY
      m.`dealer_3`
  ) AS own, (
    SELECT
      m.`dealer_3` AS `dealer_3`,
      MIDDLE(m.`price`) AS `middle_price`,
      MIDDLE(m.`price`, m.`dealer_3`) AS `middle_price_dealer`
    FROM `b0_members` AS m
    GROUP BY
      m.`dealer_3`
  ) AS opaque
  WHERE
    own.`dealer_3` IS NOT DISTINCT FROM opaque.`dealer_3`
) AS g
WHERE
  g.`middle_price_dealer` > 2
