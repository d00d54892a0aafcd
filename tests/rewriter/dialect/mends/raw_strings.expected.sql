SELECT 'a\\d+' AS v, 'xy' AS w
