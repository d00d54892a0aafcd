-- blocks
SELECT dealer FROM dealers EXCEPT SELECT dealer FROM cars
