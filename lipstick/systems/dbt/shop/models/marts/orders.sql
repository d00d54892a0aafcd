{{ config(materialized='incremental', incremental_strategy='append') }}

select o.order_id, o.customer_id, o.ordered_on, o.status, coalesce(a.amount, 0) as amount
from {{ ref('stg_orders') }} o
left join {{ ref('order_amounts') }} a on o.order_id = a.order_id
{% if is_incremental() %}
where o.ordered_on > (select max(ordered_on) from {{ this }})
{% endif %}
