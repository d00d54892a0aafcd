SELECT model, r, uuid() AS u FROM (SELECT model, rand() AS r FROM cars) AS c WHERE r < 0.5 ORDER BY rand() LIMIT 3
