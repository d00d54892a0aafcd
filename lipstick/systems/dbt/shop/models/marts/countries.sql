select country, count(*) as customers, sum(orders) as orders, sum(amount) as amount
from {{ ref('customers') }}
group by country
having sum(amount) > 0
