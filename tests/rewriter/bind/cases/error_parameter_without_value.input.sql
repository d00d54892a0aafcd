SELECT a FROM t WHERE b = :limit
