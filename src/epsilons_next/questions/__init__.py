"""What can be asked. A new statistic is one file here, one row of the contract and one proof."""
