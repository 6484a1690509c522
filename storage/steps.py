"""The names of all schema steps, in order.

A file that has them all needs no migrating, and then sqlite-utils is not even loaded: its import
costs a tenth of a start. `storage/migrations.py` holds the steps; a test holds the two together.
"""

STEPS = ("m0001_records", "m0002_ledger", "m0003_queues", "m0004_live", "m0005_figures")
