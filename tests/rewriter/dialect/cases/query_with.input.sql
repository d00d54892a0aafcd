WITH insert AS (SELECT model FROM cars) SELECT * FROM insert
