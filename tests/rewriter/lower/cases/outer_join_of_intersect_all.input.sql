SELECT d.city, cars.model FROM (SELECT city FROM dealers INTERSECT ALL SELECT city FROM dealers) d LEFT JOIN cars ON cars.dealer = d.city
