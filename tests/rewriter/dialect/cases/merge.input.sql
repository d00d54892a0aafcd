MERGE INTO totals USING cars ON totals.model = cars.model WHEN MATCHED THEN DELETE
