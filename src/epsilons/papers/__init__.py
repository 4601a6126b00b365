"""What the papers hold: their tables and figures, reproduced."""
