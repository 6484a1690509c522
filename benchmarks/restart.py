"""`restart`: 100,000 overdue reminders, from opening the books to the first one in hand,
against APScheduler's SQLAlchemy job store with as many overdue jobs."""

import logging
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import median

from bot.domain.records import Due
from storage import open_store

OVERDUE = 100_000
PAIRS = 5
MARK = "≥ 20"
NOW = datetime(2027, 3, 10, 15, tzinfo=UTC)

first = threading.Event()


def ran(_key: str) -> None:
    """Be the job: the first one to run ends the measurement."""
    first.set()


def rows() -> list[tuple[str, float, str]]:
    """Return how many times longer APScheduler takes, the median of interleaved pairs."""
    logging.getLogger("apscheduler").setLevel(logging.CRITICAL)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        ours, theirs = _our_books(folder), _their_books(folder)
        pairs = [_their_start(theirs) / _our_start(ours) for _ in range(PAIRS)]
    return [("restart: APScheduler / ours, 100,000 overdue", median(pairs), MARK)]


def _our_books(folder: Path) -> str:
    url = f"sqlite:///{folder}/ours.sqlite"
    store = open_store(url)
    with store.transaction() as tx:
        for number in range(OVERDUE):
            at = NOW - timedelta(hours=1, seconds=number)
            tx.dues.plan(Due(key=f"remind:{number}", kind="remind", subject="gpu-1", at=at))
    store.close()
    return url


def _our_start(url: str) -> float:
    began = time.perf_counter()
    store = open_store(url)
    with store.transaction() as tx:
        taken = tx.dues.claim(now=NOW, lease=timedelta(minutes=1), limit=1)
    took = time.perf_counter() - began
    assert len(taken) == 1
    store.close()
    return took


def _their_books(folder: Path) -> str:
    import pickle  # noqa: PLC0415 — only this side needs it

    import sqlalchemy as sa  # noqa: PLC0415 — in the bench's environment only
    from apscheduler.job import Job  # noqa: PLC0415 — as above
    from apscheduler.jobstores.sqlalchemy import SQLAlchemyJobStore  # noqa: PLC0415 — as above
    from apscheduler.schedulers.background import BackgroundScheduler  # noqa: PLC0415 — as above
    from apscheduler.triggers.date import DateTrigger  # noqa: PLC0415 — as above

    url = f"sqlite:///{folder}/theirs.sqlite"
    scheduler = BackgroundScheduler(jobstores={"default": SQLAlchemyJobStore(url=url)})
    scheduler.start(paused=True)
    rows = []
    for number in range(OVERDUE):
        at = datetime.now(UTC) - timedelta(hours=1)
        job = Job(
            scheduler, id=f"j{number}", name="j", func=ran, args=(str(number),), kwargs={},
            trigger=DateTrigger(run_date=at, timezone=UTC), executor="default",
            misfire_grace_time=None, coalesce=True, max_instances=1, next_run_time=at,
        )  # fmt: skip
        state = pickle.dumps(job.__getstate__(), pickle.HIGHEST_PROTOCOL)
        rows.append({"id": job.id, "next_run_time": at.timestamp(), "job_state": state})
    scheduler.shutdown(wait=False)
    engine = sa.create_engine(url)
    table = sa.Table("apscheduler_jobs", sa.MetaData(), autoload_with=engine)
    with engine.begin() as connection:
        connection.execute(sa.insert(table), rows)
    engine.dispose()
    return f"{folder}/theirs.sqlite"


def _their_start(path: str) -> float:
    """Measure in a process that ends with the first job: its other jobs are of no interest."""
    copy = f"{path}.copy"
    shutil.copy(path, copy)
    answer = subprocess.run(
        [sys.executable, "-m", "benchmarks.restart", copy],
        cwd=Path(__file__).resolve().parents[1],
        capture_output=True,
        check=True,
        text=True,
    )
    return float(answer.stdout)


def measure_theirs(path: str) -> None:
    """Print the seconds from making the scheduler to its first job, and end at once."""
    from apscheduler.jobstores.sqlalchemy import SQLAlchemyJobStore  # noqa: PLC0415 — bench only
    from apscheduler.schedulers.background import BackgroundScheduler  # noqa: PLC0415 — as above

    began = time.perf_counter()
    scheduler = BackgroundScheduler(
        jobstores={"default": SQLAlchemyJobStore(url=f"sqlite:///{path}")},
        job_defaults={"misfire_grace_time": None},
    )
    scheduler.start()
    assert first.wait(120)
    sys.stdout.write(f"{time.perf_counter() - began}\n")
    sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    from benchmarks import restart  # the jobs name this module, not __main__

    if len(sys.argv) > 1:
        restart.measure_theirs(sys.argv[1])
    sys.stdout.write(f"{restart.rows()}\n")
