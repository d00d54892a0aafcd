SELECT a -- the column
FROM t /* the table */
