"""Random draws: noise laws, mechanisms, and the corridor that charges budgets and draws."""
