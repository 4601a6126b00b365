"""The generators that questions share: stages of draws, from counts to an answer."""
