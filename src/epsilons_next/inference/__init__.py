"""The one test behind every interval, and the rows that it concludes."""
