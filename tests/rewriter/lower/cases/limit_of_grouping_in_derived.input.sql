SELECT d.city, t.n FROM (SELECT dealer, count(*) AS n FROM cars GROUP BY dealer ORDER BY n DESC LIMIT 3) t JOIN dealers d ON t.dealer = d.dealer
