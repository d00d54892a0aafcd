-- title: unpivot
SELECT * FROM t UNPIVOT (v FOR n IN (a, b))
-- expected
Project: n_2 'n' := `n`, v_2 'v' := `v`
  Filter: NOT `v` IS NULL
    Generate inline: ARRAY(NAMED_STRUCT('col0', 'a', 'col1', `a`), NAMED_STRUCT('col0', 'b', 'col1', `b`)) as pos, n, v
      Scan t: a, b

-- title: unpivot several
SELECT * FROM l UNPIVOT INCLUDE NULLS ((v, w) FOR n IN ((x, k) AS xk, (k, j))) AS u (name, p, q)
-- expected
Project: name := `n`, p := `v`, q := `w`
  Generate inline: ARRAY(NAMED_STRUCT('col0', 'xk', 'col1', `x`, 'col2', `k`), NAMED_STRUCT('col0', 'k_j', 'col1', `k`, 'col2', `j`)) as pos, n, v, w
    Scan l: x, k, j
