-- blocks
SELECT q.model, d.city FROM (SELECT c.model, rank() OVER (ORDER BY e.price) AS n FROM (SELECT model, collect_list(price) AS prices FROM cars GROUP BY model) c LATERAL VIEW explode(c.prices) e AS price) q JOIN dealers d ON d.dealer = q.n
