"""Edges: numbered without gaps, drawn without repeats, exactly as many as asked for."""

import numpy as np
import pytest

from egoscore.load.generate_edges import Pairs, Urn, complete, draw_edges


@pytest.mark.parametrize("directed", [False, True])
def test_pair_numbers_are_all_different_and_turn_back(directed):
    pairs = Pairs(7, directed)
    codes = np.arange(pairs.total)
    assert pairs.total == (42 if directed else 21)
    assert np.array_equal(pairs.encode(pairs.decode(codes)), codes)
    huge = Pairs(3_700_550, directed)
    ends = np.array([0, 1, huge.total // 3, huge.total - 2, huge.total - 1])
    assert np.array_equal(huge.encode(huge.decode(ends)), ends)


def test_pair_numbers_leave_out_loops_and_repeats():
    edges = np.array([[0, 1, 2, 2, 3], [1, 0, 2, 3, 2]])
    assert len(Pairs(4, directed=False).encode(edges)) == 2
    assert len(Pairs(4, directed=True).encode(edges)) == 4


def test_an_urn_draws_nodes_by_their_weights():
    weights = np.array([1.0, 0.0, 2.0, 5.0])
    urn = Urn.fill(np.array([0, 1, 0, 1]), weights)
    drawn = np.bincount(urn.draw(np.random.default_rng(0), 80_000), minlength=4)
    np.testing.assert_allclose(drawn / 80_000, weights / 8, atol=0.01)


@pytest.mark.parametrize(("homophily", "share"), [(0.0, 0.5), (0.6, 0.8), (1.0, 1.0)])
def test_homophily_keeps_edges_within_communities(homophily, share):
    community = np.repeat([0, 1], 50)
    urn = Urn.fill(community, np.ones(100))
    sources, targets = urn.draw_edges(np.random.default_rng(0), homophily, 20_000)
    assert np.mean(community[sources] == community[targets]) == pytest.approx(share, abs=0.02)


def test_partners_send_edges_to_another_community():
    community = np.repeat([0, 1, 2, 3], 25)
    urn = Urn.fill(community, np.ones(100))
    partners = np.array([2, 3, 0, 1])
    sources, targets = urn.draw_edges(np.random.default_rng(0), 0.6, 20_000, partners)
    is_partner = partners[community[sources]] == community[targets]
    assert np.mean(is_partner) == pytest.approx(0.6 + 0.4 / 4, abs=0.02)
    assert np.mean(community[sources] == community[targets]) == pytest.approx(0.1, abs=0.02)


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("closure", [0.0, 0.7])
@pytest.mark.parametrize("share", [0.0, 0.2, 1.0])
def test_there_are_exactly_as_many_different_edges_as_asked_for(directed, closure, share):
    pairs = Pairs(12, directed)
    count = round(share * pairs.total)
    rng = np.random.default_rng(0)
    edges = draw_edges(rng, pairs, count, closure, lambda n: rng.integers(0, 12, (2, n)))
    assert edges.shape == (2, count)
    assert len(pairs.encode(edges)) == count


def test_completing_keeps_what_is_there_or_a_part_of_it():
    pairs, rng = Pairs(12, directed=False), np.random.default_rng(0)
    codes = np.arange(0, 66, 3)

    def propose(count):
        return rng.integers(0, 12, (2, count))

    more = pairs.encode(complete(rng, pairs, codes, 40, propose))
    fewer = pairs.encode(complete(rng, pairs, codes, 10, propose))
    assert (len(more), len(fewer)) == (40, 10)
    assert np.isin(codes, more).all()
    assert np.isin(fewer, codes).all()
