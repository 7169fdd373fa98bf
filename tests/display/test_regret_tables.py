"""The table of results: one row per policy, the same columns wherever it is shown."""

from __future__ import annotations

from multiduel.display.regret_tables import COLUMNS, Beside, Summary, regret_table

SEVERAL = Summary("rucb", "tea", 2, 10**6, 20, 1234.5, (1000.0, 1500.0), 70.0, (900.0, 1200.0, 2000.0), 0.123, 2.0, 0.95)
ONE = Summary("btm", "tea", 2, 10**6, 1, 99.5, None, None, (99.5, 99.5, 99.5), 0.1, 0.0)


def test_every_column_has_a_head_and_a_cell_for_each_row():
    table = regret_table([SEVERAL, ONE], ["name", *COLUMNS])
    assert dict(zip(table.head, table.rows[0], strict=True)) == {
        "policy": "rucb", "problem": "tea", "m": "2", "T": "1,000,000", "runs": "20", "mean regret": "1,234",
        "95 % interval": "1,000 to 1,500", "std": "70", "median": "1,200", "5 % to 95 %": "900 to 2,000", "winner found": "95 %",
        "seconds": "0.12", "compile": "2.00",
    }  # fmt: skip
    assert table.numeric == list(range(2, 13)), "names and problems are words"


def test_one_run_has_neither_interval_nor_spread():
    assert regret_table([ONE], ["interval", "std", "spread", "winner", "median"]).rows == [["-", "-", "-", "-", "99.5"]]


def test_the_least_mean_is_bold_if_asked():
    bold, plain = (regret_table([SEVERAL, ONE], ["name", "mean"], bold_least=asked) for asked in (True, False))
    assert [row[1] for row in bold.rows] == ["1,234", "**99.5**"] and [row[1] for row in plain.rows] == ["1,234", "99.5"]


def test_columns_of_one_table_stand_beside_those_of_all():
    beside = Beside("times", ["1", "12"], numeric=True)
    table = regret_table([ONE, SEVERAL], [Beside("where", ["a", "b"]), "name", beside], name="best", title="Tea", folded="more")
    assert (table.head, table.rows) == (["where", "best", "times"], [["a", "btm", "1"], ["b", "rucb", "12"]])
    assert (table.numeric, table.title, table.folded) == ([2], "Tea", "more")
