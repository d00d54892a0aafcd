SELECT * FROM explode(array(1, 2)) AS e(v), posexplode(array(3)), stack(2, 1, 2, 3)
