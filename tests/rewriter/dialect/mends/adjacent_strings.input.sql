SELECT 'a' 'b' AS v, "c"
'd' AS w
