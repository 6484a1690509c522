import subprocess
import sys

from sqlite_utils import Database

from storage import open_store
from storage.migrations import MIGRATIONS
from storage.steps import STEPS


def test_the_names_of_the_steps_are_those_of_the_migrations() -> None:
    empty = Database(memory=True, execute_plugins=False)
    assert tuple(step.name for step in MIGRATIONS.pending(empty)) == STEPS
    empty.close()


def test_a_file_that_has_every_step_is_opened_without_loading_sqlite_utils(tmp_path) -> None:
    url = f"sqlite:///{tmp_path / 'ready.sqlite'}"
    open_store(url).close()
    script = (
        "import sys; from storage import open_store; "
        f"open_store({url!r}).close(); print('sqlite_utils' in sys.modules)"
    )
    answer = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert answer.stdout.strip() == "False"
