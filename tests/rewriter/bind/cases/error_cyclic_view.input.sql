SELECT * FROM cyclic
