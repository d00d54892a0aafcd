-- title: exists of generator
SELECT a FROM t WHERE EXISTS (SELECT explode(arr) FROM nested)
-- expected
Project: a_3 'a' := `a`
  SemiJoin
    Scan t: a, b
    Project: col_2 'col' := `col`
      Generate: `arr` as pos, col
        Scan nested: st, a_2 := a, arr

-- title: exists of window and generator
SELECT a FROM t WHERE EXISTS (SELECT row_number() OVER (ORDER BY st), explode(arr) FROM nested WHERE nested.a = t.a)
-- expected
Project: a_5 'a' := `a`
  SemiJoin: `a_3_2` IS NOT DISTINCT FROM `a`
    [1] Scan t: a, b
    Project: row_number_over_partition_by_outer_row_a 'row_number() OVER (PARTITION BY `outer row`.`a_3`, `outer row`.`b_2` ORDER BY st)' := `row_number`, col_2 'col' := `col`, a_3_2 'a_3' := `a_3`
      Windows: row_number := ROW_NUMBER() OVER (PARTITION BY `a_3` ORDER BY `st_2`)
        Generate: `arr_2` as pos, col
          Filter: `a_4` = `a_3`
            InnerJoin
              Scan nested: st_2 := st, a_4 := a, arr_2 := arr
              OuterValues: a_3 'a' := `a`
                [1] as above

-- title: explode map
SELECT a, key, value FROM t LATERAL VIEW explode(map('x', a, 'y', b)) m
-- expected
Project: a_2 'a' := `a`, key_2 'key' := `key`, value_2 'value' := `value`
  Generate: MAP('x', `a`, 'y', `b`) as pos, key, value
    Scan t: a, b

-- title: explode of two arguments
SELECT a, e FROM t LATERAL VIEW explode(b, a) u AS e
-- error
UnsupportedError: explode of 2 arguments is not supported at 1:33
  LECT a, e FROM t LATERAL VIEW explode(b, a) u AS e
                                ^^^^^^^
Give it one array or map.
-- advised
SELECT a, e FROM t LATERAL VIEW explode(array(b)) u AS e

-- title: generator in condition
SELECT a FROM t WHERE explode(array(a)) = 1
-- error
UnsupportedError: generator explode is not supported at 1:23
  SELECT a FROM t WHERE explode(array(a)) = 1
                        ^^^^^^^
Store the generated rows in a relation and track it.

-- title: generator in select
SELECT explode(arr) FROM nested
-- expected
Project: col_2 'col' := `col`
  Generate: `arr` as pos, col
    Scan nested: st, a, arr

-- title: generator of groups
SELECT a AS k, posexplode(collect_list(b)), count(*), a FROM t GROUP BY 1, t.a ORDER BY k, pos LIMIT 3
-- expected
Limit: 3 offset 0
  Sort: `k_3` ASC NULLS FIRST, `pos_2` ASC NULLS FIRST
    Project: k_3 'k' := `k`, pos_2 'pos' := `pos`, col_2 'col' := `col`, count_2 'COUNT(*)' := `_2`, a_3 'a' := `a_2`
      Generate: `_1` as pos, col
        Project: k := `k_2`, _1 := `collect_list_b`, _2 := `count`, a_2 'a' := `k_2`
          Aggregate: by (k_2 'k' := `a`) compute (collect_list_b 'collect_list(b)' := COLLECT_LIST(`b`), count 'COUNT(*)' := COUNT(*))
            Scan t: a, b

-- title: generator of groups in membership
SELECT a FROM t WHERE a IN (SELECT explode(collect_list(b)) FROM t AS u GROUP BY u.a)
-- error
UnsupportedError: a generator in the select list of this grouping is not supported at 1:36
  T a FROM t WHERE a IN (SELECT explode(collect_list(b)) FROM 
                                ^^^^^^^
Use LATERAL VIEW; group in a derived table.
-- advised
SELECT a FROM t WHERE a IN (SELECT e FROM (SELECT collect_list(b) AS bs FROM t AS u GROUP BY u.a) LATERAL VIEW explode(bs) v AS e)

-- title: generator of groups map
SELECT DISTINCT explode(map(max(a), 'x', min(a), b)) FROM t GROUP BY b
-- expected
Aggregate: by (key_3 'key' := `key_2`, value_3 'value' := `value_2`) compute ()
  Project: key_2 'key' := `key`, value_2 'value' := `value`
    Generate: MAP(`_0`, 'x', `_1`, `_2`) as pos, key, value
      Project: _0 := `max_a`, _1 := `min_a`, _2 := `b_2`
        Aggregate: by (b_2 'b' := `b`) compute (max_a 'max(a)' := MAX(`a`), min_a 'min(a)' := MIN(`a`))
          Scan t: a, b

-- title: generator of one row
SELECT t.a, x.p, c.c0, c.c1 FROM t, LATERAL json_tuple(b, 'y', a) c LATERAL VIEW json_tuple(c.c1, 'x') x AS p WHERE x.p > 1
-- expected
Project: a_2 'a' := `a`, p_2 'p' := `p`, c0_2 'c0' := `c0`, c1_2 'c1' := `c1`
  Filter: `p` > 1
    Generate: JSON_TUPLE(`c1`, 'x') as p
      Generate: JSON_TUPLE(`b`, 'y', `a`) as c0, c1
        Scan t: a, b

-- title: generator of one row in select
SELECT a, json_tuple(b, 'x', 'y') AS (x, y) FROM t
-- expected
Project: a_2 'a' := `a`, x_2 'x' := `x`, y_2 'y' := `y`
  Generate: JSON_TUPLE(`b`, 'x', 'y') as x, y
    Scan t: a, b

-- title: generator of outer row
SELECT a, (SELECT sum(v) FROM explode(array(t.a, t.b)) AS e(v)) AS s FROM t
-- expected
Project: a_3 'a' := `a`, s := `subquery`
  CorrelatedScalar subquery: sum_v of `a` <=> a_2_2, `b` <=> b_2_2
    [1] Scan t: a, b
    Project: sum_v 'SUM(v)' := `sum_v_2`, a_2_2 'a_2' := `a_2_3`, b_2_2 'b_2' := `b_2_3`
      Aggregate: by (a_2_3 'a_2' := `a_2`, b_2_3 'b_2' := `b_2`) compute (sum_v_2 'SUM(v)' := SUM(`v`) FILTER(WHERE `there`))
        UnionAll: a_2 'a', b_2 'b', v, there
          Project: a_2 'a' := `a_2`, b_2 'b' := `b_2`, v := `v`, there := TRUE
            Generate: ARRAY(`a_2`, `b_2`) as pos, v
              [2] OuterValues: a_2 'a' := `a`, b_2 'b' := `b`
                [1] as above
          Project: a_2 'a' := `a_2`, b_2 'b' := `b_2`, v := NULL, there := FALSE
            [2] as above

-- title: generator positions
SELECT posexplode(arr) AS (p, c) FROM nested
-- expected
Project: p_2 'p' := `p`, c_2 'c' := `c`
  Generate: `arr` as p, c
    Scan nested: st, a, arr

-- title: generator stack in from
SELECT * FROM stack(2, 1, 2)
-- expected
Project: col0_2 'col0' := `col0`
  Generate inline: ARRAY(NAMED_STRUCT('col0', 1), NAMED_STRUCT('col0', 2)) as pos, col0
    OneRow

-- title: generators named by types
SELECT f, key, value FROM (SELECT inline(arr) FROM nested) LATERAL VIEW explode(m) e
-- expected
Project: f_3 'f' := `f_2`, key_2 'key' := `key`, value_2 'value' := `value`
  Generate: `m_2` as pos_2 'pos', key, value
    Project: f_2 'f' := `f`, m_2 'm' := `m`
      Generate inline: `arr` as pos, f, m
        Scan nested: st, a, arr

-- title: inline without names
SELECT inline(b) FROM t
-- error
UnsupportedError: inline into 0 named columns is not supported at 1:8
  SELECT inline(b) FROM t
         ^^^^^^
Name its columns: LATERAL VIEW inline(...) t AS a, b.
-- advised
SELECT x, y FROM t LATERAL VIEW inline(array(struct(a, b))) u AS x, y

-- title: several aliases
SELECT a AS (x, y) FROM t
-- error
UnsupportedError: several aliases are not supported at 1:8
  SELECT a AS (x, y) FROM t
         ^
Give the expression one alias.
-- advised
SELECT a AS x FROM t

-- title: stack
SELECT a, p, q FROM t LATERAL VIEW stack(2, a, b, 3) s AS p, q
-- expected
Project: a_2 'a' := `a`, p_2 'p' := `p`, q_2 'q' := `q`
  Generate inline: ARRAY(NAMED_STRUCT('col0', `a`, 'col1', `b`), NAMED_STRUCT('col0', 3, 'col1', NULL)) as pos, p, q
    Scan t: a, b

-- title: stack computed
SELECT stack(a, 1, 2) FROM t
-- error
UnsupportedError: stack of a computed number of rows is not supported at 1:8
  SELECT stack(a, 1, 2) FROM t
         ^^^^^
Give the number of rows as a literal.
-- advised
SELECT stack(2, 1, 2) FROM t

-- title: two generators
SELECT explode(st), explode(arr) FROM nested
-- error
UnsupportedError: a generator beside another generator is not supported at 1:21
  SELECT explode(st), explode(arr) FROM nested
                      ^^^^^^^
Use LATERAL VIEW; group in a derived table.
-- advised
SELECT s, e FROM nested LATERAL VIEW explode(array(st)) u AS s LATERAL VIEW explode(arr) v AS e
