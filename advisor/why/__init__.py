"""Why a lint says what it says about one line: what is known of it, and where each rule stopped."""
