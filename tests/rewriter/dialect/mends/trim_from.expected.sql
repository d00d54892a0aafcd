SELECT TRIM(BOTH 'x' FROM s), TRIM(LEADING FROM s), TRIM('x' FROM s), trim(s), LTRIM('x', s) FROM t
