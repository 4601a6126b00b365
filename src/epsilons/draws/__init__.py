"""What draws: noise, the mechanisms drawn from, and the corridor that draws and charges."""
