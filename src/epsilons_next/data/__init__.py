"""Any table in, integers out. Nothing else sees a row."""
