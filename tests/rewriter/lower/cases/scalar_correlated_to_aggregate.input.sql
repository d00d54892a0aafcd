SELECT g.dealer, (SELECT max(amount) FROM bids b WHERE b.amount > g.s) AS m FROM (SELECT dealer, sum(price) AS s FROM cars GROUP BY dealer) g
