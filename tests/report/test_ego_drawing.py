"""Ego-graphs as coordinates: the same places in both pictures, linked neighbours close."""

import re
from dataclasses import replace
from itertools import combinations, pairwise

import numpy as np
import pytest
from report.samples import picture

from egoscore.explain.explainer import MOST_NODES
from egoscore.report.ego_drawing import HEIGHT, SHADES, WIDTH, around_the_circle, draw, layout

SIZES = [1, 2, 3, 8, 13, 14, 17, 18, MOST_NODES]


def lines(path):
    return re.findall(r"M([\d.]+) ([\d.]+)L([\d.]+) ([\d.]+)", path)


class TestLayout:
    @pytest.mark.parametrize("size", SIZES)
    def test_the_centre_is_in_the_middle_and_nobody_else(self, size):
        places = layout(size, picture(0, size).before)
        assert tuple(places[0]) == (WIDTH / 2, HEIGHT / 2)
        away = np.hypot(*(places[1:] - places[0]).T)
        assert np.all(away > 60)

    @pytest.mark.parametrize("size", SIZES)
    def test_dots_stay_on_the_page_and_apart(self, size):
        drawn = draw(picture(0, size)).before.dots
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
        edges = picture(3, 20).before
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
        places = [[(dot.x, dot.y) for dot in view.dots] for view in (drawing.before, drawing.after)]
        assert places[0] == places[1]

    def test_edges_are_told_apart_by_where_they_are(self):
        given = picture(1, 11)
        before, after = set(given.before), set(given.after)
        drawing = draw(given)
        assert len(lines(drawing.before.shared)) == len(before & after)
        assert drawing.before.shared == drawing.after.shared
        assert len(lines(drawing.before.own)) == len(before - after) > 0
        assert len(lines(drawing.after.own)) == len(after - before) > 0

    def test_edges_end_at_their_nodes(self):
        drawing = draw(replace(picture(1, 5), before=((3, 0),), after=()))
        dots = drawing.before.dots
        (line,) = lines(drawing.before.own)
        assert tuple(map(float, line)) == (dots[0].x, dots[0].y, dots[3].x, dots[3].y)

    def test_loops_and_repeated_edges_are_drawn_once_or_not_at_all(self):
        drawing = draw(replace(picture(1, 4), before=((0, 1), (1, 0), (2, 2)), after=()))
        assert len(lines(drawing.before.own)) == 1
        assert drawing.before.shared == ""

    def test_shades_go_from_least_to_greatest(self):
        shades = (0.0, 1.0, 0.5, float("nan"), 7.0)
        given = replace(picture(1, 5), shade_before=shades, shade_after=(0.0,))
        drawing = draw(given)
        assert [dot.shade for dot in drawing.before.dots] == [0, SHADES - 1, 4, -1, SHADES - 1]
        assert [dot.shade for dot in drawing.after.dots] == [0, -1, -1, -1, -1]

    def test_names_are_written_where_there_is_room(self):
        small, large = draw(picture(1, 13)), draw(picture(1, 14))
        assert all(dot.label for dot in small.before.dots)
        assert [bool(dot.label) for dot in large.before.dots] == [True] + 13 * [False]
        for given, drawing in ((picture(1, 13), small), (picture(1, 14), large)):
            assert tuple(dot.name for dot in drawing.before.dots) == given.nodes

    def test_long_names_are_cut(self):
        given = replace(picture(1, 3), nodes=("a" * 10_000, "b" * 10_000, "\u202e\n"))
        drawing = draw(given)
        for dot in drawing.before.dots:
            assert len(dot.name) <= 60
            assert len(dot.label.text) <= 14
        assert drawing.before.dots[2].name == r"\u202e\n"
        assert len(drawing.before.label) < 200

    def test_nodes_that_are_left_out_are_counted(self):
        drawing = draw(replace(picture(1, MOST_NODES), left_out=5))
        assert len(drawing.before.dots) == MOST_NODES
        assert drawing.left_out == 5

    def test_it_is_told_in_words(self):
        given = replace(picture(1, 3), before=((0, 1), (0, 2)), after=((0, 1),))
        drawing = draw(given)
        assert drawing.before.label == (
            f"Ego-graph of {given.nodes[0]}, actual: 3 nodes, 2 edges, "
            "1 of them only in this picture."
        )
        assert ", expected: 3 nodes, 1 edge, 0 of them" in drawing.after.label
