-- blocks
SELECT g.model, p.x FROM (SELECT model, slice(collect_list(price), 1, 2) AS prices FROM cars GROUP BY model) g LATERAL VIEW explode(g.prices) p AS x
