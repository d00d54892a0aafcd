select id as order_id, customer_id, ordered_on, status
from {{ ref('raw_orders') }}
where status <> 'returned'
