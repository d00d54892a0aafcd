with spent as (
    select customer_id, count(*) as orders, sum(amount) as amount, max(ordered_on) as last_order
    from {{ ref('orders') }}
    group by customer_id
)

select c.customer_id, c.name, c.country, coalesce(s.orders, 0) as orders,
    coalesce(s.amount, 0) as amount, s.last_order
from {{ ref('stg_customers') }} c
left join spent s on c.customer_id = s.customer_id
