SELECT max(model) FILTER (WHERE dealer = 1) AS m, count(*) FILTER (WHERE dealer = 1) AS n FROM cars GROUP BY car_id
