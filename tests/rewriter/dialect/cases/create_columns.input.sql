CREATE TABLE totals (a int, b string)
