"""TPC-DS: primary keys, parameters at scale 0.01, and what no parameter can find in its data."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from tests.oracle.database import Database

KEYS: Final[dict[str, tuple[str, ...]]] = {
    "call_center": ("cc_call_center_sk",),
    "catalog_page": ("cp_catalog_page_sk",),
    "catalog_returns": ("cr_item_sk", "cr_order_number"),
    "catalog_sales": ("cs_item_sk", "cs_order_number"),
    "customer": ("c_customer_sk",),
    "customer_address": ("ca_address_sk",),
    "customer_demographics": ("cd_demo_sk",),
    "date_dim": ("d_date_sk",),
    "household_demographics": ("hd_demo_sk",),
    "income_band": ("ib_income_band_sk",),
    "inventory": ("inv_date_sk", "inv_item_sk", "inv_warehouse_sk"),
    "item": ("i_item_sk",),
    "promotion": ("p_promo_sk",),
    "reason": ("r_reason_sk",),
    "ship_mode": ("sm_ship_mode_sk",),
    "store": ("s_store_sk",),
    "store_returns": ("sr_item_sk", "sr_ticket_number"),
    "store_sales": ("ss_item_sk", "ss_ticket_number"),
    "time_dim": ("t_time_sk",),
    "warehouse": ("w_warehouse_sk",),
    "web_page": ("wp_web_page_sk",),
    "web_returns": ("wr_item_sk", "wr_order_number"),
    "web_sales": ("ws_item_sk", "ws_order_number"),
    "web_site": ("web_site_sk",),
}

ALTERED: Final[dict[int, tuple[tuple[str, str], ...]]] = {
    # One ZIP code of the stores' region with three preferred customers, and one with fewer.
    8: (("'24128'", "'31669'"), ("'76232'", "'31289'"), ("> 10)", "> 2)")),
    10: (
        ("'Rush County'", "'Wilcox County'"),
        ("'Toole County'", "'Washington County'"),
        ("'Dona Ana County'", "'Jackson County'"),
    ),
    # A month in which the revenue of no class is zero, which Spark does not divide by.
    12: (("1999-02-22", "1998-10-01"), ("1999-03-24", "1998-10-31")),
    # A group of more than one row, which has a standard deviation.
    17: (("'2001Q1'", "'2002Q2'"), ("'2001Q2'", "'2002Q3'"), ("'2001Q3'", "'2002Q4'")),
    23: (("HAVING count(*) >4", "HAVING count(*) >2"),),
    # Three fourth quarters: no county has web sales in three quarters of one year that grow so.
    31: (
        ("d_qoy = 1", "d_qoy = 4"),
        ("d_qoy = 2", "d_qoy = 4"),
        ("d_qoy = 3", "d_qoy = 4"),
        ("s1.d_year = 2000", "s1.d_year = 1998"),
        ("s2.d_year = 2000", "s2.d_year = 1999"),
        ("s3.d_year = 2000", "s3.d_year = 2002"),
    ),
    32: (("977", "313"),),
    37: (("677", "647"), ("940", "168"), ("694", "702"), ("808", "842")),
    41: (("738+40", "738+140"),),
    44: (("ss_store_sk = 4", "ss_store_sk = 1"),),
    58: (("0.9", "0.4"), ("1.1", "2.5")),
    64: (("64", "4"),),
    82: (("129", "168"), ("270", "284"), ("821", "842"), ("423", "451")),
    83: (("2000-06-30", "2000-03-28"), ("2000-09-27", "2000-05-30"), ("2000-11-17", "2001-04-03")),
    84: (("'Edgewood'", "'Hopewell'"),),
    85: (
        ("= 'M'", "= 'S'"),
        ("'Advanced Degree'", "'Unknown'"),
        ("'2 yr Degree'", "'Primary'"),
        ("'IN'", "'FL'"),
        ("'WI'", "'KS'"),
        ("'LA'", "'NE'"),
        ("100 AND 200", "100 AND 2500"),
        ("150 AND 300", "150 AND 1000"),
        ("50 AND 250", "50 AND 1500"),
    ),
    88: (("'ese'", "'able'"),),
    90: (("5000 AND 5200", "2500 AND 2700"),),
    91: (
        ("d_year = 1998", "d_year = 2001"),
        ("d_moy = 11", "d_moy = 1"),
        ("'Unknown%'", "'1001-5000%'"),
        ("= -7", "= -5"),
    ),
    92: (("350", "451"),),
    94: (("'pri'", "'ese'"), ("'IL'", "'VA'")),
    95: (("'pri'", "'cally'"), ("'IL'", "'TX'")),
    96: (("'ese'", "'able'"),),
}
"""The standard parameters of these give no row, an error, or measures that are NULL or zero."""


def spread_warehouses(database: Database) -> Database:
    """Return the database with a second warehouse, from which every eighth item is sold.

    There is one warehouse at scale 0.01, and the orders asked for come from two.
    """
    first = database.relations["warehouse"].data
    second = _replaced(first, "w_warehouse_sk", pc.add(first["w_warehouse_sk"], 1))
    return database.replaced(
        warehouse=pa.concat_tables([first, second]),
        catalog_sales=_from_both(database.relations["catalog_sales"].data, "cs"),
        web_sales=_from_both(database.relations["web_sales"].data, "ws"),
    )


def _from_both(sales: pa.Table, prefix: str) -> pa.Table:
    warehouse = f"{prefix}_warehouse_sk"
    second = _every(8, sales[f"{prefix}_item_sk"]).cast(pa.int32())
    return _replaced(sales, warehouse, pc.add(sales[warehouse], second))


def settle_near_stores(database: Database) -> Database:
    """Return the database with every other address where the stores are.

    Both stores have one ZIP code; no customer lives there, and one lives in the county.
    """
    store = database.relations["store"].data
    address = database.relations["customer_address"].data
    near = _every(2, address["ca_address_sk"])
    for column in ("zip", "county", "state"):
        values = pc.if_else(near, store[f"s_{column}"][0], address[f"ca_{column}"])
        address = _replaced(address, f"ca_{column}", values)
    return database.replaced(customer_address=address)


def date_by_month(database: Database) -> Database:
    """Return the database with every date the first of its month.

    In no day does one customer buy in a store, from the catalog and on the web.
    """
    dates = database.relations["date_dim"].data
    month = pc.floor_temporal(dates["d_date"], unit="month").cast(pa.date32())
    return database.replaced(date_dim=_replaced(dates, "d_date", month))


def _every(power_of_two: int, keys: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return which keys are one more than a multiple."""
    last_digits = pc.bit_wise_and(keys, pa.scalar(power_of_two - 1, keys.type))
    return pc.equal(last_digits, 1)


def _replaced(data: pa.Table, column: str, values: pa.ChunkedArray) -> pa.Table:
    index = data.schema.get_field_index(column)
    return data.set_column(index, data.schema.field(index), values.cast(data[column].type))


CHANGED: Final[dict[int, Callable[[Database], Database]]] = {
    16: spread_warehouses,
    24: settle_near_stores,
    38: date_by_month,
    54: settle_near_stores,
    94: spread_warehouses,
    95: spread_warehouses,
}
"""The data in which these find something, where none of their parameters does."""
