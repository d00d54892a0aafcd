"""SELECTs in the making: what both front ends for data frames write."""
