-- title: struct field of element
SELECT arr[0].f, map('k', st)['k'].g FROM nested
-- expected
Project: f := `arr`[0].f, g := MAP('k', `st`)['k'].g
  Scan nested: st, a, arr

-- title: struct fields
SELECT st.f, x.st.g.h, X.ST.F AS g, x.st.`g h` FROM nested AS x
-- expected
Project: f := `st`.`f`, h := `st`.`g`.`h`, g := `st`.`F`, g_h 'g h' := `st`.`g h`
  Scan nested: st, a, arr

-- title: struct keeps names
SELECT struct(a, t.b, a + 1, b AS z), (a, b) FROM t
-- expected
Project: struct_a_t_b_a_1_b_as_z 'struct(a, t.b, a + 1, b AS z)' := STRUCT(`a` AS `a`, `b` AS `b`, `a` + 1, `b` AS z), a_b '(a, b)' := STRUCT(`a` AS `a`, `b` AS `b`)
  Scan t: a, b

-- title: struct relation wins
SELECT st.f FROM nested, (SELECT 5 AS f) AS st
-- expected
Project: f_2 'f' := `f`
  InnerJoin
    Scan nested: st, a, arr
    Project: f := 5
      OneRow

-- title: struct row comparison
SELECT a FROM t WHERE (a, b) IN ((1, 2), (3, 4)) AND (a, b) = (1, 2)
-- expected
Project: a_2 'a' := `a`
  Filter: (`a`, `b`) IN ((1, 2), (3, 4)) AND (`a`, `b`) = (1, 2)
    Scan t: a, b
