"""Knowledge as data: what libraries and frameworks do, take and give."""
