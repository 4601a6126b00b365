"""Input from users: files, arrays and frames, and the labels that users declare."""
