"""What was bought, followed from the sale to its last useful minute."""
