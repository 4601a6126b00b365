"""Margins of variances, covariances, slopes and correlations."""
