"""A slider inside the prose: its picture follows, and without a kernel a sentence stands in its place."""

from compendium.course.sliders import Slider
from compendium.figures import design_guide
from compendium.figures.drawing import Drawing
from compendium.run.notebooks import WIDGET
from tablebuilder_dp import design

EPSILONS = [0.5, 1, 2]


def a_slider(asked: list[float]) -> Slider:
    def draw(epsilon: float) -> Drawing:
        asked.append(epsilon)
        return design_guide.pmf_bars("x", design.guide(epsilon, "0.01"), title=f"{epsilon}")

    return Slider("ε", EPSILONS, 1, draw)


def test_the_picture_follows_the_slider() -> None:
    asked: list[float] = []
    slider = a_slider(asked)
    before = slider.picture.value, slider.caption.value
    slider.control.value = 2
    assert asked == [1, 2]
    assert slider.picture.value != before[0]
    assert slider.caption.value != before[1]
    assert 'alt="A bell-shaped bar chart' in slider.picture.value


def test_only_the_listed_values_can_be_chosen() -> None:
    assert [value for _, value in a_slider([]).control.options] == EPSILONS


def test_where_nothing_moves_a_sentence_stands_in_its_place() -> None:
    bundle = a_slider([])._repr_mimebundle_()
    assert WIDGET in bundle
    assert bundle["text/plain"] == "(A slider for ε: it moves in JupyterLab.)"
