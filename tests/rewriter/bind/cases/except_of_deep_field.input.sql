SELECT struct(* EXCEPT (a.b.c.d.e)) FROM t
