"""How words leave: through the outbox of the transaction that makes them true."""
