"""What users hand in: files, arrays and frames, and the labels that they declare."""
