"""Use cases: load, decide, commit, call, commit. No Slack, no SQL, no boto3."""
