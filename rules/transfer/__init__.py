"""Rules about transfers between host and device."""
