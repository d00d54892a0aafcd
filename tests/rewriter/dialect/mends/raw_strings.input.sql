SELECT r'a\d+' AS v, R'x' 'y' AS w
