-- title: alias lateral
SELECT a + 1 AS c, c * 2 AS d, d - c AS e FROM t
-- expected
Project: c := `a` + 1, d := (`a` + 1) * 2, e := ((`a` + 1) * 2) - (`a` + 1)
  Scan t: a, b

-- title: alias lateral column wins
SELECT a + 1 AS b, b * 2 AS c FROM t
-- expected
Project: b_2 'b' := `a` + 1, c := `b` * 2
  Scan t: a, b

-- title: alias lateral of aggregate
SELECT sum(b) AS s, s / count(*) AS mean FROM t
-- expected
Project: s := `sum_b`, mean := `sum_b` / `count`
  Aggregate: by () compute (sum_b 'SUM(b)' := SUM(`b`), count 'COUNT(*)' := COUNT(*))
    Scan t: a, b
