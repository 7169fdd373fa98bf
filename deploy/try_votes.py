"""Create an arena on a running server and vote in it without a pause, until the file ``stop`` appears in FOLDER.

    python try_votes.py URL SERVER_KEY FOLDER

For try_container.sh and try_compose.sh. In FOLDER, ``acknowledged`` has the number of every vote that the server acknowledged;
``votes.csv`` and ``votes.parquet`` have all votes at the end.
"""

import sys
import time
import urllib.request
from pathlib import Path

from multiduel.arena import Client

TEXTS = {"mild": "Good morning.", "sharp": "Morning!", "bitter": "What do you want?"}
url, key, folder = sys.argv[1], sys.argv[2], Path(sys.argv[3])
for _ in range(600):
    try:
        urllib.request.urlopen(f"{url}/health/ready", timeout=4)
        break
    except OSError:
        time.sleep(0.2)
options = [{"name": name, "content": text} for name, text in TEXTS.items()]
owner = Client(url, key).create("greetings", options, slate_size=3, go_on=True)
owner.open()
rater = owner.admit("Ada")
ticket = rater.ask()
assert rater.content(ticket, 0)
with (folder / "acknowledged").open("a") as acknowledged:
    while not (folder / "stop").exists():
        answer = rater.vote(ticket, {"rank": [0, 1, 2]}, next=True)
        assert answer["counted"] == "counted", answer
        acknowledged.write(f"{answer['event']}\n")
        acknowledged.flush()
        ticket = answer["next"]
assert owner.board()
(folder / "votes.csv").write_text(str(owner.vote_table("csv")))
table = owner.vote_table("parquet")
assert isinstance(table, bytes)
(folder / "votes.parquet").write_bytes(table)
