-- blocks
SELECT d.dealer, t.city, u.year
FROM (SELECT dealer, max(model) AS m FROM cars GROUP BY dealer) d
JOIN dealers ON dealers.dealer = d.dealer
LATERAL VIEW json_tuple(d.m, 'city') t AS city
LATERAL VIEW json_tuple(dealers.city, 'year') u AS year
