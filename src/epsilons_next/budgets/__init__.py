"""What people agreed to, what of it may be used, and which cap is best."""
