-- append: totals
insert into totals
SELECT * FROM `answer`;
                   from cars select model
