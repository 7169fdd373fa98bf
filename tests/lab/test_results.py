"""Results on disk: whole parts, provenance, and nothing overwritten."""

from __future__ import annotations

import dataclasses
import errno
import json
import os
import platform
import subprocess
import sys

import pyarrow.parquet as pq
import pytest

import multiduel as md
from multiduel import files, problems
from multiduel.engine.simulation.play import KINDS
from multiduel.engine.simulation.result import Result
from multiduel.lab import parts, provenance, report, results, runner
from multiduel.lab.experiment import parse

SMALL = """
horizon = 200
runs = 4
checkpoints = 5
[problem]
kind = "synthetic"
arms = 5
[[contenders]]
policy = "uniform"
"""


@pytest.fixture
def experiment():
    return parse(SMALL, "small.toml")


@pytest.fixture
def folder(experiment, tmp_path):
    runner.run(experiment, tmp_path, threads=1)
    return results.find_folder(tmp_path / "small")


def contents(path):
    return {file: file.read_bytes() for file in path.rglob("*") if file.is_file()}


def test_the_panel_is_what_simulate_gives(experiment, tmp_path):
    ran = runner.run(experiment, tmp_path, threads=1, block=3)
    whole = md.simulate("uniform", md.synthetic(5), horizon=200, runs=4, checkpoints=experiment.marks())
    for panel in (ran, results.read(tmp_path / "small")):
        (result,) = panel.results
        assert isinstance(result, Result) and list(result.regrets) == list(KINDS)
        for field in dataclasses.fields(Result):
            value, expected = getattr(result, field.name), getattr(whole, field.name)
            if field.name == "regrets":
                assert all((value[kind] == expected[kind]).all() for kind in KINDS)
            elif field.name == "label":
                assert value == panel.experiment.contenders[0].label
            elif field.name not in ("seconds", "compile_seconds"):
                assert (value == expected) if not hasattr(value, "shape") else (value == expected).all(), field.name
        assert panel.line("uniform").result is result and panel.problem.matrix.tolist() == md.synthetic(5).matrix.tolist()


def test_a_kind_of_regret_is_filed_under_its_own_name(experiment, tmp_path):
    panel = runner.run(dataclasses.replace(experiment, regret="weak", name="weak"), tmp_path, threads=1)
    (line,) = panel.lines
    whole = md.simulate("uniform", md.synthetic(5), horizon=200, runs=4, checkpoints=experiment.marks())
    assert (line.regret == whole.regrets["weak"]).all() and (line.result.regret == whole.regrets["average"]).all()
    stored = pq.read_table(tmp_path / "weak" / "results.parquet")
    for kind in KINDS:
        assert stored[kind].to_pylist() == whole.regrets[kind].ravel().tolist()
    folder = tmp_path / "weak"
    for kind, tag in (("weak", ""), ("strong", "-strong")):  # both from the same folder
        paths = report.write(results.read(folder), folder, regret=kind)
        page = [f"regret{tag}.png", f"regret{tag}.svg", f"regret{tag}-narrow.svg", f"summary{tag}.md"]
        assert [path.name for path in paths] == [*page, f"summary{tag}.html", f"summary{tag}.json"]
        (summary,) = json.loads(paths[5].read_text())["contenders"]
        assert summary["mean"] == whole.regrets[kind][:, -1].mean()
        assert f"regret: {kind}" in paths[3].read_text() and f"regret{tag}.svg" in paths[3].read_text()
        assert paths[1].read_text() != (folder / "regret.svg").read_text() or not tag
        table = report.panel_table(panel, kind)
        assert str(table.title).startswith(f"{kind.capitalize()} regret on")
        assert list(table.columns[2].cells) == [f"{summary['mean']:.4g}"]
    with pytest.raises(md.BadInput, match="'regret' must be one of average, strong, weak, slots"):
        panel.showing("strnog")


def test_titles_labels_and_the_kind_of_regret_may_change(folder, experiment, tmp_path, monkeypatch):
    monkeypatch.setattr(runner, "on_threads", None)  # nothing is played
    contenders = (dataclasses.replace(experiment.contenders[0], label="Any two"),)
    strong = runner.run(dataclasses.replace(experiment, regret="strong", title="New", contenders=contenders), tmp_path)
    assert (strong.lines[0].regret > folder.panel().lines[0].regret)[:, -1].all()
    assert results.find_folder(folder.path).experiment.title == "New"
    assert set(pq.read_table(folder.path / "results.parquet")["label"].to_pylist()) == {"Any two"}


def test_the_folder_holds_its_problem(folder, experiment, tmp_path):
    kept = results.read(folder.path).problem
    assert kept.to_json() == md.synthetic(5).to_json() and (kept.utilities == md.synthetic(5).utilities).all()
    file = folder.path / "problem.csv"
    whole = file.read_bytes()
    other = md.cyclic(5)
    for damage in (lambda: file.write_bytes(whole[:-30]), lambda: problems.write_csv(other, file), file.unlink):
        damage()
        with pytest.raises(md.BadInput, match=r"problem.csv'.*(must|is not the problem that was played)"):
            results.read(folder.path)
    runner.run(experiment, tmp_path)
    assert file.read_bytes() == whole


def test_every_part_tells_where_it_comes_from(folder):
    part = folder.path / "parts" / folder.blocks()[0].file
    facts = json.loads(pq.read_metadata(part).metadata[parts.KEY])
    assert facts["version"] == md.__version__ and facts["seed"] == 0 and facts["policy"] == facts["contender"] == "uniform"
    assert facts["parameters"]["horizon"] == 200
    assert {"python", "numpy", "numba", "scipy", "pyarrow"} <= set(facts["packages"])
    assert pq.ParquetFile(part).metadata.row_group(0).column(3).compression == "ZSTD"


def test_the_merged_table(folder):
    table = pq.read_table(folder.path / "results.parquet")
    assert table.num_rows == 4 * 5
    assert table["run"].to_pylist() == [run for run in range(4) for _ in range(5)]
    assert table.schema.names[:4] == ["contender", "label", "policy", "run"]
    assert all(set(table[name].to_pylist()) == {"uniform"} for name in ("contender", "label", "policy"))
    assert "seconds" not in table.schema.names


@pytest.mark.parametrize("change", [{"horizon": 100}, {"seed": 1}, {"problem": {"kind": "cyclic", "arms": 5}}])
def test_other_parameters_are_refused_and_nothing_changes(folder, experiment, change, tmp_path):
    before = contents(folder.path)
    with pytest.raises(md.BadInput, match=rf"holds other results: '{next(iter(change))}' was .* Nothing was changed"):
        runner.run(dataclasses.replace(experiment, **change), tmp_path)
    assert contents(folder.path) == before


def test_other_contenders_and_other_code_are_refused(folder, experiment, tmp_path, monkeypatch):
    before = contents(folder.path)
    other = dataclasses.replace(experiment.contenders[0], policy="multi-rucb", id="x", label="x")
    with pytest.raises(md.BadInput, match=r"contender 1 was .*uniform.*, now it is .*multi-rucb"):
        runner.run(dataclasses.replace(experiment, contenders=(other,)), tmp_path)
    monkeypatch.setattr(provenance, "code_digest", lambda *policies: "edited")
    with pytest.raises(md.BadInput, match="another state of multiduel's code"):
        runner.run(experiment, tmp_path)
    monkeypatch.setattr(md, "__version__", "99.0")
    with pytest.raises(md.BadInput, match=r"they are of multiduel .*, this is 99\.0"):
        runner.run(experiment, tmp_path)
    assert contents(folder.path) == before


def test_what_a_killed_run_left_is_ignored_and_done_again(folder, experiment, tmp_path):
    merged = folder.path / "results.parquet"
    before = merged.read_bytes()
    merged.unlink()
    whole, torn, gone, empty = [folder.path / "parts" / block.file for block in folder.blocks()]
    torn.write_bytes(torn.read_bytes()[:-20])
    stray = files.Path(gone.rename(gone.with_name(f".{gone.name}.{platform.node()}.{dead_process()}.7.tmp")))
    empty.write_bytes(b"")
    with pytest.raises(md.BadInput, match="not finished: 3 of 4 parts are missing"):
        results.read(folder.path)
    stamp = whole.stat().st_mtime_ns
    runner.run(experiment, tmp_path)
    assert merged.read_bytes() == before
    assert whole.stat().st_mtime_ns == stamp  # and the whole one is not
    assert not stray.exists()


def dead_process() -> str:
    return subprocess.check_output([sys.executable, "-c", "import os; print(os.getpid())"], text=True).strip()


def test_a_flipped_bit_is_never_taken_for_a_result(folder, experiment, tmp_path):
    """A part is what was written, or it is missing; no traceback, wherever the bit lies."""
    block = folder.blocks()[0]
    path = folder.path / "parts" / block.file
    good, (table, facts) = path.read_bytes(), folder._part(block)
    missing = 0
    for place in range(0, len(good), 7):
        path.write_bytes(good[:place] + bytes([good[place] ^ 1 << place % 8]) + good[place + 1 :])
        part = folder._part(block)
        assert part is None or (part[0].equals(table) and part[1] == facts), f"byte {place}"
        missing += part is None
    assert missing > 0.5 * len(good) / 7
    path.write_bytes(good[:200] + bytes([good[200] ^ 16]) + good[201:])
    with pytest.raises(md.BadInput, match="not finished: 1 of 4 parts are missing"):
        results.read(folder.path)
    merged = (folder.path / "results.parquet").read_bytes()
    runner.run(experiment, tmp_path)  # played again, and the same
    assert folder._part(block)[0].equals(table) and (folder.path / "results.parquet").read_bytes() == merged


def test_pages_have_checksums_for_other_readers(folder):
    for path in (folder.path / "results.parquet", folder.path / "parts" / folder.blocks()[0].file):
        data = bytearray(path.read_bytes())
        first = pq.read_metadata(path).row_group(0).column(4)  # regret: its pages hold most of the bytes
        data[first.data_page_offset + first.total_compressed_size // 2] ^= 1
        path.write_bytes(data)
        with pytest.raises(OSError, match="CRC"):
            pq.read_table(path, page_checksum_verification=True)


def test_a_part_with_rows_missing_counts_as_missing(folder):
    block = folder.blocks()[0]
    table, facts = folder._part(block)
    damaged = [facts | {"seconds": "soon"}, {name: value for name, value in facts.items() if name != "seconds"}]
    for odd in (*damaged, facts | {"compile_seconds": float("inf")}, facts | {"params": None}):
        files.write_whole(folder.path / "parts" / block.file, parts.parquet(table, odd))
        assert not folder.finished(block), "its time is none"
    for rows in (table.num_rows - 1, 0):
        files.write_whole(folder.path / "parts" / block.file, parts.parquet(table.slice(0, rows), facts))
        assert not folder.finished(block)
        with pytest.raises(md.BadInput, match="not finished: 1 of 4 parts are missing"):
            results.read(folder.path)


@pytest.mark.parametrize(
    "edit",
    [
        lambda manifest: manifest["experiment"].update(horizon=150, checkpoints=5),
        lambda manifest: manifest["experiment"].update(seed=1),
        lambda manifest: manifest["experiment"]["contenders"][0].update(policy="rucb"),
        lambda manifest: manifest["provenance"].update(code="0" * 16),
        lambda manifest: manifest["provenance"]["parameters"].update(runs=5),
        lambda manifest: manifest["problem"].update(winner=3),
        lambda manifest: manifest["problem"]["names"].reverse(),
    ],
)
def test_a_manifest_edited_by_hand_is_noticed(folder, experiment, edit, tmp_path):
    path = folder.path / "experiment.json"
    manifest = json.loads(path.read_text())
    edit(manifest)
    path.write_text(json.dumps(manifest))
    with pytest.raises(md.BadInput, match=r"is not as it was written|is not the problem that was played"):
        results.read(folder.path)


def test_killed_before_the_first_file_was_whole(experiment, tmp_path):
    (tmp_path / "small").mkdir()
    stray = tmp_path / "small" / f".experiment.json.{platform.node()}.{dead_process()}.7.tmp"
    stray.write_text('{"format": ')
    runner.run(experiment, tmp_path, threads=1)
    assert not stray.exists() and not list((tmp_path / "small").rglob(".*"))


def test_a_part_of_another_experiment_is_refused(folder, experiment, tmp_path):
    runner.run(dataclasses.replace(experiment, seed=1), tmp_path / "other")
    name = folder.blocks()[0].file
    os.replace(tmp_path / "other" / "small" / "parts" / name, folder.path / "parts" / name)
    with pytest.raises(md.BadInput, match="a part of another experiment"):
        runner.run(experiment, tmp_path)


def test_a_folder_of_other_things_is_refused(experiment, tmp_path):
    (tmp_path / "small").mkdir()
    (tmp_path / "small" / "thesis.txt").write_text("precious")
    with pytest.raises(md.BadInput, match="holds files that are not results"):
        runner.run(experiment, tmp_path)
    assert [file.name for file in (tmp_path / "small").iterdir()] == ["thesis.txt"]


@pytest.mark.parametrize("text", ["{", '{"format": "multiduel-results-2"}', '{"format": "multiduel-results-1"}', "[]", "5"])
def test_a_damaged_or_foreign_manifest(folder, text):
    (folder.path / "experiment.json").write_text(text)
    with pytest.raises(md.BadInput, match=r"is damaged|must hold results of format"):
        results.read(folder.path)


def test_an_output_folder_that_cannot_be(experiment, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(md.BadInput, match="cannot be written: Not a directory"):
        runner.run(experiment, tmp_path / "file" / "under")
    with pytest.raises(md.BadInput, match="must be a folder of results"):
        results.read(tmp_path)


def test_a_disk_that_is_full_keeps_what_is_done(experiment, tmp_path, monkeypatch):
    real, calls = os.fsync, []

    def fsync(number):
        calls.append(number)
        if len(calls) > 4:  # the manifest, the problem and two parts
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        real(number)

    monkeypatch.setattr(results.os, "fsync", fsync)
    with pytest.raises(md.BadInput, match=r"cannot be written: No space left on device\. Finished parts are kept\."):
        runner.run(experiment, tmp_path, threads=1)
    monkeypatch.undo()
    assert len(os.listdir(tmp_path / "small" / "parts")) == 2  # and no drafts
    assert len(runner.run(experiment, tmp_path).results[0].regret) == 4


def test_a_read_only_folder(experiment, tmp_path, monkeypatch):
    def touch(self, *args, **kwargs):  # the tests may run as root, who may write anywhere
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    monkeypatch.setattr(files.Path, "touch", touch)
    with pytest.raises(md.BadInput, match="cannot be written: Permission denied"):
        runner.run(experiment, tmp_path)


def test_a_panel_prints_what_it_holds(folder):
    printed = repr(results.read(folder.path))
    assert printed.startswith(f"<Panel '{folder.experiment.name}' on {folder.problem.label}: ")
    assert "4 runs of 200 rounds>" in printed and folder.experiment.contenders[0].id in printed
