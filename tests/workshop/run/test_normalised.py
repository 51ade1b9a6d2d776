"""What is kept of an executed notebook."""

import json

from compendium.run import notebooks


def test_normalised_keeps_no_trace_of_the_run() -> None:
    stream = {"output_type": "stream", "name": "stdout", "text": "a\nb"}
    cell = {
        "cell_type": "code",
        "source": "x",
        "execution_count": 1,
        "id": "random",
        "metadata": {"papermill": 1},
    }
    kept = json.loads(
        notebooks.normalised({"cells": [{**cell, "outputs": [stream, {**stream, "text": ["c"]}]}]})
    )
    assert kept["cells"] == [
        {
            "cell_type": "code",
            "execution_count": 1,
            "id": "cell-00",
            "metadata": {},
            "outputs": [{"output_type": "stream", "name": "stdout", "text": ["a\n", "bc"]}],
            "source": ["x"],
        }
    ]
    assert kept["metadata"]["language_info"] == {"name": "python"}


def test_normalised_leaves_the_text_of_a_widget_in_its_place() -> None:
    data = {notebooks.WIDGET: {"model_id": "random"}, "text/plain": "Explorer()"}
    output = {"output_type": "display_data", "metadata": {}, "data": data}
    cell = {"cell_type": "code", "source": "x", "execution_count": 1, "metadata": {}, "outputs": [output]}
    kept = json.loads(notebooks.normalised({"cells": [cell]}))
    assert kept["cells"][0]["outputs"] == [{**output, "data": {"text/plain": ["Explorer()"]}}]
