"""Results: releases, and the output formats in which releases and plans are shown."""
