"""What is asked, what is counted, and the checks between."""
