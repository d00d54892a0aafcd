-- blocks
SELECT * FROM (SELECT dealer, count(*) AS n FROM cars GROUP BY dealer) c FULL JOIN (SELECT dealer, collect_list(city) AS cities FROM dealers GROUP BY dealer) d ON c.dealer = d.dealer
