"""What turns the pages of this repository into a site: `make docs`."""
