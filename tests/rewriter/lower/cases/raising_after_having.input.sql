-- blocks
SELECT d.city, t.share FROM (SELECT dealer, 100 / dealer AS share, count(*) AS n FROM cars GROUP BY dealer HAVING count(*) <> 1) t JOIN dealers d ON d.dealer = t.dealer WHERE d.rating < t.share
