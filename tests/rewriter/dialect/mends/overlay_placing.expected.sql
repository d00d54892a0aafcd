SELECT OVERLAY(s PLACING 'zz' FROM 2 FOR 1), overlay(s, 'zz', 2) FROM t
