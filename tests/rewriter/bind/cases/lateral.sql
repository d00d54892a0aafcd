-- title: generator in from
SELECT * FROM explode(array(1, 2)) AS e(v), posexplode(array(3)), stack(2, 1, 2, 3)
-- expected
Project: v_2 'v' := `v`, pos_4 'pos' := `pos_2`, col_2 'col' := `col`, col0_2 'col0' := `col0`, col1_2 'col1' := `col1`
  InnerJoin
    InnerJoin
      Generate: ARRAY(1, 2) as pos, v
        OneRow
      Generate: ARRAY(3) as pos_2 'pos', col
        OneRow
    Generate inline: ARRAY(NAMED_STRUCT('col0', 1, 'col1', 2), NAMED_STRUCT('col0', 3, 'col1', NULL)) as pos_3 'pos', col0, col1
      OneRow

-- title: lateral
SELECT * FROM nested, LATERAL explode(arr) AS u(x)
-- expected
Project: st_2 'st' := `st`, a_2 'a' := `a`, arr_2 'arr' := `arr`, x_2 'x' := `x`
  Generate: `arr` as pos, x
    Scan nested: st, a, arr

-- title: lateral first
SELECT * FROM LATERAL (SELECT 1 AS x) AS l
-- expected
Project: x_2 'x' := `x`
  Project: x := 1
    OneRow

-- title: lateral function
SELECT c.car_id, w.word
FROM cars c, LATERAL words(c.model, 1) AS w(word, n)
WHERE w.n > 1
-- expected
Project: car_id_2 'car_id' := `car_id`, word_2 'word' := `word`
  Filter: `n` > 1
    Generate function: WORDS(`model`, 1) as row, word, n
      Scan cars: car_id, model, price, sold, dealer

-- title: lateral function unnamed
SELECT car_id, part, p.place
FROM cars, LATERAL parts(model) p
-- expected
Project: car_id_2 'car_id' := `car_id`, part_2 'part' := `part`, place_2 'place' := `place`
  Generate function: PARTS(`model`) as row, part, place
    Scan cars: car_id, model, price, sold, dealer

-- title: lateral function unnamed, refused
SELECT car_id, word
FROM cars, LATERAL words(model)
-- error
UnsupportedError: the table function words without names for its columns is not supported at 2:12
  FROM cars, LATERAL words(model)
             ^^^^^^^
Name them: LATERAL words(...) t(a, b).
-- advised
SELECT car_id, word FROM cars, LATERAL words(model) w(word, size)

-- title: lateral generator on
SELECT * FROM t LEFT JOIN LATERAL explode(array(a, b)) AS e(v) ON v > t.b
-- expected
Project: a_3 'a' := `a`, b_3 'b' := `b`, v_3 'v' := `v_2`
  LeftOuterJoin: `a_2_2` IS NOT DISTINCT FROM `a` AND `b_2_2` IS NOT DISTINCT FROM `b` AND `v_2` > `b`
    [1] Scan t: a, b
    Project: v_2 'v' := `v`, a_2_2 'a_2' := `a_2`, b_2_2 'b_2' := `b_2`
      Generate: ARRAY(`a_2`, `b_2`) as pos, v
        OuterValues: a_2 'a' := `a`, b_2 'b' := `b`
          [1] as above

-- title: lateral inline left on
SELECT * FROM nested LEFT JOIN LATERAL inline(array(st)) t(k, v) ON v > 1
-- expected
Project: st_3 'st' := `st`, a_3 'a' := `a`, arr_3 'arr' := `arr`, k_3 'k' := `k_2`, v_3 'v' := `v_2`
  LeftOuterJoin: `st_2_2` IS NOT DISTINCT FROM `st` AND `v_2` > 1
    [1] Scan nested: st, a, arr
    Project: k_2 'k' := `k`, v_2 'v' := `v`, st_2_2 'st_2' := `st_2`
      Generate inline: ARRAY(`st_2`) as pos, k, v
        OuterValues: st_2 'st' := `st`
          [1] as above

-- title: lateral join
SELECT * FROM t JOIN LATERAL (SELECT t.a AS z) ON true
-- expected
Project: a_3 'a' := `a`, b_3 'b' := `b`, z_2 'z' := `z`
  InnerJoin: `a_2_2` IS NOT DISTINCT FROM `a` AND TRUE
    [1] Scan t: a, b
    Project: z := `a_2`, a_2_2 'a_2' := `a_2`
      InnerJoin
        OneRow
        OuterValues: a_2 'a' := `a`
          [1] as above

-- title: lateral join on
SELECT a, e FROM t JOIN LATERAL explode(b) AS u(e) ON e > a
-- expected
Project: a_2 'a' := `a`, e_2 'e' := `e`
  Filter: `e` > `a`
    Generate: `b` as pos, e
      Scan t: a, b

-- title: lateral left join
SELECT a, e FROM t LEFT JOIN LATERAL explode(b) AS u(e) ON TRUE
-- expected
Project: a_2 'a' := `a`, e_2 'e' := `e`
  Generate outer: `b` as pos, e
    Scan t: a, b

-- title: lateral left join without on
SELECT a, e FROM t LEFT JOIN LATERAL explode(b) AS u(e)
-- error
UnsupportedError: this join with LATERAL is not supported at 1:30
  SELECT a, e FROM t LEFT JOIN LATERAL explode(b) AS u(e)
                               ^^^^^^^
Write LEFT JOIN LATERAL ... ON TRUE, or LATERAL VIEW [OUTER].
-- advised
SELECT a, e FROM t LEFT JOIN LATERAL explode(array(b)) AS u(e) ON TRUE

-- title: lateral of inline table
SELECT x, y FROM VALUES (1), (2) AS v(x), LATERAL (SELECT x + 1 AS y)
-- expected
Project: x_3 'x' := `col1_2`, y_2 'y' := `y`
  InnerJoin: `x_2` IS NOT DISTINCT FROM `col1_2`
    [1] Project: col1_2 'col1' := `col1`
      Constant VALUES (1, 0), (2, 1): col1, position
    Project: y := `x` + 1, x_2 'x' := `x`
      InnerJoin
        OneRow
        OuterValues: x := `col1_2`
          [1] as above

-- title: lateral range
SELECT * FROM t, LATERAL range(3)
-- expected
Project: a_2 'a' := `a`, b_2 'b' := `b`, id_2 'id' := `id`
  InnerJoin
    Scan t: a, b
    Constant RANGE(3): id

-- title: lateral range left
SELECT * FROM t LEFT JOIN LATERAL range(3) AS n(i) ON n.i > t.a
-- expected
Project: a_2 'a' := `a`, b_2 'b' := `b`, i := `id`
  LeftOuterJoin: `id` > `a`
    Scan t: a, b
    Constant RANGE(3): id

-- title: lateral star of left
SELECT * FROM t, LATERAL (SELECT t.*, l.x FROM l WHERE l.k = t.a)
-- expected
Project: a_4 'a' := `a`, b_4 'b' := `b`, a_5 'a' := `a_3`, b_5 'b' := `b_3`, x_4 'x' := `x_3`
  InnerJoin: `a_2_2` IS NOT DISTINCT FROM `a` AND `b_2_2` IS NOT DISTINCT FROM `b`
    [1] Scan t: a, b
    Project: a_3 'a' := `a_2`, b_3 'b' := `b_2`, x_3 'x' := `x_2`, a_2_2 'a_2' := `a_2`, b_2_2 'b_2' := `b_2`
      Filter: `k_2` = `a_2`
        InnerJoin
          Scan l: x_2 := x, k_2 := k, j_2 := j
          OuterValues: a_2 'a' := `a`, b_2 'b' := `b`
            [1] as above

-- title: lateral view
SELECT x FROM nested LATERAL VIEW explode(arr) e AS x
-- expected
Project: x_2 'x' := `x`
  Generate: `arr` as pos, x
    Scan nested: st, a, arr

-- title: lateral view of no generator
SELECT a FROM t LATERAL VIEW upper(b) u AS x
-- error
UnsupportedError: this LATERAL VIEW is not supported at 1:17
  SELECT a FROM t LATERAL VIEW upper(b) u AS x
                  ^^^^^^^
Store the generated rows in a relation and track it.
-- advised
SELECT a, upper(b) AS x FROM t

-- title: lateral views
SELECT n.a, u.e, v.y FROM nested n LATERAL VIEW OUTER explode(n.arr) u AS e LATERAL VIEW inline(array(struct(u.e))) v AS y
-- expected
Project: a_2 'a' := `a`, e_2 'e' := `e`, y_2 'y' := `y`
  Generate inline: ARRAY(STRUCT(`e` AS `e`)) as pos_2 'pos', y
    Generate outer: `arr` as pos, e
      Scan nested: st, a, arr
