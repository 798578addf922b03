"""A benchmark without its data ends with the sentence that says where the data is; with it, it measures."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks import public

ROOT = Path(__file__).parents[2]
LOCOMO = [
    {
        "sample_id": "conv-1",
        "conversation": {
            "session_1_date_time": "1:56 pm on 8 May, 2023",
            "session_1": [
                {"speaker": "Ana", "dia_id": "D1:1", "text": "I have adopted a grey cat from the shelter"},
                {"speaker": "Ben", "dia_id": "D1:2", "text": "My train to Ghent leaves at six"},
            ],
        },
        "qa": [{"question": "Which animal did Ana adopt?", "answer": "a cat", "evidence": ["D1:1"], "category": 4}],
    }
]
LONGMEMEVAL = [
    {
        "question_id": f"q1{ending}", "question_type": "single-session-user", "question": "Which cat do I have?",
        "answer": "a grey one", "question_date": "2023/05/30 (Tue) 23:40",
        "haystack_dates": ["2023/05/20 (Sat) 02:21", "2023/05/21 (Sun) 09:00"], "haystack_session_ids": ["s1", "s2"],
        "haystack_sessions": [
            [{"role": "user", "content": "I have adopted a grey cat", "has_answer": True}],
            [{"role": "user", "content": "The train to Ghent leaves at six"}],
        ],
        "answer_session_ids": ["s1"],
    }
    for ending in ("", "_abs")
]  # fmt: skip


def run(*words):
    return subprocess.run(
        [sys.executable, "-m", f"benchmarks.{words[0]}", *map(str, words[1:])], cwd=ROOT, capture_output=True, text=True,
        check=False,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("words", "data"),
    [
        (("locomo",), public.LOCOMO), (("locomo", "--data", "nowhere.json"), public.LOCOMO),
        (("locomo", "--data", "README.md"), public.LOCOMO), (("longmemeval",), public.LONGMEMEVAL),
        (("longmemeval", "--data", "tests/structure/budget.json"), public.LONGMEMEVAL),
        (("engines", "--store", "postgresql://nowhere/none"), public.LOCOMO),
        (("recency", "--data", "nowhere.json"), public.LONGMEMEVAL),
        (("peers", "--data", "nowhere.json"), public.LOCOMO), (("tune", "--part", "weights"), public.LONGMEMEVAL),
        (("needs", "--locomo", "nowhere.json"), public.LOCOMO),
    ],
)  # fmt: skip
def test_without_its_data_a_benchmark_says_where_it_is(words, data):
    done = run(*words)

    assert done.returncode == 1 and done.stderr.strip().endswith(data.where()), done.stderr
    assert "Traceback" not in done.stderr and "https://" in data.where() and data.licence in data.where()


@pytest.mark.parametrize(("name", "data"), [("locomo", LOCOMO), ("longmemeval", LONGMEMEVAL)])
def test_the_data_is_read_as_it_is_published(tmp_path, name, data):
    (tmp_path / "data.json").write_text(json.dumps(data))
    out = tmp_path / "out.json"
    done = run(name, "--data", tmp_path / "data.json", "--level", "turn", "--json", out)

    assert done.returncode == 0, done.stderr
    assert "any@1" in done.stdout and "100.0" in done.stdout
    assert json.loads(out.read_text())


def test_the_page_of_benchmarks_says_where_the_data_is():
    page = (ROOT / "docs" / "benchmarks.md").read_text("utf-8")
    assert all(data.where() in page for data in public.PUBLIC)
