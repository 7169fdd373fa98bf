"""Names of files and folders that no system takes: a sentence and exit code 2 in every command, never a traceback."""

import pytest
from typer.testing import CliRunner

from multiduel.cli import app
from multiduel.inputs import BadInput
from multiduel.lab import results

NAMES = ("x" * 3000, "a\nb", "\udcff\udcfe", "P.csv/below", "folder", "no/where")
COMMANDS = (
    "report {}",
    "run {}",
    "cite {}",
    "problem {}.csv",
    "simulate uniform --problem {}.csv --horizon 5 --runs 1",
    "simulate uniform --arms 3 --horizon 5 --runs 1 --json {}/no/x",
    "rankers matrix {} --out m.csv --comparisons 5",
    "rankers submatrix {} --out s.csv --size 2",
    "rankers submatrix P.csv --out {}/no/x --size 2",
    "rankers analyse {}",
    "rankers replay {} --policy uniform",
    "rankers import {} --out log.jsonl",
    "rankers import P.csv --out {}/no/x",
    "rankers export {} --out log.parquet",
    "rank {}",
    "rank {}.parquet",
    "rank V.csv --style {}",
    "rank V.csv --html {}/no/x",
    "rank V.csv --latex {}/no/x",
    "rank V.csv --json {}/no/x",
    "rank V.csv --plot {}/no/x.svg",
    "next {}",
    "next V.csv {}",
    "next V.csv --out {}/no/x.csv",
    "next V.csv --out {}",
    "arena list --db {}",
    "arena board --db {}",
    "arena import {} --db b.db",
    "arena verify {}",
)


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("name", NAMES, ids=lambda name: repr(name[:6]))
def test_a_bad_file_name_is_a_sentence(command, name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "P.csv").write_text("a,b\n0.5,0.6\n0.4,0.5\n")
    (tmp_path / "V.csv").write_text("model_a,model_b,winner\nx,y,x\n")
    (tmp_path / "folder").mkdir()
    done = CliRunner().invoke(app, [word.replace("{}", name) for word in command.split(" ")])
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    assert done.exit_code == 2 and done.stderr.strip()


@pytest.mark.parametrize("name", ["x" * 3000, "nul\0", "\ud800"], ids=["long", "zero byte", "half a character"])
def test_results_of_a_folder_that_cannot_be_named_are_refused(name):
    with pytest.raises(BadInput):
        results.read(name)
    with pytest.raises(BadInput):
        results.folders_in(results.Path(name))
