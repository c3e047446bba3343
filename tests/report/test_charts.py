"""Charts: the coordinates are those of the numbers that numpy and scikit-learn give."""

import numpy as np
import pytest
from sklearn.metrics import precision_recall_curve, roc_auc_score, roc_curve

from egoscore.report.charts import histogram, precision_recall, roc, thinned


def coordinates(points):
    return np.array([pair.split(",") for pair in points.split()], dtype=float)


def counts(chart):
    return [int(bar.title.split()[0].replace(",", "")) for bar in chart.bars]


@pytest.fixture
def judged():
    rng = np.random.default_rng(0)
    labels = (rng.random(20_000) < 0.05).astype(np.int64)
    return labels, rng.normal(size=20_000) + 1.5 * labels


class TestHistogram:
    def test_every_node_is_in_one_bar(self):
        score = np.random.default_rng(0).gamma(2.0, size=5_000)
        chart = histogram(score, 3.0)
        assert sum(counts(chart)) == 5_000
        assert 35 <= len({bar.x for bar in chart.bars}) <= 42

    def test_bars_are_those_of_numpy(self):
        score = np.random.default_rng(0).gamma(2.0, size=5_000)
        chart = histogram(score, 100.0)  # too far away to matter
        found, _ = np.histogram(score, bins=40)
        assert counts(chart) == [count for count in found if count]
        heights = 138.0 * np.sqrt(found / found.max())
        drawn = [bar.height for bar in chart.bars]
        np.testing.assert_allclose(drawn, heights[found > 0], atol=0.11)

    @pytest.mark.parametrize("threshold", [0.0, 0.1, 2.0, 5.0, 9.9, 10.0])
    def test_bars_above_the_threshold_hold_the_flagged_nodes(self, threshold):
        score = np.array([0.0, 0.1, 2.0, 2.0, 5.0, 5.0, 9.9, 10.0])
        chart = histogram(score, threshold)
        above = sum(n for n, bar in zip(counts(chart), chart.bars, strict=True) if bar.above)
        assert above == (score > threshold).sum()
        assert chart.cut is not None
        for bar in chart.bars:
            assert bar.x >= chart.cut.at if bar.above else bar.x <= chart.cut.at

    def test_bars_stand_on_the_ground_within_the_frame(self):
        chart = histogram(np.random.default_rng(0).normal(size=500), 1.0)
        for bar in chart.bars:
            assert chart.frame.left <= bar.x <= bar.x + bar.width <= chart.frame.right
            assert bar.y >= chart.frame.top
            assert bar.y + bar.height == pytest.approx(chart.frame.bottom, abs=0.11)

    @pytest.mark.parametrize("threshold", [0.4, 1.0, 3.0, 7.7, 100.0])
    def test_it_begins_where_it_is_told_to_and_bars_are_equally_wide(self, threshold):
        score = 0.3 + np.random.default_rng(0).gamma(2.0, size=5_000)
        for start, first in ((0.0, 0.0), (1.0, score.min()), (np.inf, score.min())):
            chart = histogram(score, threshold, start)
            begins = [float(bar.title.split()[-3]) for bar in chart.bars]
            ends = [float(bar.title.split()[-1]) for bar in chart.bars]
            assert begins[0] >= round(first, 3)
            assert chart.frame.left <= chart.bars[0].x
            widths = np.subtract(ends, begins)
            assert widths.max() < 1.1 * np.median(widths)
            ticks = {tick.text: tick.at for tick in chart.x_ticks}
            assert ("0" in ticks) == (first == 0.0)
            assert ticks.get("0", chart.frame.left) == chart.frame.left

    @pytest.mark.parametrize("score", [0.0, 2.0, -1e9, 1e-9])
    @pytest.mark.parametrize("size", [1, 7])
    def test_equal_scores_are_one_bar(self, score, size):
        chart = histogram(np.full(size, score), score)
        assert counts(chart) == [size]
        assert not chart.bars[0].above

    @pytest.mark.parametrize("threshold", [np.inf, -np.inf, np.nan, 1e9])
    def test_a_threshold_far_away_is_not_drawn(self, threshold):
        chart = histogram(np.arange(10.0), threshold)
        assert chart.cut is None
        assert sum(counts(chart)) == 10

    def test_it_is_told_in_words(self):
        label = histogram(np.arange(11.0), 8.5).label
        assert label == (
            "Histogram of 11 scores from 0 to 10, half of them up to 5; 2 above the threshold 8.5."
        )


class TestCurves:
    def test_the_roc_curve_is_that_of_scikit_learn(self, judged):
        area = roc_auc_score(*judged)
        chart = roc(*judged, area)
        points = coordinates(chart.lines[0].points)
        frame = chart.frame
        x = (points[:, 0] - frame.left) / (frame.right - frame.left)
        y = (frame.bottom - points[:, 1]) / (frame.bottom - frame.top)
        wrong, found, _ = roc_curve(*judged)
        assert np.interp(x, wrong, found) == pytest.approx(y, abs=0.02)
        assert np.trapezoid(y, x) == pytest.approx(area, abs=0.002)
        assert len(points) <= 300
        assert f"{100 * area:.1f}%" in chart.label

    def test_the_precision_recall_curve_is_that_of_scikit_learn(self, judged):
        chart = precision_recall(*judged, 0.5)
        points = coordinates(chart.lines[0].points)
        frame = chart.frame
        x = (points[:, 0] - frame.left) / (frame.right - frame.left)
        y = (frame.bottom - points[:, 1]) / (frame.bottom - frame.top)
        right, found, _ = precision_recall_curve(*judged)
        right, found = right[found > 0], found[found > 0]
        for a, b in zip(x, y, strict=True):
            assert np.min(np.hypot(found - a, right - b)) < 0.003
        off = np.abs(np.interp(found, x, y) - right)  # where it is steep, that is not the distance
        assert np.quantile(off, 0.99) < 0.01
        assert len(points) <= 300

    def test_the_precision_recall_curve_begins_with_the_first_that_is_found(self):
        labels = np.array([0, 0, 0, 1, 0, 1, 0, 0])
        chart = precision_recall(labels, np.arange(8.0)[::-1], 0.3)
        frame = chart.frame
        points = coordinates(chart.lines[0].points)
        first = ((points[0, 0] - frame.left) / (frame.right - frame.left), points[0, 1])
        assert first[0] == pytest.approx(1 / 2, abs=0.01)
        assert first[1] == pytest.approx(frame.bottom - (frame.bottom - frame.top) / 4, abs=0.06)

    def test_chance_is_drawn(self, judged):
        drawn = coordinates(roc(*judged, 0.5).chance)
        np.testing.assert_allclose(drawn, [[34.0, 242.0], [288.0, 22.0]])
        share = judged[0].mean()
        drawn = coordinates(precision_recall(*judged, 0.5).chance)
        assert drawn[:, 1] == pytest.approx(242.0 - 220.0 * share, abs=0.06)

    def test_thinning_keeps_ends_and_shape(self):
        x = np.linspace(0.0, 1.0, 10_000)
        y = np.where(x < 0.5, 0.0, 1.0)  # a jump must survive
        kept = thinned(x, y)
        assert (kept[0], kept[-1]) == (0, 9_999)
        assert len(kept) <= 300
        assert np.all(np.diff(kept) > 0)
        assert np.trapezoid(y[kept], x[kept]) == pytest.approx(0.5, abs=0.005)
        np.testing.assert_array_equal(thinned(x[:300], y[:300]), np.arange(300))
