SELECT a
FROM t
JOIN db.textless USING (a)
