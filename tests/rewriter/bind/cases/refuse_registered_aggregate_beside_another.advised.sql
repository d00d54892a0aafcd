SELECT m.dealer, m.m, n.n FROM (SELECT dealer, middle(price) AS m FROM cars GROUP BY dealer) m JOIN (SELECT dealer, count(*) AS n FROM cars GROUP BY dealer) n ON m.dealer = n.dealer
