SELECT n.a, u.e, v.y FROM nested n LATERAL VIEW OUTER explode(n.arr) u AS e LATERAL VIEW inline(array(struct(u.e))) v AS y
