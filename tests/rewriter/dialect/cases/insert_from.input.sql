insert into totals from cars select model
