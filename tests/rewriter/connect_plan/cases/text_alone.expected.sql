SELECT  k, count(*)  FROM l GROUP BY k
