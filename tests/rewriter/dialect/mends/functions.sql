-- title: aggregates keep name and arguments
SELECT first(a, true), last(a) IGNORE NULLS, any_value(a), mode(a), collect_list(DISTINCT a), array_agg(a), any(flag), listagg(s, ',') WITHIN GROUP (ORDER BY s), count_if(flag), max_by(a, b) FROM t
-- expected
SELECT first(a, TRUE), last(a) IGNORE NULLS, any_value(a), mode(a), collect_list(DISTINCT a), array_agg(a), any(flag), listagg(s, ',') WITHIN GROUP (ORDER BY s), count_if(flag), max_by(a, b) FROM t

-- title: extract field
SELECT EXTRACT(year FROM d), EXTRACT(DOW FROM d) FROM t
-- expected
SELECT EXTRACT(year FROM d), EXTRACT(DOW FROM d) FROM t

-- title: functions keep name and arguments
SELECT nvl(a, 0), ifnull(a, 0), instr(s, 'b'), to_date(s, 'dd/MM/yyyy'), months_between(d, d, false), trunc(d, 'MM'), from_json(js, 'a INT'), log(2, x), decode(a, 1, 'x'), split(s, ','), date_format(d, 'yyyy'), unix_timestamp(s), element_at(arr, 1), mod(a, b) FROM t
-- expected
SELECT nvl(a, 0), ifnull(a, 0), instr(s, 'b'), to_date(s, 'dd/MM/yyyy'), months_between(d, d, FALSE), trunc(d, 'MM'), from_json(js, 'a INT'), log(2, x), decode(a, 1, 'x'), split(s, ','), date_format(d, 'yyyy'), unix_timestamp(s), element_at(arr, 1), mod(a, b) FROM t

-- title: if call
SELECT IF(a > 1, 'x', 'y'), `if` FROM (SELECT *, 1 AS `if` FROM t)
-- expected
SELECT IF(a > 1, 'x', 'y'), `if` FROM (SELECT *, 1 AS `if` FROM t)

-- title: index of a call
SELECT array(1, 2)[0], split(s, ',')[0] FROM t
-- expected
SELECT array(1, 2)[0], split(s, ',')[0] FROM t

-- title: moment without parentheses
SELECT current_date, current_timestamp, current_user, session_user
-- expected
SELECT CURRENT_DATE(), CURRENT_TIMESTAMP(), CURRENT_USER(), CURRENT_USER()

-- title: overlay placing
SELECT OVERLAY(s PLACING 'zz' FROM 2 FOR 1), OVERLAY(s, 'zz', 2) FROM t
-- expected
SELECT OVERLAY(s PLACING 'zz' FROM 2 FOR 1), overlay(s, 'zz', 2) FROM t

-- title: percentile within group
SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY a DESC), percentile_disc(0.5) WITHIN GROUP (ORDER BY a) FROM t
-- expected
SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY a DESC), percentile_disc(0.5) WITHIN GROUP (ORDER BY a) FROM t

-- title: pivot
SELECT * FROM (SELECT b, s FROM t) PIVOT(sum(b) FOR s IN ('x', 'y'))
-- expected
SELECT * FROM (SELECT b, s FROM t) PIVOT(SUM(b) FOR s IN ('x', 'y'))

-- title: pivot of expressions
SELECT * FROM t PIVOT (SUM(a) + 1, CEIL(AVG(a)) * 2 AS m FOR b IN (1))
-- expected
SELECT * FROM t PIVOT(SUM(a) + 1, CEIL(AVG(a)) * 2 AS m FOR b IN (1))

-- title: position in
SELECT POSITION('b' IN s), POSITION('b', s), POSITION('b', s, 2) FROM t
-- expected
SELECT LOCATE('b', s), position('b', s), position('b', s, 2) FROM t

-- title: substring from for
SELECT SUBSTRING(s FROM 2 FOR 3), SUBSTR(s FROM 2), SUBSTR(s, 2) FROM t
-- expected
SELECT substring(s, 2, 3), substring(s, 2), substr(s, 2) FROM t

-- title: trim from
SELECT TRIM(BOTH 'x' FROM s), TRIM(LEADING FROM s), TRIM('x' FROM s), TRIM(s), LTRIM('x', s) FROM t
-- expected
SELECT TRIM(BOTH 'x' FROM s), TRIM(LEADING FROM s), TRIM('x' FROM s), trim(s), LTRIM('x', s) FROM t
