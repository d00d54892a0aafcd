SELECT w.a, t.b
FROM words(5, TABLE(SELECT model AS m, price FROM cars) PARTITION BY (m, price % 2) ORDER BY price DESC, least => 2) AS w(a, c)
JOIN t ON t.a = w.c
