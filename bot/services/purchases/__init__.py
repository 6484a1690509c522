"""Spending at most once: the call, its outcome, and doubt settled by AWS's own books."""
