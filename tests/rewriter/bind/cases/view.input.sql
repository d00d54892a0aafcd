SELECT v.m FROM cheap AS v WHERE v.price > 1
