-- title: adjacent strings
SELECT 'a' 'b' AS v, "c"
'd' AS w
-- expected
SELECT 'ab' AS v, 'cd' AS w

-- title: date units
SELECT dateadd(MONTH, 1, d), date_add(d, 1), timestampdiff(SECOND, d, ts), datediff(d, d) FROM t
-- expected
SELECT dateadd(MONTH, 1, d), date_add(d, 1), timestampdiff(SECOND, d, ts), datediff(d, d) FROM t

-- title: doubled quotes
SELECT 'it''s' AS v, "say ""hi""" AS w
-- expected
SELECT 'it\'s' AS v, 'say "hi"' AS w

-- title: escapes
SELECT 'tab\t', 'back\\slash', 'quote\'s', 'percent\%', 'under\_', 'oct\101', '\u00e9'
-- expected
SELECT 'tab\t', 'back\\slash', 'quote\'s', 'percent\\%', 'under\\_', 'octA', 'é'

-- title: interval as name
SELECT interval, interval - a FROM (SELECT b AS interval, a FROM t)
-- expected
SELECT interval, interval - a FROM (SELECT b AS interval, a FROM t)

-- title: interval of several units
SELECT INTERVAL 1 DAY 2 HOURS, d + INTERVAL 1 YEAR 2 MONTHS FROM t
-- expected
SELECT INTERVAL 1 DAY 2 HOURS, d + INTERVAL 1 YEAR 2 MONTHS FROM t

-- title: intervals
SELECT INTERVAL '1' DAY, INTERVAL 1 DAY, INTERVAL '1-2' YEAR TO MONTH, INTERVAL -1 DAY, INTERVAL '1 day 2 hours'
-- expected
SELECT INTERVAL '1' DAY, INTERVAL 1 DAY, INTERVAL '1-2' YEAR TO MONTH, INTERVAL -1 DAY, INTERVAL '1 day 2 hours'

-- title: minus of a number
SELECT -1::STRING, - a::STRING FROM t
-- expected
SELECT CAST(-1 AS STRING), -CAST(a AS STRING) FROM t

-- title: number without leading zero
SELECT .5, -.5
-- expected
SELECT .5, -.5

-- title: raw strings
SELECT r'a\d+' AS v, R'x' 'y' AS w
-- expected
SELECT 'a\\d+' AS v, 'xy' AS w

-- title: typed literals
SELECT DATE '2020-01-31', timestamp '2020-01-31 10:11:12', TIMESTAMP_NTZ '2020-01-31 10:11:12', TIME '10:11:12', DATE '2020-01-31'::STRING
-- expected
SELECT DATE '2020-01-31', TIMESTAMP '2020-01-31 10:11:12', TIMESTAMP_NTZ '2020-01-31 10:11:12', TIME '10:11:12', CAST(DATE '2020-01-31' AS STRING)

-- title: typed numbers
SELECT 1L, 1S, 1Y, 1.5D, 1.5F, 1.50BD, 1e3BD, -9223372036854775808L
-- expected
SELECT 1L, 1S, 1Y, 1.5D, 1.5F, 1.50BD, 1e3BD, -9223372036854775808L

-- title: types keep length
SELECT CAST(s AS VARCHAR(3)), CAST(s AS CHAR(5)), CAST('10:11:12' AS TIME(3)) FROM t
-- expected
SELECT CAST(s AS VARCHAR(3)), CAST(s AS CHAR(5)), CAST('10:11:12' AS TIME(3)) FROM t

-- title: variant path
SELECT js:a.b, js:a[0], js:['x y'], js:a.b::INT FROM (SELECT parse_json(js) AS js FROM t)
-- expected
SELECT js:a.b, js:a[0], js:['x y'], CAST(js:a.b AS INT) FROM (SELECT parse_json(js) AS js FROM t)

-- title: void type
SELECT CAST(NULL AS VOID)
-- expected
SELECT CAST(NULL AS VOID)
