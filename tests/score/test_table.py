"""The component table: every number under its name, in one piece or in many."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from egoscore.score.table import LEVEL_COMPONENTS, ComponentTable

TAUS = (0.25, 0.5, 0.75)
SIZE = 12


def example():
    """Every number in it is another."""
    values = np.arange(SIZE * 3 * 6, dtype=np.float32).reshape(SIZE, 3, 6)
    node = np.arange(SIZE)
    return ComponentTable(node, node + 2000, (node + 3000).astype(np.float32), values, TAUS, 4)


def part(table, rows):
    return replace(
        table,
        node=table.node[rows],
        ego_size=table.ego_size[rows],
        energy=table.energy[rows],
        values=table.values[rows],
    )


def arrow(table):
    return pa.table(table.columns())


@pytest.mark.parametrize(
    ("name", "position"),
    [
        ("feature_error", 0),
        ("structure_error", 1),
        ("energy_after", 2),
        ("energy_shift", 3),
        ("centre_feature_error", 4),
        ("centre_structure_error", 5),
    ],
)
def test_a_component_is_found_by_its_name(name, position):
    table = example()
    np.testing.assert_array_equal(table.component(name), table.values[:, :, position])


def test_there_are_no_other_components():
    assert len(LEVEL_COMPONENTS) == 6
    with pytest.raises(ValueError, match="not in tuple"):
        example().component("energy")


def test_columns_hold_every_number_under_component_and_level():
    table = example()
    columns = table.columns()
    assert list(columns)[3:7] == [
        *("feature_error@0.25", "feature_error@0.5", "feature_error@0.75"),
        "structure_error@0.25",
    ]
    for name in ("node", "ego_size", "energy"):
        np.testing.assert_array_equal(columns.pop(name), getattr(table, name))
    assert len(columns) == 18
    for title, column in columns.items():
        name, _, tau = title.partition("@")
        level = TAUS.index(float(tau))
        np.testing.assert_array_equal(column, table.component(name)[:, level])
        assert column.dtype == np.float32


@pytest.mark.parametrize("num_levels", [2, 6, 999])
def test_levels_keep_their_names_apart(num_levels):
    taus = tuple(level / (num_levels + 1) for level in range(1, num_levels + 1))
    table = replace(example(), values=np.zeros((SIZE, num_levels, 6), np.float32), taus=taus)
    assert len(table.columns()) == 3 + 6 * num_levels


@given(st.permutations(range(SIZE)), st.lists(st.integers(1, SIZE - 1), unique=True))
@settings(max_examples=50, deadline=None)
def test_parts_in_any_order_join_to_the_table_that_arrow_makes_of_them(order, cuts):
    table = example()
    parts = [part(table, rows) for rows in np.split(np.array(order), sorted(cuts))]
    joined = ComponentTable.join(parts)
    expected = pa.concat_tables([arrow(one) for one in parts]).sort_by("node").combine_chunks()
    assert arrow(joined).equals(expected)
    assert arrow(joined).equals(arrow(table))
    assert joined.values.shape == table.values.shape
    assert (joined.taus, joined.num_samples) == (TAUS, 4)


def test_joining_leaves_the_parts_alone():
    table = example()
    parts = [part(table, [3, 1]), part(table, [2, 0])]
    ComponentTable.join(parts)
    assert [one.node.tolist() for one in parts] == [[3, 1], [2, 0]]
