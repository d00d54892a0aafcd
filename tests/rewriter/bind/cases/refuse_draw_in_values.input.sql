SELECT * FROM VALUES (rand()) AS v(a)
