"""What comes out: releases, and the forms in which any result is shown."""
