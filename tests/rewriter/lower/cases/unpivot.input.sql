-- blocks
SELECT car_id, n, v FROM (SELECT car_id, price, dealer FROM cars) UNPIVOT (v FOR n IN (price, dealer AS d))
