"""Where the data lie that the project does not ship."""

import os
from pathlib import Path

DATA = Path(os.environ.get("SKRANK_TEST_DATA", Path(__file__).parents[3] / "shared" / "data"))
