SELECT id, a, b FROM nested LATERAL VIEW OUTER inline(arr) u AS a, b
