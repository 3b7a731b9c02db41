"""ACC2xx: transfers and synchronisation."""
