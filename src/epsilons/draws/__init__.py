"""Everything that draws: noise laws, mechanisms, and the corridor that draws and charges."""
