SELECT dealer, listagg(DISTINCT price, '|') AS p FROM cars GROUP BY dealer
