"""What is written for other tools, and what comes back from them."""

from __future__ import annotations

import csv
import io
import json

import pytest

from apm.label import Answer, RowNames
from apm.label.formats import FORMATS, Item, Shape, write_rows
from apm.label.taken import take
from apm.tables import FileProblem, read_table
from channelcode.errors import InvalidArgument
from tests.apm.label import given as pools

SPAM, HAM = Answer("label", "spam"), Answer("label", "ham")


@pytest.fixture
def pool(tmp_path):
    return pools.reviews(tmp_path)


def shape(pool, column=None, **options):
    rows = RowNames(read_table(pool), column)
    return Shape(rows, ("ham", "spam"), text="review", **options)


def written(items, form, to):
    return "".join(write_rows(items, form, to))


def taken(folder, content, form, name="export.json", **options):
    path = folder / name
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return take(path, form.rows, **options).answers


# --- there ------------------------------------------------------------------------------------


def test_csv_can_be_filled_in(pool, tmp_path):
    form = shape(pool)
    rows = list(csv.reader(io.StringIO(written([Item(4), Item(2)], form, "csv"))))
    assert rows[0] == ["row", "label", "sku", "price", "review", "check"]
    assert [row[:3] for row in rows[1:]] == [["4", "", "s-4"], ["2", "", "s-2"]]
    filled = "\n".join(",".join([row[0], "spam", *row[2:]]) for row in rows[1:])
    text = ",".join(rows[0]) + "\n" + filled + "\n"
    assert taken(tmp_path, text, form, "batch.csv") == {4: SPAM, 2: SPAM}
    assert taken(tmp_path, written([Item(4)], form, "csv"), form, "batch.csv") == {}


def test_a_column_of_the_pool_hides_none_of_ours(tmp_path):
    path = tmp_path / "pool.csv"
    path.write_text("row,label,check,x\n9,old,c,1\n8,new,d,2\n")
    form = Shape(RowNames(read_table(path)))
    record = json.loads(written([Item(1)], form, "jsonl"))
    assert (record["row"], record["label"]) == (1, None)
    assert (record["pool.row"], record["pool.label"], record["pool.check"]) == (8, "new", "d")


def test_label_studio_tasks(pool):
    tasks = json.loads(written([Item(4), Item(2)], shape(pool), "label-studio"))
    assert [task["data"]["row"] for task in tasks] == [4, 2]
    assert tasks[0]["data"]["review"]
    assert "annotations" not in tasks[0]
    assert json.loads(written([], shape(pool), "label-studio")) == []
    item = Item(4, "label", "spam", {"ham": 0.25, "spam": 0.75})
    (task,) = json.loads(written([item], shape(pool), "label-studio"))
    result = {
        "from_name": "label",
        "to_name": "item",
        "type": "choices",
        "value": {"choices": ["spam"]},
    }
    assert task["annotations"] == [{"result": [result]}]
    assert task["predictions"] == [{"model_version": "apm", "score": 0.75, "result": [result]}]


def test_doccano_and_prodigy_lines(pool):
    line = json.loads(written([Item(4)], shape(pool), "doccano"))
    assert line["label"] == []
    assert (line["row"], line["sku"], line["text"][:1].isalpha()) == (4, "s-4", True)
    line = json.loads(written([Item(4)], shape(pool), "prodigy"))
    assert line["meta"]["row"] == 4
    assert line["options"] == [{"id": "ham", "text": "ham"}, {"id": "spam", "text": "spam"}]
    assert "answer" not in line
    for to in ("doccano", "prodigy"):
        with pytest.raises(InvalidArgument, match="--text"):
            written([Item(4)], Shape(RowNames(read_table(pool))), to)
    with pytest.raises(InvalidArgument, match="label-studio"):
        write_rows([], shape(pool), "xml")


@pytest.mark.parametrize("to", FORMATS)
@pytest.mark.parametrize("column", [None, "sku"])
def test_everything_written_with_labels_comes_back(to, column, pool, tmp_path):
    form = shape(pool, column)
    items = [
        Item(4, "label", "spam", {"ham": 0.1, "spam": 0.9}),
        Item(2, "label", "=ham", {"ham": 0.6, "spam": 0.4}),
        Item(5, "", None, {"ham": 0.6, "spam": 0.4}),
    ]
    name = "export.csv" if to == "csv" else "export.jsonl"
    found = taken(tmp_path, written(items, form, to), form, name)
    assert found == {4: SPAM, 2: Answer("label", "=ham")}


@pytest.mark.parametrize("to", FORMATS)
def test_hostile_cells_are_shown_and_not_obeyed(to, tmp_path):
    path = tmp_path / "pool.jsonl"
    nasty = "=cmd|' /C calc'!A0 \x1b]0;title\x07\u202e <script>"
    path.write_text(json.dumps({"review": nasty, "=1+1": 2.5}) + "\n" + json.dumps({"review": "x"}))
    form = Shape(RowNames(read_table(path)), text="review")
    text = written([Item(0)], form, to)
    assert not any(mark in text for mark in ("\x1b", "\x07", "\u202e"))
    if to == "csv":
        for cell in (cell for record in csv.reader(io.StringIO(text)) for cell in record):
            assert not cell.startswith("=")
    else:
        found = json.loads(text)
        assert nasty in json.dumps(found, ensure_ascii=False).encode().decode("unicode_escape") or (
            json.dumps(nasty)[1:-1] in json.dumps(found)
        )


# --- and back ---------------------------------------------------------------------------------


def test_label_studio_exports(pool, tmp_path):
    form = shape(pool)

    def annotation(*choices, **more):
        result = {"type": "choices", "value": {"choices": list(choices)}, "from_name": "label",
                  "to_name": "item", "id": "a", "origin": "manual"}  # fmt: skip
        return {"id": 1, "result": [result], "was_cancelled": False, "completed_by": 1, **more}

    export = [
        {"id": 101, "data": {"row": 4, "review": "x"}, "annotations": [annotation("spam")]},
        {"id": 102, "data": {"row": 2}, "annotations": [annotation("ham"), annotation("ham")]},
        {"id": 103, "data": {"row": 6}, "annotations": [{"result": [], "was_cancelled": True}]},
        {"id": 104, "data": {"row": 7}, "annotations": []},
    ]
    assert taken(tmp_path, export, form) == {4: SPAM, 2: HAM, 6: Answer("skip")}
    export[1]["annotations"][1] = annotation("spam")
    with pytest.raises(FileProblem, match="two labels"):
        taken(tmp_path, export, form)
    brief = [
        {"id": 9, "row": 4, "review": "x", "choice": "spam"},
        {"id": 8, "row": 2, "choice": "ham"},
    ]
    assert taken(tmp_path, brief, form) == {4: SPAM, 2: HAM}
    named = [{"id": 9, "row": 4, "sentiment": "spam", "label": "no"}]
    assert taken(tmp_path, named, form, column="sentiment") == {4: SPAM}


def test_a_tool_with_numbers_of_its_own_does_not_mislead(tmp_path):
    """doccano and Label Studio call their own numbers `id`."""
    path = tmp_path / "pool.csv"
    path.write_text("id,review\n1,a\n2,b\n3,c\n")
    form = Shape(RowNames(read_table(path), "id"), text="review")
    line = json.loads(written([Item(2)], form, "doccano"))
    assert line["row_id"] == "3"
    export = {**line, "id": 1, "label": ["spam"]}
    assert taken(tmp_path, json.dumps(export), form, "e.jsonl") == {2: SPAM}
    task = json.loads(written([Item(2)], form, "label-studio"))[0]
    task |= {"id": 1, "annotations": [{"result": [{"value": {"choices": ["spam"]}}]}]}
    assert taken(tmp_path, [task], form) == {2: SPAM}


def test_doccano_exports(pool, tmp_path):
    lines = [
        {"id": 1, "text": "x", "label": ["spam"], "row": 4, "Comments": []},
        {"id": 2, "text": "y", "label": [], "row": 2, "Comments": []},
    ]
    text = "\n".join(map(json.dumps, lines))
    assert taken(tmp_path, text, shape(pool), "admin.jsonl") == {4: SPAM}
    lines[0]["label"] = ["spam", "ham"]
    with pytest.raises(FileProblem, match="line 1, column 'label'"):
        taken(tmp_path, "\n".join(map(json.dumps, lines)), shape(pool), "admin.jsonl")


def test_prodigy_exports(pool, tmp_path):
    lines = [
        {"text": "x", "meta": {"row": 4}, "accept": ["spam"], "answer": "accept", "_task_hash": 1},
        {"text": "x", "meta": {"row": 2}, "accept": [], "answer": "ignore"},
        {"text": "x", "meta": {"row": 5}, "accept": [], "answer": "reject"},
        {"text": "x", "meta": {"row": 6}, "label": "ham", "answer": "accept"},
        {"text": "x", "meta": {"row": 7}, "label": "ham", "answer": "reject"},
    ]
    path = tmp_path / "out.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)))
    found = take(path, shape(pool).rows)
    assert found.answers == {4: SPAM, 2: Answer("skip"), 5: Answer("unsure"), 6: HAM}
    assert found.unusable == 1


@pytest.mark.parametrize(
    ("content", "name", "place"),
    [
        ('{"row": 99, "label": "a"}', "e.jsonl", "line 1, column 'row'"),
        ('{"row": true, "label": "a"}', "e.jsonl", "line 1, column 'row'"),
        ('{"label": "a"}', "e.jsonl", "line 1"),
        ('{"row": 1, "label": "a"}\n{"row": 1, "label": "b"}', "e.jsonl", "line 2"),
        ('{"row": 1, "label": {"a": 1}}', "e.jsonl", "line 1, column 'label'"),
        ('{"row": 1, "label": "a\\nb"}', "e.jsonl", "line 1, column 'label'"),
        ('{"row": 1, "label": "a", "check": "aaaaaaaa"}', "e.jsonl", "column 'check'"),
        ("[1, 2]", "e.json", "item 1"),
        ("[" * 99_999, "e.json", "e.json"),
        ("x,label\n1,a\n", "e.csv", "line 1"),
        ("row,label\n1,a,b\n", "e.csv", "line 2"),
        ("row,label\nx,a\n", "e.csv", "line 2, column 'row'"),
    ],
    ids=range(12),
)
def test_faults_of_exports_are_placed(content, name, place, pool, tmp_path):
    with pytest.raises(FileProblem) as found:
        taken(tmp_path, content, shape(pool), name)
    assert place in str(found.value)
