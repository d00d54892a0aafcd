SELECT x, y FROM t LATERAL VIEW inline(array(struct(a, b))) u AS x, y
