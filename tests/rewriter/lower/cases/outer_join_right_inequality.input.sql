SELECT d.city, c.model FROM dealers d RIGHT JOIN cars c ON c.price > d.rating
