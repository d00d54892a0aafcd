WITH q1 AS (SELECT car_id, price + 1 AS p FROM cars SORT BY price DESC, p, car_id), q2 AS (SELECT car_id AS c, p FROM q1 SORT BY c, p DESC)
SELECT c, shuffle(array(c, p, c)) AS s FROM q2
UNION ALL SELECT car_id, NULL FROM q1 WHERE rand(3) < 0.5
