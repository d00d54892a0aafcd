-- title: aggregates that tie without provenance
SELECT first(city) AS f, max_by(city, rate) AS m, listagg(city, ',') AS l FROM rates
-- expected
WITH `b0_members` AS (
  SELECT
    rates.`city` AS `city`,
    rates.`rate` AS `rate`
  FROM `rates` AS rates
)
SELECT
  g.`first_city` AS `f`,
  g.`max_by_city_rate` AS `m`,
  g.`listagg_city` AS `l`,
  g.`_prov`
FROM (
  SELECT
    MIN_BY(m.`city`, STRUCT(m.`city`)) AS `first_city`,
    MAX_BY(m.`city`, CASE WHEN NOT m.`rate` IS NULL THEN STRUCT(m.`rate`, m.`city`) END) AS `max_by_city_rate`,
    LISTAGG(m.`city`, ',') WITHIN GROUP (ORDER BY
      (
        m.`city`
      ) ASC) AS `listagg_city`,
    COLLECT_LIST(
      NAMED_STRUCT(
        'first_city_value',
        NAMED_STRUCT('_1', m.`city`, '_2', STRUCT(m.`city`)),
        'max_by_city_rate_value',
        NAMED_STRUCT(
          '_1',
          m.`city`,
          '_2',
          CASE WHEN NOT m.`rate` IS NULL THEN STRUCT(m.`rate`, m.`city`) END
        ),
        'listagg_city_value',
        NAMED_STRUCT('_1', m.`city`, '_2', ',', '_3', (
          m.`city`
        ))
      )
    ) AS `_prov`
  FROM `b0_members` AS m
) AS g
-- blocks
b0: group, identity nothing (not stable)
  core:
    scan: rates as rates
    store: city := rates.`city`
    store: rate := rates.`rate`
  aggregate: first_city := MIN_BY(m.`city`, STRUCT(m.`city`))
  aggregate: max_by_city_rate := MAX_BY(m.`city`, CASE WHEN NOT m.`rate` IS NULL THEN STRUCT(m.`rate`, m.`city`) END)
  aggregate: listagg_city := LISTAGG(m.`city`, ',') WITHIN GROUP (ORDER BY (m.`city`) ASC)
  output: f := g.`first_city`
  output: m := g.`max_by_city_rate`
  output: l := g.`listagg_city`

-- title: limit without provenance
SELECT c.model, r.rate FROM cars c, rates r ORDER BY c.price LIMIT 2
-- blocks
b0: rows, identity car_id (not stable, not unique)
  core:
    scan: cars as cars
    scan: rates as rates
    store: car_id := cars.`car_id`
    store: model_3 := cars.`model`
    store: rate_3 := rates.`rate`
    store: price := cars.`price`
  token: cars as cars in car_id
  key: car_id := m.`car_id`
  output: model_3 := m.`model_3` (stable)
  output: rate_3 := m.`rate_3` (stable)
  order: m.`price` ASC NULLS FIRST
  limit: 2 offset 0

-- title: limit without provenance, refused
SELECT t.rate FROM (SELECT rate, city FROM rates ORDER BY rate LIMIT 2) t JOIN cars c ON t.city = c.dealer
-- error
UnsupportedError: LIMIT in a subquery over a relation without provenance at 1:64
  city FROM rates ORDER BY rate LIMIT 2) t JOIN cars c ON t.ci
                                ^^^^^
Track the relation with a key, so that its tuples can be distinguished.

-- title: only without provenance
SELECT city, sum(rate) AS s FROM rates GROUP BY city
-- blocks
b0: group, identity city_3 (stable)
  core:
    scan: rates as rates
    store: city_3 := rates.`city`
    store: rate := rates.`rate`
  key: city_3 := m.`city_3`
  aggregate: sum_rate := SUM(m.`rate`)
  output: city_2 := g.`city_3` (stable)
  output: s := g.`sum_rate`

-- title: union without provenance
SELECT city FROM rates UNION ALL SELECT dealer FROM cars GROUP BY dealer
-- error
UnsupportedError: UNION ALL of a grouping and a relation without provenance at 1:24
  SELECT city FROM rates UNION ALL SELECT dealer FROM cars GRO
                         ^^^^^
Track the relation with a key, so that its tuples can be distinguished.

-- title: windows without provenance
SELECT city, row_number() OVER (ORDER BY city) AS n, lag(rate) OVER (ORDER BY city) AS l FROM rates
-- blocks
b0: rows, identity nothing (not stable, not unique)
  core:
    scan: rates as rates
    store: city_2 := rates.`city`
    store: rate := rates.`rate`
  output: city_2 := m.`city_2` (stable)
  output: n := ROW_NUMBER() OVER (ORDER BY m.`city_2`, (m.`rate`) ASC)
  output: l := LAG(m.`rate`) OVER (ORDER BY m.`city_2`, (m.`rate`) ASC)

-- title: without provenance
SELECT c.model, r.rate FROM cars c JOIN rates r ON c.dealer = r.city
-- expected
WITH `b0_members` AS (
  SELECT
    cars.`car_id` AS `car_id`,
    cars.`model` AS `model_2`,
    rates.`rate` AS `rate_2`
  FROM `cars` AS cars, `rates` AS rates
  WHERE
    cars.`dealer` = rates.`city`
)
SELECT
  m.`model_2` AS `model_2`,
  m.`rate_2` AS `rate_2`,
  NAMED_STRUCT('cars', m.`car_id`) AS `_prov`
FROM `b0_members` AS m
-- blocks
b0: rows, identity car_id (not stable, not unique)
  core:
    scan: cars as cars
    scan: rates as rates
    where: cars.`dealer` = rates.`city`
    store: car_id := cars.`car_id`
    store: model_2 := cars.`model`
    store: rate_2 := rates.`rate`
  token: cars as cars in car_id
  key: car_id := m.`car_id`
  output: model_2 := m.`model_2` (stable)
  output: rate_2 := m.`rate_2` (stable)
