"""Mechanisms whose checks are files of their own. Each declares `CHECKS`, rows of the table."""
