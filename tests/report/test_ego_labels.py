"""Names in a picture: within it, and none over another."""

from itertools import combinations

import pytest

from egoscore.report.ego_drawing import HEIGHT, WIDTH, layout
from egoscore.report.ego_labels import Box, Circle, labels, text_width

NAMES = (
    "x",
    "CUST-000485",
    "WWWWWWWWWWWWWWWWWW",
    "漢字漢字漢字漢字漢字",
    "average_monthly_volume",
    "",
)


def circles(count):
    places = layout(count, [])
    return [Circle(float(x), float(y), 9.0 if i else 15.0) for i, (x, y) in enumerate(places)]


@pytest.mark.parametrize("count", range(1, 14))
@pytest.mark.parametrize("name", NAMES)
def test_labels_are_within_the_picture_and_apart_from_all_others(count, name):
    dots = circles(count)
    found = [one for one in labels([name] * count, dots, WIDTH, HEIGHT) if one]
    for one in found:
        assert one.box.is_within(WIDTH, HEIGHT)
        assert not any(one.box.touches(dot.box) for dot in dots) or not name
    for one, other in combinations(found, 2):
        assert not one.box.touches(other.box) or not name


@pytest.mark.parametrize("count", range(1, 14))
@pytest.mark.parametrize("name", NAMES)
def test_the_centre_keeps_its_name(count, name):
    assert labels([name] * count, circles(count), WIDTH, HEIGHT)[0] is not None


@pytest.mark.parametrize("count", range(1, 14))
def test_usual_names_are_all_written(count):
    assert None not in labels(["Dogwood 103"] * count, circles(count), WIDTH, HEIGHT)


def test_names_are_written_away_from_the_centre_and_shortened_where_that_helps():
    dots = [Circle(170.0, 135.0, 15.0), Circle(262.0, 140.0, 9.0)]
    for name, text in (("CUST-000485", "CUST-0…85"), ("ilse", "ilse")):
        label = labels([name, name], dots, WIDTH, HEIGHT)[1]
        assert (label.text, label.anchor) in ((name, "middle"), (name, "start"), (text, "start"))


def test_where_there_is_no_room_nothing_is_written():
    dots = [Circle(50.0, 50.0, 15.0), Circle(50.0, 20.0, 9.0)]
    assert labels(["centre", "neighbour"], dots, 100.0, 90.0)[1] is None


def test_wide_letters_are_wide():
    assert text_width("ii") < text_width("WW") < text_width("漢漢")


def test_boxes_that_only_meet_do_not_touch():
    assert not Box(0, 0, 1, 1).touches(Box(1, 0, 2, 1))
    assert Box(0, 0, 1, 1).touches(Box(0.5, 0.5, 2, 2))
