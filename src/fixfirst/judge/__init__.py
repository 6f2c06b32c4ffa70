"""The judge: scripted blues and what they score."""
