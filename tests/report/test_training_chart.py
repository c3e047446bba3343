"""How training went: lines in the unit of the axis, a band for networks that learn one thing."""

import numpy as np
import pytest
from report.test_charts import coordinates

from egoscore.report.training_chart import training_curve


class TestTrainingCurve:
    LOSSES = np.array([[4.0, 2.0], [3.0, 1.5], [2.0, 1.0]])

    def test_losses_are_relative_to_the_first(self):
        chart = training_curve(self.LOSSES, 101, ("features", "adjacency"), "epoch")
        first, second = (coordinates(line.points) for line in chart.lines)
        np.testing.assert_array_equal(first, second)
        frame = chart.frame
        np.testing.assert_allclose(first[:, 0], [frame.left, 218.0, frame.right])
        height = frame.bottom - frame.top
        np.testing.assert_allclose(first[:, 1], frame.bottom - height * np.array([1, 0.75, 0.5]))
        assert [line.summary for line in chart.lines] == ["1 → 0.5", "1 → 0.5"]
        assert "features 1 → 0.5; adjacency 1 → 0.5" in chart.label
        assert chart.x_title == "epoch"

    @pytest.mark.parametrize("rows", [0, 1])
    def test_there_is_no_curve_through_fewer_than_two_points(self, rows):
        assert training_curve(self.LOSSES[:rows], rows, ("a", "b"), "update") is None

    def test_a_loss_of_nothing_is_drawn_on_the_ground(self):
        chart = training_curve(self.LOSSES * [1.0, 0.0], 3, ("a", "b"), "update")
        assert set(coordinates(chart.lines[1].points)[:, 1]) == {chart.frame.bottom}

    def test_what_is_no_number_is_passed_over(self):
        losses = np.array([[1.0], [np.nan], [np.inf], [0.5]])
        chart = training_curve(losses, 4, ("a",), "update")
        assert len(coordinates(chart.lines[0].points)) == 2


class TestTrainingBand:
    LOSSES = np.array([[4.0, 2.0, 1.0], [2.0, 1.5, 1.0], [2.0, 0.5, 0.75]])

    def test_the_line_is_the_mean_and_the_band_reaches_from_least_to_greatest(self):
        chart = training_curve(self.LOSSES, 3, (), "update")
        frame = chart.frame
        (line,) = chart.lines

        def heights(points):
            return (frame.bottom - coordinates(points)[:, 1]) / (frame.bottom - frame.top)

        np.testing.assert_allclose(heights(line.points), [1, 0.75, 0.5], atol=1e-3)
        band = heights(chart.band.points)
        np.testing.assert_allclose(band, [1, 0.5, 0.25, 0.75, 1, 1], atol=1e-3)
        assert (line.name, line.summary) == ("mean of 3 networks", "1 → 0.5")
        assert chart.band.summary == "0.25 to 0.75 at the end"
        assert f"{line.name} {line.summary}; {chart.band.name} {chart.band.summary}." in chart.label

    def test_one_network_has_no_band(self):
        chart = training_curve(self.LOSSES[:, :1], 3, (), "update")
        assert chart.band is None
        assert chart.lines[0].name == "network"

    @pytest.mark.parametrize("rows", [0, 1])
    def test_there_is_no_curve_through_fewer_than_two_points(self, rows):
        assert training_curve(self.LOSSES[:rows], rows, (), "update") is None

    def test_what_is_no_number_is_passed_over(self):
        losses = np.array([[1.0, 1.0], [np.nan, np.inf], [np.nan, 0.5], [0.5, 0.5]])
        chart = training_curve(losses, 4, (), "update")
        assert len(coordinates(chart.lines[0].points)) == 3
        assert len(coordinates(chart.band.points)) == 6
        nothing = training_curve(np.full((3, 2), np.nan), 3, (), "update")
        assert nothing.lines[0].points == nothing.band.points == ""
