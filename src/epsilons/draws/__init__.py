"""Random draws: noise, mechanisms, and the corridor (the code that charges budgets and draws)."""
