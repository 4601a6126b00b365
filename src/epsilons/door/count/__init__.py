"""Questions to rows, results of counting, and the checks between them."""
