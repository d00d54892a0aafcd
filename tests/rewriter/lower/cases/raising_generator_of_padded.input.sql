-- blocks
SELECT d.city, e FROM dealers d LEFT JOIN cars c ON c.dealer = d.dealer LATERAL VIEW explode(array(1 / coalesce(c.price, 0))) t AS e
