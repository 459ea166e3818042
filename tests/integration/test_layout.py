"""How a new collection is laid out: 8-bit copies, shards and replicas, by settings."""

import numpy as np
import pytest
from qdrant_client import QdrantClient
from test_index_contract import ARM, EVERYTHING, EYE, LEG, publish

from askbook.index.edge import EdgeIndex
from askbook.index.schema import Layout
from askbook.index.server import ServerIndex
from askbook.settings import Settings
from askbook.wiring import Parts


def test_an_index_on_8_bit_copies_finds_and_keeps_the_same(tmp_path):
    plain, small = (
        EdgeIndex(tmp_path / name, layout=Layout(quantized=name == "small"))
        for name in ("plain", "small")
    )
    for index in (plain, small):
        publish(index, ARM, LEG)
        publish(index, EYE)  # a copy of the version before it
    assert (
        "int8"
        in next((tmp_path / "small" / "versions").glob("v000002/edge_config.json")).read_text()
    )
    for query in np.eye(3, dtype=np.float32):
        best = [index.search(query, "robot", EVERYTHING, 3, 9)[0] for index in (plain, small)]
        assert best[0].id == best[1].id
        assert best[0].similarity == pytest.approx(best[1].similarity)


@pytest.mark.filterwarnings("ignore:Payload indexes have no effect")
def test_a_new_collection_on_a_cluster_is_made_as_the_settings_say(monkeypatch):
    client, asked = QdrantClient(":memory:"), {}
    create = client.create_collection

    def noting(name, **how):
        asked.update(how)
        return create(name, **how)

    monkeypatch.setattr(client, "create_collection", noting)
    layout = Layout(quantized=True, shards=6, replicas=2, write_consistency=2)
    publish(ServerIndex(client, "book", layout=layout), ARM)
    assert asked["shard_number"] == 6
    assert asked["replication_factor"] == 2
    assert asked["write_consistency_factor"] == 2
    assert asked["quantization_config"].scalar.type == "int8"


def test_the_settings_reach_the_index(tmp_path):
    parts = Parts(Settings(home=tmp_path, quantization="int8", _env_file=None))
    assert parts.index._layout == Layout(quantized=True)
