"""Questions about rows, the resulting counts, and the checks of these counts."""
