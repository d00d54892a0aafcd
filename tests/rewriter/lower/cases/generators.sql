-- title: explode
SELECT id, x FROM nested LATERAL VIEW OUTER explode(arr) u AS x WHERE x > 1
-- expected
WITH `b0_members` AS (
  SELECT
    nested.`id` AS `id`,
    generated.`x` AS `x_2`,
    generated.`pos` AS `pos`
  FROM `nested` AS nested
  LATERAL VIEW OUTER
  POSEXPLODE(nested.`arr`) generated AS `pos`, `x`
  WHERE
    generated.`x` > 1
)
SELECT
  m.`id` AS `id_2`,
  m.`x_2` AS `x_2`,
  NAMED_STRUCT('nested', m.`id`) AS `_prov`
FROM `b0_members` AS m
-- blocks
b0: rows, identity id, pos (stable)
  core:
    scan: nested as nested
    generate outer: nested.`arr` as generated(pos, x)
    where: generated.`x` > 1
    store: id := nested.`id`
    store: x_2 := generated.`x`
    store: pos := generated.`pos`
  token: nested as nested in id
  key: id := m.`id`
  key: pos := m.`pos`
  output: id_2 := m.`id` (stable)
  output: x_2 := m.`x_2` (stable)

-- title: explode computed
SELECT g.model, p.x FROM (SELECT model, slice(collect_list(price), 1, 2) AS prices FROM cars GROUP BY model) g LATERAL VIEW explode(g.prices) p AS x
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
-- blocks
b1: group, identity model_3 (stable)
  core:
    scan: cars as cars
    store: car_id := cars.`car_id`
    store: model_3 := cars.`model`
    store: price := cars.`price`
  token: cars as cars in car_id
  key: model_3 := m.`model_3`
  aggregate: collect_list_price := COLLECT_LIST(m.`price`) WITHIN GROUP (ORDER BY m.`car_id` ASC)
  output: model_2 := g.`model_3` (stable)
  output: prices := SLICE(g.`collect_list_price`, 1, 2)
b0: rows, identity b1_model_3, pos (not stable)
  lookup: b1 as b1, free
  generate: b1.`prices` as generated(pos, x)
  key: b1_model_3 := b1.`model_3`
  key: pos := generated.`pos`
  output: model_4 := b1.`model_2` (stable)
  output: x_2 := generated.`x`

-- title: explode grouped
SELECT u.x, count(*) AS n FROM nested LATERAL VIEW posexplode(arr) u AS p, x GROUP BY u.x
-- expected
WITH `b0_members` AS (
  SELECT
    nested.`id` AS `id`,
    generated.`x` AS `x_3`
  FROM `nested` AS nested
  LATERAL VIEW
  POSEXPLODE(nested.`arr`) generated AS `p`, `x`
)
SELECT
  g.`x_3` AS `x_2`,
  g.`count` AS `n`,
  g.`_prov`
FROM (
  SELECT
    m.`x_3` AS `x_3`,
    COUNT(*) AS `count`,
    COLLECT_LIST(NAMED_STRUCT('nested', m.`id`)) AS `_prov`
  FROM `b0_members` AS m
  GROUP BY
    m.`x_3`
) AS g

-- title: generators of one row
SELECT d.dealer, t.city, u.year
FROM (SELECT dealer, max(model) AS m FROM cars GROUP BY dealer) d
JOIN dealers ON dealers.dealer = d.dealer
LATERAL VIEW json_tuple(d.m, 'city') t AS city
LATERAL VIEW json_tuple(dealers.city, 'year') u AS year
-- expected
WITH `b1_members` AS (
  SELECT
    cars.`car_id` AS `car_id`,
    cars.`dealer` AS `dealer_3`,
    cars.`model` AS `model`
  FROM `cars` AS cars
), `b1` AS (
  SELECT
    g.`dealer_3` AS `dealer_3`,
    g.`dealer_3` AS `dealer_2`,
    g.`max_model` AS `m`
  FROM (
    SELECT
      m.`dealer_3` AS `dealer_3`,
      MAX(m.`model`) AS `max_model`
    FROM `b1_members` AS m
    GROUP BY
      m.`dealer_3`
  ) AS g
), `b0_members` AS (
  SELECT
    dealers.`dealer` AS `dealer`,
    b1.`dealer_3` AS `b1_dealer_3`,
    b1.`dealer_2` AS `dealer_5`,
    generated_2.`year` AS `year_2`
  FROM `b1` AS b1, `dealers` AS dealers
  LATERAL VIEW
  JSON_TUPLE(dealers.`city`, 'year') generated_2 AS `year`
  WHERE
    dealers.`dealer` = b1.`dealer_2`
)
SELECT
  m.`dealer_5` AS `dealer_5`,
  generated.`city_2` AS `city_3`,
  m.`year_2` AS `year_2`,
  NAMED_STRUCT('dealers', m.`dealer`, 'b1', b1.`dealer_3`) AS `_prov`
FROM `b0_members` AS m, `b1` AS b1
LATERAL VIEW
JSON_TUPLE(b1.`m`, 'city') generated AS `city_2`
WHERE
  m.`b1_dealer_3` IS NOT DISTINCT FROM b1.`dealer_3`
-- blocks
b1: group, identity dealer_3 (stable)
  core:
    scan: cars as cars
    store: car_id := cars.`car_id`
    store: dealer_3 := cars.`dealer`
    store: model := cars.`model`
  token: cars as cars in car_id
  key: dealer_3 := m.`dealer_3`
  aggregate: max_model := MAX(m.`model`)
  output: dealer_2 := g.`dealer_3` (stable)
  output: m := g.`max_model`
b0: rows, identity dealer, b1_dealer_3 (stable)
  core:
    potential: b1 as b1
    scan: dealers as dealers
    generate: JSON_TUPLE(dealers.`city`, 'year') as generated_2(year)
    where: dealers.`dealer` = b1.`dealer_2`
    store: dealer := dealers.`dealer`
    store: b1_dealer_3 := b1.`dealer_3`
    store: dealer_5 := b1.`dealer_2`
    store: year_2 := generated_2.`year`
  token: dealers as dealers in dealer
  lookup: b1 as b1, b1_dealer_3 <=> dealer_3
  generate: JSON_TUPLE(b1.`m`, 'city') as generated(city_2)
  key: dealer := m.`dealer`
  key: b1_dealer_3 := m.`b1_dealer_3`
  output: dealer_5 := m.`dealer_5` (stable)
  output: city_3 := generated.`city_2`
  output: year_2 := m.`year_2` (stable)

-- title: inline outer
SELECT id, a, b FROM nested LATERAL VIEW OUTER inline(arr) u AS a, b
-- expected
WITH `b0_members` AS (
  SELECT
    nested.`id` AS `id`,
    generated.`a` AS `a_2`,
    generated.`b` AS `b_2`,
    generated_at.`pos` AS `pos`
  FROM `nested` AS nested
  LATERAL VIEW OUTER
  POSEXPLODE(nested.`arr`) generated_at AS `pos`, `_element`
  LATERAL VIEW OUTER
  INLINE(ARRAY(generated_at.`_element`)) generated AS `a`, `b`
)
SELECT
  m.`id` AS `id_2`,
  m.`a_2` AS `a_2`,
  m.`b_2` AS `b_2`,
  NAMED_STRUCT('nested', m.`id`) AS `_prov`
FROM `b0_members` AS m

-- title: lateral explode limited
SELECT d.city, u.x FROM dealers d, LATERAL explode(array(d.rating, 2)) AS u(x) ORDER BY 1 LIMIT 2
-- expected
WITH `b0_members` AS (
  SELECT
    dealers.`dealer` AS `dealer`,
    dealers.`city` AS `city_2`,
    generated.`x` AS `x_2`,
    generated.`pos` AS `pos`
  FROM `dealers` AS dealers
  LATERAL VIEW
  POSEXPLODE(ARRAY(dealers.`rating`, 2)) generated AS `pos`, `x`
)
SELECT
  m.`city_2` AS `city_2`,
  m.`x_2` AS `x_2`,
  NAMED_STRUCT('dealers', m.`dealer`) AS `_prov`
FROM `b0_members` AS m
ORDER BY
  m.`city_2` ASC,
  m.`dealer` ASC,
  m.`pos` ASC
LIMIT 2

-- title: raising generator of padded
SELECT d.city, e FROM dealers d LEFT JOIN cars c ON c.dealer = d.dealer LATERAL VIEW explode(array(1 / coalesce(c.price, 0))) t AS e
-- expected
WITH `b1_members` AS (
  SELECT
    cars_2.`car_id` AS `car_id`,
    cars_2.`dealer` AS `k1`
  FROM `cars` AS cars_2
), `b1` AS (
  SELECT
    g.`k1` AS `k1`
  FROM (
    SELECT
      m.`k1` AS `k1`
    FROM `b1_members` AS m
    GROUP BY
      m.`k1`
  ) AS g
), `b0_members` AS (
  SELECT
    outer_join.`dealers_dealer` AS `dealers_dealer`,
    outer_join.`cars_car_id` AS `cars_car_id`,
    outer_join.`dealer` AS `dealer`,
    outer_join.`asked` AS `asked`,
    outer_join.`price` AS `price`,
    outer_join.`city` AS `city_2`
  FROM (
    SELECT
      dealers.`dealer` AS `dealer`,
      dealers.`city` AS `city`,
      dealers.`rating` AS `rating`,
      cars.`car_id` AS `car_id`,
      cars.`model` AS `model`,
      cars.`price` AS `price`,
      cars.`dealer` AS `dealer_2`,
      dealers.`dealer` AS `dealers_dealer`,
      cars.`car_id` AS `cars_car_id`,
      FALSE AS `asked`
    FROM `dealers` AS dealers, `cars` AS cars
    WHERE
      cars.`dealer` = dealers.`dealer`
    UNION ALL
    SELECT
      dealers_2.`dealer` AS `dealer`,
      dealers_2.`city` AS `city`,
      dealers_2.`rating` AS `rating`,
      NULL AS `car_id`,
      NULL AS `model`,
      NULL AS `price`,
      NULL AS `dealer_2`,
      dealers_2.`dealer` AS `dealers_dealer`,
      NULL AS `cars_car_id`,
      TRUE AS `asked`
    FROM `dealers` AS dealers_2
  ) AS outer_join
)
SELECT
  m.`city_2` AS `city_2`,
  generated.`e` AS `e_2`,
  NAMED_STRUCT(
    'dealers',
    m.`dealers_dealer`,
    'cars',
    m.`cars_car_id`,
    'b1_absent',
    CASE WHEN m.`asked` THEN m.`dealer` END
  ) AS `_prov`
FROM `b0_members` AS m
LATERAL VIEW
POSEXPLODE(ARRAY(1 / COALESCE(m.`price`, 0))) generated AS `pos`, `e`
WHERE
  (
    NOT m.`asked`
    OR NOT EXISTS(
      SELECT
        1
      FROM `b1` AS k
      WHERE
        k.`k1` = m.`dealer`
    )
  )
-- blocks
b1: group, identity k1 (stable)
  core:
    scan: cars as cars_2
    store: car_id := cars_2.`car_id`
    store: k1 := cars_2.`dealer`
  token: cars as cars_2 in car_id
  key: k1 := m.`k1`
  output: k1 := g.`k1` (stable)
b0: rows, identity dealers_dealer, cars_car_id, pos (not stable)
  core:
    union: outer_join
      branch:
        scan: dealers as dealers
        scan: cars as cars
        where: cars.`dealer` = dealers.`dealer`
        store: dealer := dealers.`dealer`
        store: city := dealers.`city`
        store: rating := dealers.`rating`
        store: car_id := cars.`car_id`
        store: model := cars.`model`
        store: price := cars.`price`
        store: dealer_2 := cars.`dealer`
        store: dealers_dealer := dealers.`dealer`
        store: cars_car_id := cars.`car_id`
        store: asked := FALSE
      branch:
        scan: dealers as dealers_2
        store: dealer := dealers_2.`dealer`
        store: city := dealers_2.`city`
        store: rating := dealers_2.`rating`
        store: car_id := NULL
        store: model := NULL
        store: price := NULL
        store: dealer_2 := NULL
        store: dealers_dealer := dealers_2.`dealer`
        store: cars_car_id := NULL
        store: asked := TRUE
    store: dealers_dealer := outer_join.`dealers_dealer`
    store: cars_car_id := outer_join.`cars_car_id`
    store: dealer := outer_join.`dealer`
    store: asked := outer_join.`asked`
    store: price := outer_join.`price`
    store: city_2 := outer_join.`city`
  token: dealers as dealers in dealers_dealer
  token: cars as cars in cars_car_id
  generate: ARRAY(1 / COALESCE(m.`price`, 0)) as generated(pos, e)
  semi: not b1 on m.`dealer` = k1 if m.`asked`
  key: dealers_dealer := m.`dealers_dealer`
  key: cars_car_id := m.`cars_car_id`
  key: pos := generated.`pos`
  output: city_2 := m.`city_2` (stable)
  output: e_2 := generated.`e`
