SELECT 'ab' AS v, 'cd' AS w
