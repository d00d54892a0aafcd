SELECT a, rand() AS r, r + uuid() AS s FROM t WHERE rand(3) < 0.5 ORDER BY randn(), a
