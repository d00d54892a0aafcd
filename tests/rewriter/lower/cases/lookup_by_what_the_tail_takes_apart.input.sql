SELECT c.m, e.p, e.p IN (SELECT rating FROM dealers) AS known
FROM (SELECT model AS m, sort_array(collect_list(price)) AS prices FROM cars GROUP BY model) c
LATERAL VIEW posexplode(c.prices) e AS n, p
