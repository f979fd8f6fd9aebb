"""Chakra's traces, read by Google's protobuf; and the functions that read and write them."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import headway
import jsonschema
import pytest
from chakra_messages import messages

SCHEMAS = Path(__file__).parents[2] / "configs" / "schema"
COMPUTATION, COLLECTIVE, METADATA = 4, 7, 1


def read(path: Path):
    """The metadata and the nodes of a file: each message behind its length, a varint."""
    types = messages()
    data = path.read_bytes()
    found, at = [], 0
    while at < len(data):
        length = shift = 0
        while True:
            byte = data[at]
            at += 1
            length |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                break
        message = types.Node() if found else types.GlobalMetadata()
        message.ParseFromString(data[at : at + length])
        found.append(message)
        at += length
    return found[0], found[1:]


def attributes(node) -> dict[str, object]:
    return {a.name: getattr(a, a.WhichOneof("value")) for a in node.attr}


@pytest.fixture()
def traces(small, tmp_path):
    headway.export("chakra", small, out=tmp_path / "traces", set={"parallelism.pipeline": 1})
    return tmp_path / "traces"


def test_an_exported_step_is_a_trace_that_protobuf_reads(traces):
    files = sorted(traces.glob("step.*.et"))
    assert len(files) == 16
    groups = json.loads((traces / "comm_groups.json").read_text())
    for rank in (0, 7):
        metadata, nodes = read(traces / f"step.{rank}.et")
        assert metadata.version == "0.0.4"
        assert Counter(node.type for node in nodes).keys() == {METADATA, COMPUTATION, COLLECTIVE}
        seen: set[int] = set()
        for node in nodes:
            assert seen.issuperset(node.data_deps), "causes come before effects"
            assert node.id not in seen
            seen.add(node.id)
            if node.type == COLLECTIVE:
                said = attributes(node)
                assert rank in groups[said["pg_name"]]
                assert said["comm_size"] > 0
                assert said["is_cpu_op"] is False
            if node.type == COMPUTATION:
                assert abs(node.duration_micros * 10**6 - attributes(node)["duration_ps"]) <= 10**6
        defined = json.loads(nodes[0].inputs.values[2:-2])
        assert {group["pg_name"]: group["ranks"] for group in defined}.items() <= groups.items()


def test_a_replay_is_the_step_it_was_exported_from(traces, small):
    step = headway.run(small, set={"parallelism.pipeline": 1}).step
    replayed = headway.replay(traces, cluster=small)
    assert replayed.time_s == step.time_s
    assert replayed.ranks == 16
    slow = headway.replay(traces, cluster=small, set={"cluster.fabric.link_bandwidth": "50 Gbps"})
    assert slow.time_s > replayed.time_s


def test_without_a_cluster_traces_are_checked(traces):
    assert headway.replay(traces).time_s is None
    (traces / "step.3.et").unlink()
    with pytest.raises(headway.Error, match=r"there is no trace of rank 3, and one of rank 4"):
        headway.replay(traces)


def test_results_keep_the_schema(traces, small):
    schema = json.loads((SCHEMAS / "headway.replay-1.json").read_text())
    for cluster in (None, small):
        jsonschema.validate(headway.replay(traces, cluster=cluster).to_dict(), schema)
