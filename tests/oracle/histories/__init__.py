"""The oracle of histories: statements reenacted and replayed, held against really running them."""
