"""What pages take for granted before their first block: names that readers have, and files that lie beside them."""

SKELETON = """
import re
from docs.scripts.blocks import ROOT, blocks
from pathlib import Path
for block in blocks(ROOT / "CONTRIBUTING.md"):  # the skeleton stands at the end of the page
    if block.title.endswith(".py"):
        Path(block.title).write_text(block.text)
"""

ARENA = """
import os, re, subprocess, sys
from pathlib import Path
from typer.testing import CliRunner
from docs.scripts.blocks import ROOT
from multiduel.cli import app

Path("beside.csv").write_text("name,content\\nmild,Good morning.\\nsharp,Morning!\\nbitter,What do you want?\\n")
create = ["arena", "create", "beside", "--options", "beside.csv", "--slate-size", "3", "--raters", "open", "--db", "beside.db"]
made = CliRunner().invoke(app, create)
LINK = re.search(r"mdlink\\S+", made.output)[0]
env = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
serving = [sys.executable, "-m", "multiduel", "arena", "serve", "--port", "0", "--db", "beside.db"]
server = subprocess.Popen(serving, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=env)
stop = server.kill
while not (found := re.search(r"http://\\S+", server.stdout.readline())):
    pass
URL = found[0]
"""

RANKERS = """
import json as texts
import random
import numpy as np
from multiduel import rankers as ours
from pathlib import Path


class Searcher:
    def search(self, query):
        return ["doc-17", "doc-4", *random.Random(f"{id(self)}{query}").sample([f"doc-{d}" for d in range(20, 50)], 30)]


class json:  # a page that went through JSON, whenever it is asked for
    @staticmethod
    def loads(text):
        again = policy.ask()
        page = multileave({arm: my_rankers[arm].search(query) for arm in again.arms}, again, policy=policy, length=10)
        return texts.loads(texts.dumps(page))


my_rankers, query, text, clicks, weights = [Searcher() for _ in range(4)], "apple pie", "", ["doc-4"], np.ones(136)
user = "u17"
made = list(ours.generate(queries=5, documents=12, features=136))
ours.write_letor(made[:3], "train.txt")
ours.write_letor(made[3:], "vali.txt.gz")
documents = [f"d{d}" for d in range(12)]
Path("qrels.txt").write_text("".join(f"{q} 0 {d} {i % 3}\\n" for q in range(5) for i, d in enumerate(documents)))
for name in ("a", "b"):
    luck = random.Random(name)
    listed = [(q, d, rank) for q in range(5) for rank, d in enumerate(luck.sample(documents, 12), 1)]
    Path(f"{name}.run").write_text("".join(f"{q} Q0 {d} {rank} {20 - rank} {name}\\n" for q, d, rank in listed))
Path("table.csv").write_text(
    "impression,position,document,ranker,clicked,user\\np1,1,x,a,1,u1\\np1,2,y,b,0,u1\\np2,1,y,b,1,u2\\np2,2,x,a,0,u2\\n"
)
mixed = ours.multileave([["x", "y"], ["y", "x"]], (0, 1), length=2)
asked = {"query_id": "q1", "client_id": "u1", "timestamp": 1767225600, "query_attributes": {"multileaving": mixed}}
Path("ubi_queries.jsonl").write_text(texts.dumps(asked) + "\\n")
clicked = {"query_id": "q1", "action_name": "click", "timestamp": 1767225601, "event_attributes": {"object": {"object_id": "x"}}}
Path("ubi_events.jsonl").write_text(texts.dumps(clicked) + "\\n")
rows = [(q.id, d, rank) for q in made for rank, d in enumerate(range(12), 1)]
Path("bm25.run").write_text("".join(f"{q} Q0 {d} {rank} {20 - rank} bm25\\n" for q, d, rank in rows))
"""

LAB = """
from typer.testing import CliRunner
from multiduel.cli import app
assert CliRunner().invoke(app, ["run", "examples/my_experiment.toml", "--quick"]).exit_code == 0
"""

VOTES = """
import csv
with open("votes.csv", "w", newline="") as file:
    csv.writer(file).writerows([["model_a", "model_b", "winner"], ["tea", "milk", "tea"], ["milk", "water", "tie"]])
"""

LLMFAO = """
import csv, json, random
luck = random.Random(0)
names = ["GPT 4", "command", "Claude v1", "Alpaca (7B)", "GPT 3.5 Turbo", "Dolly v2 (3B)"]
for judge, votes in (("crowd", 600), ("gpt4-crowd", 150), ("gpt3-crowd", 150)):
    with open(f"{judge}-comparisons.csv", "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "prompt", "model_x", "model_y", "worker", "winner", "left", "right"])
        for k in range(votes):
            a, b = luck.sample(range(6), 2)
            writer.writerow([k, k % 13, a, b, k % 40, luck.choice(["left", "right", "tie"]), names[a], names[b]])
with open("results.jsonl", "w") as file:
    for model, name in enumerate(names):
        for prompt in range(13):
            words = "# Title\\n" * luck.randrange(3) + "- item\\n" * luck.randrange(4) + "word " * luck.randrange(1, 90)
            file.write(json.dumps({"model": model, "prompt": prompt, "name": name, "result": words}) + "\\n")
"""

BEFORE: dict[str, str] = {
    "CONTRIBUTING.md": SKELETON,
    "docs/lab.md": LAB,
    "docs/arena.md": ARENA,
    "docs/rankers.md": RANKERS,
    "docs/votes.md": VOTES,
    "docs/guides/leaderboard.md": LLMFAO,
}
