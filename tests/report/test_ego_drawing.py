"""Ego-graphs as coordinates: the same places in both pictures, linked neighbours close."""

import re
from dataclasses import replace
from itertools import combinations, pairwise

import numpy as np
import pytest
from report.samples import picture

from egoscore.explain.explainer import MOST_NODES
from egoscore.report.ego_drawing import (
    HEIGHT,
    SHADES,
    WIDTH,
    around_the_circle,
    by_importance,
    draw,
    layout,
)

SIZES = [1, 2, 3, 8, 13, 14, 17, 18, MOST_NODES]


def lines(path):
    return re.findall(r"M([\d.]+) ([\d.]+)L([\d.]+) ([\d.]+)", path)


class TestLayout:
    @pytest.mark.parametrize("size", SIZES)
    def test_the_centre_is_in_the_middle_and_nobody_else(self, size):
        places = layout(size, picture(0, size).actual)
        assert tuple(places[0]) == (WIDTH / 2, HEIGHT / 2)
        away = np.hypot(*(places[1:] - places[0]).T)
        assert np.all(away > 60)

    @pytest.mark.parametrize("size", SIZES)
    def test_dots_stay_on_the_page_and_apart(self, size):
        drawn = draw(picture(0, size)).actual.dots
        for dot in drawn:
            assert dot.radius < dot.x < WIDTH - dot.radius
            assert dot.radius < dot.y < HEIGHT - dot.radius
        for one, other in combinations(drawn, 2):
            gap = np.hypot(one.x - other.x, one.y - other.y)
            assert gap > one.radius + other.radius

    @pytest.mark.parametrize("around", [2, 3, 4, 8, 16, 22])
    def test_no_two_neighbours_lie_on_a_line_through_the_centre(self, around):
        """An edge between them would run through it and not be seen."""
        places = layout(around + 1, []) - [WIDTH / 2, HEIGHT / 2]
        angles = np.arctan2(places[1:, 1], places[1:, 0])
        gaps = np.abs(np.angle(np.exp(1j * (angles[:, None] - angles))))
        assert gaps.max() < np.pi - 0.05

    def test_it_does_not_depend_on_the_order_of_edges(self):
        edges = picture(3, 20).actual
        np.testing.assert_array_equal(layout(20, edges), layout(20, edges[::-1]))

    def test_linked_neighbours_are_side_by_side(self):
        """Two groups, numbered alternately, become two arcs; a chain becomes a chain."""
        groups = [set(range(1, 13, 2)), set(range(2, 13, 2))]
        edges = [pair for group in groups for pair in combinations(sorted(group), 2)]
        order = around_the_circle(13, edges)
        assert {frozenset(order[:6]), frozenset(order[6:])} == set(map(frozenset, groups))
        chain = [3, 1, 5, 2, 4]
        order = around_the_circle(6, list(pairwise(chain)))
        assert order in (chain, chain[::-1])


class TestDraw:
    def test_every_node_has_the_same_place_in_both_pictures(self):
        drawing = draw(picture(1, 11))
        places = [
            [(dot.x, dot.y) for dot in view.dots] for view in (drawing.actual, drawing.expected)
        ]
        assert places[0] == places[1]

    def test_edges_are_told_apart_by_where_they_are(self):
        given = picture(1, 11)
        actual, expected = set(given.actual), set(given.expected)
        drawing = draw(given)
        assert len(lines(drawing.actual.shared)) == len(actual & expected)
        assert drawing.actual.shared == drawing.expected.shared
        assert len(lines(drawing.actual.own)) == len(actual - expected) > 0
        assert len(lines(drawing.expected.own)) == len(expected - actual) > 0

    def test_edges_end_at_their_nodes(self):
        drawing = draw(replace(picture(1, 5), actual=((3, 0),), expected=()))
        dots = drawing.actual.dots
        (line,) = lines(drawing.actual.own)
        assert tuple(map(float, line)) == (dots[0].x, dots[0].y, dots[3].x, dots[3].y)

    def test_loops_and_repeated_edges_are_drawn_once_or_not_at_all(self):
        drawing = draw(replace(picture(1, 4), actual=((0, 1), (1, 0), (2, 2)), expected=()))
        assert len(lines(drawing.actual.own)) == 1
        assert drawing.actual.shared == ""

    def test_shades_go_from_least_to_greatest(self):
        shades = (0.0, 1.0, 0.5, float("nan"), 7.0)
        given = replace(picture(1, 5), shade_actual=shades, shade_expected=(0.0,))
        drawing = draw(given)
        assert [dot.shade for dot in drawing.actual.dots] == [0, SHADES - 1, 4, -1, SHADES - 1]
        assert [dot.shade for dot in drawing.expected.dots] == [0, -1, -1, -1, -1]

    def test_names_are_written_where_there_is_room(self):
        small, large = draw(picture(1, 13)), draw(picture(1, 14))
        assert all(dot.label for dot in small.actual.dots)
        assert sum(bool(dot.label) for dot in large.actual.dots) in (12, 13)
        for given, drawing in ((picture(1, 13), small), (picture(1, 14), large)):
            assert tuple(dot.name for dot in drawing.actual.dots) == given.nodes

    def test_both_pictures_have_the_same_names(self):
        drawing = draw(picture(1, MOST_NODES))
        written = [[dot.label for dot in v.dots] for v in (drawing.actual, drawing.expected)]
        assert written[0] == written[1]

    def test_of_many_neighbours_the_most_important_are_named(self):
        """Missing and unexpected ones, then those of which the shade is unexpected."""
        size = MOST_NODES
        spokes = tuple((0, other) for other in range(1, size))
        usual = tuple(edge for edge in spokes if edge[1] not in (5, 17, 20))
        actual = tuple(edge for edge in spokes if edge[1] != 20)
        given = replace(
            picture(1, size),
            actual=actual,
            expected=(*usual, (0, 20)),
            shade_actual=(0.5,) * size,
            shade_expected=tuple(0.9 if n == 9 else 0.6 if n == 13 else 0.5 for n in range(size)),
        )
        assert by_importance(given)[:7] == [0, 20, 5, 17, 9, 13, 1]
        named = {n for n, dot in enumerate(draw(given).actual.dots) if dot.label}
        assert {0, 20, 5, 17, 9, 13} <= named
        assert len(named) <= 13

    def test_long_names_are_cut(self):
        given = replace(picture(1, 3), nodes=("a" * 10_000, "b" * 10_000, "\u202e\n"))
        drawing = draw(given)
        for dot in drawing.actual.dots:
            assert len(dot.name) <= 100
            assert len(dot.label.text) <= 18
        assert drawing.actual.dots[2].name == r"\u202e\n"
        assert len(drawing.actual.label) < 200

    def test_nodes_that_are_left_out_are_counted(self):
        drawing = draw(replace(picture(1, MOST_NODES), left_out=5))
        assert len(drawing.actual.dots) == MOST_NODES
        assert drawing.left_out == 5

    def test_it_is_told_in_words(self):
        given = replace(picture(1, 3), actual=((0, 1), (0, 2)), expected=((0, 1),))
        drawing = draw(given)
        assert drawing.actual.label == (
            f"Ego-graph of {given.nodes[0]}, actual: 3 nodes, 2 edges, "
            "1 of them only in this picture."
        )
        assert ", expected: 3 nodes, 1 edge, 0 of them" in drawing.expected.label
