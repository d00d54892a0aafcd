SELECT 'tab\t', 'back\\slash', 'quote\'s', 'percent\\%', 'under\\_', 'octA', 'é'
