WITH lists AS (SELECT model AS m, collect_list(struct(price, dealer)) AS cars FROM cars GROUP BY model),
flat AS (SELECT l.m, e.p FROM lists l LATERAL VIEW inline(l.cars) e AS p, d)
SELECT f.m, f.p FROM flat f WHERE f.p > (SELECT avg(g.p) FROM flat g)
