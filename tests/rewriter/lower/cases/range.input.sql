-- blocks
SELECT r.id, count(d.city) AS n FROM range(1, 9, 2) AS r JOIN dealers AS d ON d.dealer = r.id GROUP BY r.id
