SELECT m, p FROM cheap_named
