"""What is made of sizes, devices and settings alone, and so is the same in each step."""
