SELECT 'tab\t', 'back\\slash', 'quote\'s', 'percent\%', 'under\_', 'oct\101', '\u00e9'
