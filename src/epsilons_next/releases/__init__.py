"""What comes out: rows and facts, and how they are laid out."""
