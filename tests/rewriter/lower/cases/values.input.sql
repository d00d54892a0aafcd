-- blocks
SELECT d.city, v.q FROM VALUES (1, 'x'), (2, NULL) AS v(p, q) LEFT JOIN dealers AS d ON d.dealer = v.p
