SELECT * FROM sql_keywords()
