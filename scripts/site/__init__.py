"""Build the documentation site from the pages of this repository: `make docs`."""
