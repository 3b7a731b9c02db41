"""The language server: findings, fixes, pages and measured figures in an editor."""
