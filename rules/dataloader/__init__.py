"""ACC1xx: data loading."""
