SELECT c.car_id, d.city FROM (SELECT *, rand() AS r FROM cars) AS c LEFT JOIN dealers AS d ON c.dealer = d.dealer AND c.r < 0.5
