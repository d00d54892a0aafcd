SELECT first(city) AS f, max_by(city, rate) AS m, listagg(city, ',') AS l FROM rates
