SELECT model FROM (SELECT model, price FROM cars ORDER BY price LIMIT 5) t WHERE model <> 'x' ORDER BY model LIMIT 2
