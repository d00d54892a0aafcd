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
-- blocks
b1: group, identity model_3 (stable)
  core:
    scan: cars as cars
    store: car_id := cars.`car_id`
    store: model_3 := cars.`model`
    store: price := cars.`price`
  token: cars as cars in car_id
  key: model_3 := m.`model_3`
  aggregate: collect_list_price := COLLECT_LIST(m.`price`) WITHIN GROUP (ORDER BY (m.`car_id`) ASC)
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
-- blocks
b0: group, identity x_3 (stable)
  core:
    scan: nested as nested
    generate: nested.`arr` as generated(p, x)
    store: id := nested.`id`
    store: x_3 := generated.`x`
  token: nested as nested in id
  key: x_3 := m.`x_3`
  aggregate: count := COUNT(*)
  output: x_2 := g.`x_3` (stable)
  output: n := g.`count`

-- title: generators of one row
SELECT d.dealer, t.city, u.year
FROM (SELECT dealer, max(model) AS m FROM cars GROUP BY dealer) d
JOIN dealers ON dealers.dealer = d.dealer
LATERAL VIEW json_tuple(d.m, 'city') t AS city
LATERAL VIEW json_tuple(dealers.city, 'year') u AS year
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
-- blocks
b0: rows, identity id, pos (stable)
  core:
    scan: nested as nested
    generate outer inline: nested.`arr` as generated(pos, a, b)
    store: id := nested.`id`
    store: a_2 := generated.`a`
    store: b_2 := generated.`b`
    store: pos := generated_at.`pos`
  token: nested as nested in id
  key: id := m.`id`
  key: pos := m.`pos`
  output: id_2 := m.`id` (stable)
  output: a_2 := m.`a_2` (stable)
  output: b_2 := m.`b_2` (stable)

-- title: lateral explode limited
SELECT d.city, u.x FROM dealers d, LATERAL explode(array(d.rating, 2)) AS u(x) ORDER BY 1 LIMIT 2
-- blocks
b0: rows, identity dealer, pos (stable)
  core:
    scan: dealers as dealers
    generate: ARRAY(dealers.`rating`, 2) as generated(pos, x)
    store: dealer := dealers.`dealer`
    store: city_2 := dealers.`city`
    store: x_2 := generated.`x`
    store: pos := generated.`pos`
  token: dealers as dealers in dealer
  key: dealer := m.`dealer`
  key: pos := m.`pos`
  output: city_2 := m.`city_2` (stable)
  output: x_2 := m.`x_2` (stable)
  order: m.`city_2` ASC NULLS FIRST
  limit: 2 offset 0

-- title: raising generator of padded
SELECT d.city, e FROM dealers d LEFT JOIN cars c ON c.dealer = d.dealer LATERAL VIEW explode(array(1 / coalesce(c.price, 0))) t AS e
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
