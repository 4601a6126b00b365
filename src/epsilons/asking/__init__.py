"""The functions that users call to ask questions, which are answered by releases."""
