"""The pictures of the introduction show what their captions say, by their data."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from relubias.report.pictures import ONE, TWO, one_sample_off, patterns, solutions, two_views


def line(figure: Figure, label: str, panel: int = 0) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    """The points of the curve with this label, shape (2, points)."""
    (found,) = [curve for curve in figure.axes[panel].get_lines() if str(curve.get_label()).startswith(label)]
    return np.array(found.get_data(), dtype=float)


def test_gradient_descent_ends_at_the_point_of_the_line_nearest_to_zero() -> None:
    figure = solutions()
    row, label = np.array(ONE[0][0]), ONE[1][0]
    star = line(figure, "the shortest one")[:, 0]
    np.testing.assert_allclose(star, row * label / (row @ row), rtol=1e-12)
    np.testing.assert_allclose(line(figure, "gradient descent")[:, -1], star, rtol=1e-4)


def test_with_a_negative_label_it_ends_among_the_best_solutions_and_off_the_shortest() -> None:
    figure = one_sample_off()
    first, second = (np.array(row) for row in TWO[0])
    end = line(figure, "gradient descent")[:, -1]
    star = line(figure, "the shortest solution")[:, 0]
    assert abs(first @ end - TWO[1][0]) < 1e-6
    assert second @ end < 0
    assert second @ star <= 1e-12
    assert np.linalg.norm(end - star) > 0.1
    every = line(figure, "solutions of the ReLU neuron")
    assert np.all(second @ every <= 0)
    assert np.allclose(first @ every, TWO[1][0])


def test_dual_coefficients_of_negative_labels_stand_still_after_one_step() -> None:
    figure = two_views()
    frozen = [curve for curve in figure.axes[0].get_lines() if curve.get_linestyle() == "--"]
    assert len(frozen) == 6
    for curve in frozen:
        values = np.asarray(curve.get_ydata(), dtype=float)
        assert np.all(values[1:] == values[1])
        assert values[1] < 0
    moved = [np.asarray(curve.get_ydata()) for curve in figure.axes[1].get_lines() if curve.get_linestyle() == "--"]
    assert any(len(values) and np.ptp(values[1:]) > 0 for values in moved)


def test_patterns_are_decided_at_once_with_many_dimensions_and_not_with_few() -> None:
    many, few = (np.asarray(axes.collections[0].get_array()).reshape(40, -1) for axes in patterns().axes)
    assert np.all(many[20:]), "positive labels"
    assert not np.any(many[:20, 1:]), "negative labels"
    assert not np.all(few[20:])
