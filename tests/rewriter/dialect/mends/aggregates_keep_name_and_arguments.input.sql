SELECT first(a, true), last(a) IGNORE NULLS, any_value(a), mode(a), collect_list(DISTINCT a), array_agg(a), any(flag), listagg(s, ',') WITHIN GROUP (ORDER BY s), count_if(flag), max_by(a, b) FROM t
