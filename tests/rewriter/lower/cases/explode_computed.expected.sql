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
    SLICE(g.`collect_list_price`, 1, 2) AS `prices`
  FROM (
    SELECT
      m.`model_3` AS `model_3`,
      ARRAY_COMPACT(
        TRANSFORM(
          ARRAY_SORT(
            COLLECT_LIST(NAMED_STRUCT('value', m.`price`, 'key0', m.`car_id`)),
            (l, r) -> CASE
              WHEN l.key0 IS NULL AND NOT r.key0 IS NULL
              THEN -1
              WHEN NOT l.key0 IS NULL AND r.key0 IS NULL
              THEN 1
              WHEN l.key0 < r.key0
              THEN -1
              WHEN l.key0 > r.key0
              THEN 1
              ELSE 0
            END
          ),
          e -> e.value
        )
      ) AS `collect_list_price`
    FROM `b1_members` AS m
    GROUP BY
      m.`model_3`
  ) AS g
)
SELECT
  b1.`model_2` AS `model_4`,
  generated.`x` AS `x_2`,
  NAMED_STRUCT('b1', b1.`model_3`) AS `_prov`
FROM `b1` AS b1
LATERAL VIEW
POSEXPLODE(b1.`prices`) generated AS `pos`, `x`
