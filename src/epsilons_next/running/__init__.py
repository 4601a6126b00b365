"""Who replies to a question: the curator, and whoever replays what was drawn."""
