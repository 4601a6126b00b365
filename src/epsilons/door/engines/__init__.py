"""What each engine can do, and the queries that all of them answer alike."""
