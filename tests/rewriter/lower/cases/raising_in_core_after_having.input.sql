-- blocks
SELECT d.city, 100 / (d.rating - t.dealer) AS share FROM (SELECT dealer FROM cars GROUP BY dealer HAVING count(*) <> 1) t JOIN dealers d ON d.dealer = t.dealer
