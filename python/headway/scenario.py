# Generated from the field lists by `headway schema --python`; edit those, not this file.
"""Scenarios as Python classes.

A field that is not given is not written, so it keeps the default its docstring names. Values with
units are text, such as "400 Gbps" or "80 GiB". Every class takes `use`, the name of a catalogue
entry or the path of a file whose values the other fields override, and `source`, a note on where
the figures come from.

A scenario that `Scenario.load` has read or `Scenario.with_` has changed has all its fields but
those whose type says that they may be None. Of one made here, what is not given is None.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from os import PathLike
from typing import Any, Literal, get_args, get_origin, get_type_hints

from headway._spec import scenario_text, shorten

NOT_GIVEN: Any = None
"""Of a field that every scenario has once it was read."""


def to_mapping(spec: Any) -> Any:
    """Turn a scenario into plain mappings and lists, as a YAML file would hold them.

    Parameters
    ----------
    spec
        An instance of one of the classes below, or a value inside one.

    Returns
    -------
    Any
        The same with dataclasses as `dict`; fields that are None are left out.
    """
    if is_dataclass(spec) and not isinstance(spec, type):
        values = ((field.name.rstrip("_"), getattr(spec, field.name)) for field in fields(spec))
        return {name: to_mapping(value) for name, value in values if value is not None}
    if isinstance(spec, (list, tuple)):
        return [to_mapping(item) for item in spec]
    return spec


def from_values(kind: Any, values: Any) -> Any:
    """Turn values as a YAML file holds them into a class, a list or a plain value.

    Parameters
    ----------
    kind
        One of the classes below, or what a field of them is declared as.
    values
        Mapping, list or text.

    Returns
    -------
    Any
        An instance of `kind`.
    """
    if isinstance(kind, type) and is_dataclass(kind):
        hints = get_type_hints(kind)
        given = {name: values.get(name.rstrip("_")) for name in hints}
        return kind(**{n: from_values(hints[n], v) for n, v in given.items() if v is not None})
    inner = [each for each in get_args(kind) if each is not type(None)]
    if get_origin(kind) is Literal:
        return values
    if get_origin(kind) is Sequence:
        return [from_values(inner[0], item) for item in values]
    if inner:  # one of several
        words = [word for each in inner for word in get_args(each)]
        return values if values in words else from_values(inner[0], values)
    return values == "true" if kind is bool else kind(values)


@dataclass(frozen=True, kw_only=True)
class PeakRates:
    """Dense peak rates of the matrix units.

    Attributes
    ----------
    fp32
        Peak of fp32 products: of the vector units, or of the matrix units where they multiply
        fp32 (CDNA). (default 0 FLOP/s)
    tf32
        Dense TF32 peak (CDNA 3: xf32); absent if unsupported (V100, T4, MI250X, MI355X).
        (default 0 FLOP/s)
    bf16
        Dense bf16 peak; absent if unsupported (V100, T4). (default 0 FLOP/s)
    fp16
        Dense fp16 peak, accumulated in fp32; absent if unsupported. (default 0 FLOP/s)
    fp8
        Dense fp8 peak; absent if unsupported. (default 0 FLOP/s)
    fp4
        Dense fp4 peak; absent if unsupported. (default 0 FLOP/s)
    use, source
        As described at the top of this module.
    """

    fp32: str = NOT_GIVEN
    tf32: str = NOT_GIVEN
    bf16: str = NOT_GIVEN
    fp16: str = NOT_GIVEN
    fp8: str = NOT_GIVEN
    fp4: str = NOT_GIVEN
    use: str | None = None
    source: str | None = None


@dataclass(frozen=True, kw_only=True)
class SustainedShares:
    """Shares of the peaks that sustained kernels reach.

    Attributes
    ----------
    gemm_16bit
        Large bf16/fp16 matrix product / dense peak. (default 0.8)
    gemm_8bit
        Large fp8 matrix product / dense fp8 peak. (default 0.7)
    gemm_4bit
        Large fp4 matrix product / dense fp4 peak. (default 0.6)
    weight_gradient
        Weight-gradient product, which accumulates in fp32 and reads both operands across their
        rows / forward product. (default 0.85)
    grouped
        Grouped product of experts / dense products of the same shapes, as many at once as the
        software runs. (default 1)
    gemm_tf32
        Large tf32 matrix product / dense tf32 peak; 0: not measured, gemm_16bit stands in and
        the interval is wider. (default 0)
    gemm_fp32
        Large fp32 matrix product / fp32 peak; 0: not measured, gemm_16bit stands in and the
        interval is wider. (default 0)
    attention_forward
        Causal flash attention forward, 8k tokens, head 128 / 16-bit peak. (default 0.6)
    attention_backward
        Causal flash attention backward / 16-bit peak. (default 0.45)
    attention_flash2
        FlashAttention-2, forward and backward together / 16-bit peak; on AMD what PyTorch's
        scaled_dot_product_attention runs (kernels made by Triton); 0: no slower than the above.
        (default 0)
    memory
        Streaming kernels / peak memory bandwidth. (default 0.85)
    score_rows
        Softmax and dropout over attention scores in memory / streaming kernels. (default 0.75)
    power
        Board power limit at which the shares hold; another limit scales matrix and attention
        kernels (power_share). 0: the GPU's own. (default 0 W)
    use, source
        As described at the top of this module.
    """

    gemm_16bit: float = NOT_GIVEN
    gemm_8bit: float = NOT_GIVEN
    gemm_4bit: float = NOT_GIVEN
    weight_gradient: float = NOT_GIVEN
    grouped: float = NOT_GIVEN
    gemm_tf32: float = NOT_GIVEN
    gemm_fp32: float = NOT_GIVEN
    attention_forward: float = NOT_GIVEN
    attention_backward: float = NOT_GIVEN
    attention_flash2: float = NOT_GIVEN
    memory: float = NOT_GIVEN
    score_rows: float = NOT_GIVEN
    power: str = NOT_GIVEN
    use: str | None = None
    source: str | None = None


@dataclass(frozen=True, kw_only=True)
class GemmTable:
    """One table an operand format.

    Attributes
    ----------
    precision
        Format of the operands. (required)
    m
        Rows of the result (tokens), ascending. (required)
    n
        Columns of the result (outputs), ascending. (required)
    k
        Length of the sums (inputs), ascending. (required)
    shares
        Rate / rate of large products, for every m, n, k; k varies fastest, m slowest.
        (required)
    use, source
        As described at the top of this module.
    """

    precision: Literal["fp32", "tf32", "bf16", "fp16", "fp8", "mxfp8", "nvfp4"] = NOT_GIVEN
    m: Sequence[float] = NOT_GIVEN
    n: Sequence[float] = NOT_GIVEN
    k: Sequence[float] = NOT_GIVEN
    shares: Sequence[float] = NOT_GIVEN
    use: str | None = None
    source: str | None = None


@dataclass(frozen=True, kw_only=True)
class AttentionTable:
    """One table a head width.

    Attributes
    ----------
    head_dim
        Width of a head. (required)
    sequence
        Tokens of a sequence, ascending. (required)
    heads
        Query heads x sequences of the batch, ascending. (required)
    shares
        Rate / rate at 8,192 tokens, 32 heads of width 128; heads vary fastest. (required)
    use, source
        As described at the top of this module.
    """

    head_dim: float = NOT_GIVEN
    sequence: Sequence[float] = NOT_GIVEN
    heads: Sequence[float] = NOT_GIVEN
    shares: Sequence[float] = NOT_GIVEN
    use: str | None = None
    source: str | None = None


@dataclass(frozen=True, kw_only=True)
class KernelTables:
    """Measured shape dependence of kernels; absent: laws of tiles and waves.

    Entries to `use`: configs/kernels.

    Attributes
    ----------
    name
        Name printed in reports. (required)
    gemm
        One table an operand format. (optional)
    attention
        One table a head width. (optional)
    use, source
        As described at the top of this module.
    """

    name: str = NOT_GIVEN
    gemm: Sequence[GemmTable] = NOT_GIVEN
    attention: Sequence[AttentionTable] = NOT_GIVEN
    use: str | None = None
    source: str | None = None


@dataclass(frozen=True, kw_only=True)
class GpuSpec:
    """The GPU.

    Entries to `use`: configs/gpus.

    Attributes
    ----------
    name
        Name printed in reports. (required)
    architecture
        Generation; selects kernel and collective cost tables. (required)
    peak
        Dense peak rates of the matrix units. (required)
    sustained
        Shares of the peaks that sustained kernels reach. (optional)
    kernels
        Measured shape dependence of kernels; absent: laws of tiles and waves. (optional)
    memory
        Capacity of the GPU's memory. (required)
    memory_bandwidth
        Peak bandwidth of the GPU's memory. (required)
    streaming_multiprocessors
        SMs or compute units. (default 132)
    host_bandwidth
        GPU to host copies, pinned memory, one direction. (default 25 GB/s)
    kernel_launch
        Gap on the GPU between dependent kernels. (default 2 us)
    power
        Board power limit. (required)
    idle_power
        Power drawn when idle. (default 70 W)
    use, source
        As described at the top of this module.
    """

    name: str = NOT_GIVEN
    architecture: Literal[
        "volta",
        "turing",
        "ampere",
        "ada",
        "hopper",
        "blackwell",
        "cdna2",
        "cdna3",
        "cdna4",
    ] = NOT_GIVEN
    peak: PeakRates = NOT_GIVEN
    sustained: SustainedShares = NOT_GIVEN
    kernels: KernelTables | None = None
    memory: str = NOT_GIVEN
    memory_bandwidth: str = NOT_GIVEN
    streaming_multiprocessors: int = NOT_GIVEN
    host_bandwidth: str = NOT_GIVEN
    kernel_launch: str = NOT_GIVEN
    power: str = NOT_GIVEN
    idle_power: str = NOT_GIVEN
    use: str | None = None
    source: str | None = None


@dataclass(frozen=True, kw_only=True)
class ScaleUpSpec:
    """The network inside the node or rack.

    Attributes
    ----------
    kind
        How the GPUs of the domain are joined. (required)
    bandwidth
        One GPU into the domain, one direction, line rate (450 GB/s for H100 NVLink). (required)
    latency
        GPU to GPU inside the domain. (default 1 us)
    domain_gpus
        GPUs that one domain joins; may span nodes (72 in an NVL72 rack). (default 8)
    in_switch_reduction
        The switches can reduce (NVLink SHARP, used by NCCL's NVLS). (default false)
    use, source
        As described at the top of this module.
    """

    kind: Literal["nvswitch", "mesh", "pcie"] = NOT_GIVEN
    bandwidth: str = NOT_GIVEN
    latency: str = NOT_GIVEN
    domain_gpus: int = NOT_GIVEN
    in_switch_reduction: bool = NOT_GIVEN
    use: str | None = None
    source: str | None = None


@dataclass(frozen=True, kw_only=True)
class NicSpec:
    """Network cards.

    Attributes
    ----------
    count
        Cards for the compute fabric in one node. (required)
    bandwidth
        One card, one direction. (required)
    latency
        GPU memory to wire, one direction. (default 1 us)
    use, source
        As described at the top of this module.
    """

    count: int = NOT_GIVEN
    bandwidth: str = NOT_GIVEN
    latency: str = NOT_GIVEN
    use: str | None = None
    source: str | None = None


@dataclass(frozen=True, kw_only=True)
class NodeSpec:
    """The server.

    Entries to `use`: configs/nodes.

    Attributes
    ----------
    name
        Name printed in reports. (required)
    gpu
        The GPU. (required)
    gpus
        GPUs in the node. (required)
    scale_up
        The network inside the node or rack. (required)
    nic
        Network cards. (required)
    host_memory
        Memory of the host. (default 2 TB)
    host_memory_bandwidth
        Of all memory channels of the host; an offloaded optimizer updates there. (default 400
        GB/s)
    host_power
        Power of the node beside its GPUs (CPUs, fans, NICs). (default 2 kW)
    use, source
        As described at the top of this module.
    """

    name: str = NOT_GIVEN
    gpu: GpuSpec = NOT_GIVEN
    gpus: int = NOT_GIVEN
    scale_up: ScaleUpSpec = NOT_GIVEN
    nic: NicSpec = NOT_GIVEN
    host_memory: str = NOT_GIVEN
    host_memory_bandwidth: str = NOT_GIVEN
    host_power: str = NOT_GIVEN
    use: str | None = None
    source: str | None = None


@dataclass(frozen=True, kw_only=True)
class OtherNodesSpec:
    """Kinds of nodes that the job's last nodes are of, in this order, and how many of each;
    empty: all are `node`.

    Attributes
    ----------
    nodes
        How many of the cluster's nodes are of this kind. (required)
    node
        The server, of as many GPUs and cards as `cluster.node`. (required)
    gpu_hour
        One of its GPUs, as `1.20 USD/h`; absent: as `run.prices.gpu_hour`. (optional)
    use, source
        As described at the top of this module.
    """

    nodes: int = NOT_GIVEN
    node: NodeSpec = NOT_GIVEN
    gpu_hour: str | None = None
    use: str | None = None
    source: str | None = None


@dataclass(frozen=True, kw_only=True)
class TrafficClassSpec:
    """Traffic classes (IEEE 802.1Q, InfiniBand's virtual lanes), at most 8: where training and
    storage meet (`topo --stress`). Each has its own pauses, and its part of the credits. Left
    out: one class. Traffic that none names goes in the first. Not with transport receiver.

    Attributes
    ----------
    traffic
        What goes in it: training, storage. (required)
    priority
        Before every cable the highest class goes first that has a packet which may go. (default
        0)
    weight
        Classes of one priority share a cable in this proportion. (default 1)
    use, source
        As described at the top of this module.
    """

    traffic: Sequence[Literal["training", "storage"]] = NOT_GIVEN
    priority: int = NOT_GIVEN
    weight: float = NOT_GIVEN
    use: str | None = None
    source: str | None = None


@dataclass(frozen=True, kw_only=True)
class PacketSpec:
    """Switches and cards packet by packet, for `collective --granularity packet` and `topo
    --stress`; steps and campaigns do not look at it.

    Attributes
    ----------
    transport
        What keeps senders from drowning the network: credits (InfiniBand), pauses (RoCE without
        rate control), dcqcn, swift, dctcp or receiver (EQDS, Ultra Ethernet). Left out: credits
        under static and adaptive routing, dcqcn under hashed routing. (optional)
    path_choice
        Which of several equal cables a packet takes: by hash of the flow, by destination, by
        flowlet, by packet, or the shortest queue. Left out: as `routing` says. (optional)
    switching
        cut_through: a packet leaves as soon as its head is read; store_and_forward: when all of
        it is there. (default cut_through)
    payload
        Most bytes of a message in one packet. (default 4 KiB)
    buffer_per_port
        Buffer of a switch / its ports; all ports share it, but for credits, where each has its
        own. 113 MB over 64 ports of 400 Gbps (Tomahawk 4). (default 1770000 B)
    threshold
        A queue (under pauses, what came from one port) may hold this many times what is free of
        the shared buffer (dynamic thresholds). (default 1)
    marking_from
        Queue, as time to drain it, from which packets are marked: 5 kB at 40 Gbps (DCQCN).
        (default 1 us)
    marking_to
        Queue from which every packet is marked: 200 kB at 40 Gbps (DCQCN). (default 40 us)
    marking_probability
        Share marked just below `marking_to`. (default 0.01)
    delay_target
        Swift's: time in queues, there and back, that senders aim at. (default 10 us)
    flowlet_gap
        A flow that paused so long may take another path without overtaking itself. (default 50
        us)
    timeout
        Without news for so long, what is on its way is sent again; twice as long each time.
        (default 200 us)
    repeat
        selective: what is missing is sent again; go_back_n: all from there on. Of swift and
        dctcp; the other transports lose nothing, or know what. (default selective)
    packets_per_second
        Most packets a second that a network card sends. (default 200000000)
    classes
        Traffic classes (IEEE 802.1Q, InfiniBand's virtual lanes), at most 8: where training and
        storage meet (`topo --stress`). Each has its own pauses, and its part of the credits.
        Left out: one class. Traffic that none names goes in the first. Not with transport
        receiver. (optional)
    use, source
        As described at the top of this module.
    """

    transport: Literal["credits", "pauses", "dcqcn", "swift", "dctcp", "receiver"] | None = None
    path_choice: Literal["flow", "destination", "flowlet", "packet", "queue"] | None = None
    switching: Literal["cut_through", "store_and_forward"] = NOT_GIVEN
    payload: str = NOT_GIVEN
    buffer_per_port: str = NOT_GIVEN
    threshold: float = NOT_GIVEN
    marking_from: str = NOT_GIVEN
    marking_to: str = NOT_GIVEN
    marking_probability: float = NOT_GIVEN
    delay_target: str = NOT_GIVEN
    flowlet_gap: str = NOT_GIVEN
    timeout: str = NOT_GIVEN
    repeat: Literal["selective", "go_back_n"] = NOT_GIVEN
    packets_per_second: float = NOT_GIVEN
    classes: Sequence[TrafficClassSpec] = NOT_GIVEN
    use: str | None = None
    source: str | None = None


@dataclass(frozen=True, kw_only=True)
class FabricSpec:
    """The network between nodes.

    Entries to `use`: configs/fabrics.

    Attributes
    ----------
    name
        Name printed in reports. (required)
    topology
        How leaves, spines and cores are joined. (required)
    tiers
        Switch tiers: 2 (leaf, spine) or 3 (leaf, spine, core). (default 2)
    link_bandwidth
        One direction of one cable. (required)
    link_latency
        One cable and the switch behind it. (default 0.5 us)
    ports_per_leaf
        Host-facing ports of a leaf switch. (default 32)
    leaves_per_pod
        Leaves in one pod of a 3-tier fabric; 0: all leaves in one. (default 0)
    leaf_oversubscription
        Host bandwidth / uplink bandwidth of a leaf. (default 1)
    spine_oversubscription
        Pod bandwidth / core bandwidth of a pod. (default 1)
    planes
        Independent copies of the fabric that share the NICs' ports. (default 1)
    routing
        adaptive: ideal spray; ecmp: hash per flow; static: destination modulo. (default
        adaptive)
    efficiency
        Share of the line rate that payload reaches (headers, pacing). (default 0.9)
    node_latency
        What a collective of large messages takes longer for each node it spans, beside the
        latencies of cards and links: chunks that a transport on the host's CPUs passes on,
        flows that meet on a cable. (default 0 s)
    pxn
        Traffic to another rail crosses NVLink first and leaves on the destination's rail
        (NCCL's PXN). (default true)
    in_switch_reduction
        The fabric's switches can reduce (InfiniBand SHARP, used by NCCL's CollNet). (default
        false)
    switch_power_per_port
        Power of a switch and its optics, per port. (default 25 W)
    packets
        Switches and cards packet by packet, for `collective --granularity packet` and `topo
        --stress`; steps and campaigns do not look at it. (optional)
    use, source
        As described at the top of this module.
    """

    name: str = NOT_GIVEN
    topology: Literal[
        "fat_tree",
        "rail_optimized",
        "rail_only",
        "multi_plane",
        "dragonfly",
    ] = NOT_GIVEN
    tiers: int = NOT_GIVEN
    link_bandwidth: str = NOT_GIVEN
    link_latency: str = NOT_GIVEN
    ports_per_leaf: int = NOT_GIVEN
    leaves_per_pod: int = NOT_GIVEN
    leaf_oversubscription: float = NOT_GIVEN
    spine_oversubscription: float = NOT_GIVEN
    planes: int = NOT_GIVEN
    routing: Literal["adaptive", "ecmp", "static"] = NOT_GIVEN
    efficiency: float = NOT_GIVEN
    node_latency: str = NOT_GIVEN
    pxn: bool = NOT_GIVEN
    in_switch_reduction: bool = NOT_GIVEN
    switch_power_per_port: str = NOT_GIVEN
    packets: PacketSpec | None = None
    use: str | None = None
    source: str | None = None


@dataclass(frozen=True, kw_only=True)
class ClientSlotsSpec:
    """Requests one node keeps in flight; they bound its rate.

    Attributes
    ----------
    slots
        Requests in flight. (required)
    request
        Bytes of one request. (required)
    latency
        Of one request, at the load of a save. (required)
    use, source
        As described at the top of this module.
    """

    slots: int = NOT_GIVEN
    request: str = NOT_GIVEN
    latency: str = NOT_GIVEN
    use: str | None = None
    source: str | None = None


@dataclass(frozen=True, kw_only=True)
class StorageSpec:
    """Where checkpoints go and data is read from; only one step of a job needs none.

    Entries to `use`: configs/storage.

    Attributes
    ----------
    name
        Name printed in reports. (required)
    write_bandwidth
        All servers together, sustained writing. (required)
    read_bandwidth
        All servers together, sustained reading. (required)
    client_write_bandwidth
        What one node can write (client, streams, RPC slots). (default 5 GB/s)
    client_read_bandwidth
        What one node can read. (default 5 GB/s)
    latency
        Open, metadata and commit of one file. (default 1 ms)
    capacity
        Usable capacity. (default 1000 TB)
    path
        shared: over the compute fabric; dual: over a fabric of its own. (default dual)
    servers
        Storage servers on the compute fabric, spread evenly over its leaves; required for
        shared. (optional)
    client_slots
        Requests one node keeps in flight; they bound its rate. (optional)
    files_per_second
        Files the servers can create or open, all together; absent: no limit. (optional)
    use, source
        As described at the top of this module.
    """

    name: str = NOT_GIVEN
    write_bandwidth: str = NOT_GIVEN
    read_bandwidth: str = NOT_GIVEN
    client_write_bandwidth: str = NOT_GIVEN
    client_read_bandwidth: str = NOT_GIVEN
    latency: str = NOT_GIVEN
    capacity: str = NOT_GIVEN
    path: Literal["shared", "dual"] = NOT_GIVEN
    servers: int | None = None
    client_slots: ClientSlotsSpec | None = None
    files_per_second: float | None = None
    use: str | None = None
    source: str | None = None


@dataclass(frozen=True, kw_only=True)
class SitesSpec:
    """Sites that the nodes are spread over; absent: one.

    Attributes
    ----------
    count
        Sites; the nodes are divided evenly among them. (default 2)
    bandwidth
        One site into the wide area, one direction, line rate of all its circuits together.
        (required)
    latency
        Site to site, one way (about 5 us a km of fibre). (required)
    loss
        Probability that a packet is lost on its way between sites. (default 0)
    transport
        What a lost packet costs: tcp-reno (Mathis's law), tcp-cubic (RFC 9438), rdma-go-back-n
        (all packets under way are sent again), rdma-selective-repeat (the lost one). (default
        rdma-selective-repeat)
    connections
        Connections, or queue pairs, that one network card spreads its bytes over (NCCL on
        machines of 8 GPUs: 16 channels). (default 16)
    window
        Bytes that one connection has under way at most (NCCL_BUFFSIZE: 4 MiB). (default 4 MiB)
    packet
        Payload of a packet. (default 4 KiB)
    collective
        hierarchical: reduced inside each site, exchanged between ranks of one place, gathered
        inside; flat: one ring over all, as NCCL makes it. (default hierarchical)
    gradient_bits
        Bits of a gradient's value between sites, packed and unpacked by kernels; 0: as it is
        reduced inside. Scales and sparse indices count as bits. (default 0)
    use, source
        As described at the top of this module.
    """

    count: int = NOT_GIVEN
    bandwidth: str = NOT_GIVEN
    latency: str = NOT_GIVEN
    loss: float = NOT_GIVEN
    transport: Literal[
        "tcp-reno",
        "tcp-cubic",
        "rdma-go-back-n",
        "rdma-selective-repeat",
    ] = NOT_GIVEN
    connections: int = NOT_GIVEN
    window: str = NOT_GIVEN
    packet: str = NOT_GIVEN
    collective: Literal["hierarchical", "flat"] = NOT_GIVEN
    gradient_bits: float = NOT_GIVEN
    use: str | None = None
    source: str | None = None


@dataclass(frozen=True, kw_only=True)
class OtherJobSpec:
    """Jobs of others: nodes that are taken, and what they send.

    Attributes
    ----------
    name
        Name printed in reports. (required)
    nodes
        Its nodes: numbers from 0, and ranges such as 0-7. (required)
    pattern
        ring: each node sends to the next one of the list (data-parallel gradients); all_to_all:
        to all others alike (experts). (default ring)
    rate
        What each of its nodes sends into the fabric while nothing is in the way, over all its
        cards, without a pause. (required)
    use, source
        As described at the top of this module.
    """

    name: str = NOT_GIVEN
    nodes: Sequence[str] = NOT_GIVEN
    pattern: Literal["ring", "all_to_all"] = NOT_GIVEN
    rate: str = NOT_GIVEN
    use: str | None = None
    source: str | None = None


@dataclass(frozen=True, kw_only=True)
class OccupancySpec:
    """The fabric has more nodes than the job, and others are on it; absent: the job has a
    fabric of its own.

    Attributes
    ----------
    nodes
        Nodes of the whole fabric. (required)
    down
        Nodes that are out of order: numbers from 0, and ranges such as 0-7. (optional)
    jobs
        Jobs of others: nodes that are taken, and what they send. (optional)
    take
        Nodes that this job takes, in the order in which its ranks fill them; empty: the first
        that are free. (optional)
    use, source
        As described at the top of this module.
    """

    nodes: int = NOT_GIVEN
    down: Sequence[str] = NOT_GIVEN
    jobs: Sequence[OtherJobSpec] = NOT_GIVEN
    take: Sequence[str] = NOT_GIVEN
    use: str | None = None
    source: str | None = None


@dataclass(frozen=True, kw_only=True)
class PowerSpec:
    """What feeds racks and building; absent: enough for every board at its limit.

    Attributes
    ----------
    rack
        What feeds a rack of `run.recovery.rack_nodes` nodes of the job and its `rack_spares`;
        absent: enough. (optional)
    facility
        What the utility feeds the building: IT equipment times its PUE; absent: enough.
        (optional)
    pue
        Power usage effectiveness of the building; absent: that of `run.prices`, or 1 without
        prices. (optional)
    excess
        Where boards at their limit draw more: cap lowers the limit of all boards until rack and
        building feed them; refuse says so. (default cap)
    least_board
        Lowest limit that a board can be set to (`nvidia-smi -q -d power`: Min Power Limit);
        absent: 2/7 of its own. (optional)
    use, source
        As described at the top of this module.
    """

    rack: str | None = None
    facility: str | None = None
    pue: float | None = None
    excess: Literal["cap", "refuse"] = NOT_GIVEN
    least_board: str | None = None
    use: str | None = None
    source: str | None = None


@dataclass(frozen=True, kw_only=True)
class ClusterSpec:
    """The machine.

    Entries to `use`: configs/clusters.

    Attributes
    ----------
    nodes
        Nodes the job uses, spares not counted. (required)
    node
        The server. (required)
    other_nodes
        Kinds of nodes that the job's last nodes are of, in this order, and how many of each;
        empty: all are `node`. (optional)
    fabric
        The network between nodes. (required)
    storage
        Where checkpoints go and data is read from; only one step of a job needs none.
        (optional)
    spares
        Healthy nodes kept ready and paid for. (default 0)
    placement
        How ranks are put on nodes. (default packed)
    sites
        Sites that the nodes are spread over; absent: one. (optional)
    occupancy
        The fabric has more nodes than the job, and others are on it; absent: the job has a
        fabric of its own. (optional)
    power
        What feeds racks and building; absent: enough for every board at its limit. (optional)
    use, source
        As described at the top of this module.
    """

    nodes: int = NOT_GIVEN
    node: NodeSpec = NOT_GIVEN
    other_nodes: Sequence[OtherNodesSpec] = NOT_GIVEN
    fabric: FabricSpec = NOT_GIVEN
    storage: StorageSpec | None = None
    spares: int = NOT_GIVEN
    placement: Literal["packed", "rack", "random", "fragmented"] = NOT_GIVEN
    sites: SitesSpec | None = None
    occupancy: OccupancySpec | None = None
    power: PowerSpec | None = None
    use: str | None = None
    source: str | None = None


@dataclass(frozen=True, kw_only=True)
class FullAttentionSpec:
    """Heads of the layers without the window, where they are of their own; needs
    'window_period' or 'leading_full_layers'.

    Attributes
    ----------
    key_value_heads
        Their key and value heads. (required)
    head_dim
        Width of one of their heads. (required)
    shared_values
        One product makes keys and values, which differ by norm and rotation alone
        ('attention_k_eq_v'). (default false)
    value_dim
        Width of values of one of their heads; 0: that of keys. (default 0)
    use, source
        As described at the top of this module.
    """

    key_value_heads: int = NOT_GIVEN
    head_dim: int = NOT_GIVEN
    shared_values: bool = NOT_GIVEN
    value_dim: int = NOT_GIVEN
    use: str | None = None
    source: str | None = None


@dataclass(frozen=True, kw_only=True)
class LatentAttentionSpec:
    """Ranks of multi-latent attention.

    Attributes
    ----------
    query_rank
        Compression rank of queries; 0: queries are not compressed. (default 0)
    key_value_rank
        Compression rank of keys and values. (required)
    no_rope_dim
        Head dimension without rotary embedding. (required)
    rope_dim
        Head dimension with rotary embedding. (required)
    value_dim
        Head dimension of values. (required)
    use, source
        As described at the top of this module.
    """

    query_rank: int = NOT_GIVEN
    key_value_rank: int = NOT_GIVEN
    no_rope_dim: int = NOT_GIVEN
    rope_dim: int = NOT_GIVEN
    value_dim: int = NOT_GIVEN
    use: str | None = None
    source: str | None = None


@dataclass(frozen=True, kw_only=True)
class SparseAttentionSpec:
    """Sparse attention over compressed keys that an indexer chooses; needs 'latent'.

    Attributes
    ----------
    index_heads
        Heads of the indexer. (required)
    index_dim
        Width of its queries and of its key. (required)
    top_k
        Keys that a query attends to. (required)
    period
        One layer in this many has an indexer, the first of each period; the others attend to
        the keys that it chose (GLM-5.2: 4); 1: each has its own. (default 1)
    leading_layers
        Layers at the front with an indexer each, before the periods (GLM-5.2: 2). (default 0)
    use, source
        As described at the top of this module.
    """

    index_heads: int = NOT_GIVEN
    index_dim: int = NOT_GIVEN
    top_k: int = NOT_GIVEN
    period: int = NOT_GIVEN
    leading_layers: int = NOT_GIVEN
    use: str | None = None
    source: str | None = None


@dataclass(frozen=True, kw_only=True)
class NativeSparseSpec:
    """Native sparse attention (NSA): compressed blocks, chosen blocks and a window, added up by
    gates.

    Attributes
    ----------
    compressed_block
        Tokens of a block that is compressed to one key and one value. (default 32)
    stride
        Tokens from one compressed block to the next; divides both sizes of blocks. (default 16)
    selected_block
        Tokens of a block that is chosen by the scores of the compressed ones in it. (default
        64)
    selected_blocks
        Blocks that a query attends to token by token, one choice for all heads that share a
        key; the first and the last ones that are always chosen are among them. (default 16)
    window
        Last tokens that a query attends to. (default 512)
    value_dim
        Width of values of a head; 0: that of keys. (default 0)
    use, source
        As described at the top of this module.
    """

    compressed_block: int = NOT_GIVEN
    stride: int = NOT_GIVEN
    selected_block: int = NOT_GIVEN
    selected_blocks: int = NOT_GIVEN
    window: int = NOT_GIVEN
    value_dim: int = NOT_GIVEN
    use: str | None = None
    source: str | None = None


@dataclass(frozen=True, kw_only=True)
class ExpertsSpec:
    """Mixture of experts.

    Attributes
    ----------
    experts
        Routed experts in a layer. (required)
    top_k
        Experts a token visits. (required)
    shared_experts
        Experts every token visits. (default 0)
    ffn
        Inner width of one expert. (required)
    leading_dense_layers
        Layers at the front with a dense MLP of width `ffn`. (default 0)
    period
        One layer in this many has experts, the last of each period; 1: all after the leading
        dense ones. (default 1)
    imbalance
        Load of the busiest expert rank / mean load; all ranks wait for it. (default 1)
    load_spread
        Standard deviation of an expert's load in a micro-batch / mean, of learned routing: the
        busiest expert rank has more than its mean by what the number of ranks and of experts on
        each make of it, times `imbalance`; 0: even. (default 0)
    capacity_factor
        Tokens an expert takes at most / mean, the rest is dropped; 0: none is dropped. (default
        0)
    padded
        Experts compute all places of their capacity, empty ones too; needs 'capacity_factor'.
        (default false)
    routing_groups
        Groups the experts are divided into for routing (DeepSeek-V3: 8). (default 1)
    group_limit
        Routing groups that the experts of a token lie in at most; 0: all (DeepSeek-V3: 4).
        (default 0)
    biases
        Matrices of experts have biases, whatever the other matrices have (gpt-oss). (default
        false)
    latent
        Width that tokens are projected to before they go to routed experts, and back from after
        them; shared experts keep the model's (Nemotron 3 Super: 1,024); 0: none. (default 0)
    null_experts
        Experts beside `experts` that return a token as it is: what of `top_k` falls on them is
        neither sent nor computed (LongCat-Flash: 256). (default 0)
    limited_activation
        Both inputs of the experts' gated activation are cut off at a bound (gpt-oss: 7).
        (default false)
    use, source
        As described at the top of this module.
    """

    experts: int = NOT_GIVEN
    top_k: int = NOT_GIVEN
    shared_experts: int = NOT_GIVEN
    ffn: int = NOT_GIVEN
    leading_dense_layers: int = NOT_GIVEN
    period: int = NOT_GIVEN
    imbalance: float = NOT_GIVEN
    load_spread: float = NOT_GIVEN
    capacity_factor: float = NOT_GIVEN
    padded: bool = NOT_GIVEN
    routing_groups: int = NOT_GIVEN
    group_limit: int = NOT_GIVEN
    biases: bool = NOT_GIVEN
    latent: int = NOT_GIVEN
    null_experts: int = NOT_GIVEN
    limited_activation: bool = NOT_GIVEN
    use: str | None = None
    source: str | None = None


@dataclass(frozen=True, kw_only=True)
class MixerSpec:
    """Linear attention or state space of the layers that 'layer_pattern' gives it.

    Attributes
    ----------
    kind
        mamba1 (selective scan, a state a channel), mamba2 (state-space duality), gated_delta
        (gated delta network), kimi_delta (a decay for each channel), lightning (fixed decays,
        no convolution). (required)
    heads
        Heads; each has a state of key_dim x value_dim (mamba1: channels, value_dim 1).
        (required)
    key_heads
        Heads of keys and queries (mamba2: groups of B and C), each shared by equally many
        heads; 0: as many as heads (mamba1: one). (default 0)
    key_dim
        Width of a key (mamba1, mamba2: the state size). (required)
    value_dim
        Width of a value (mamba2: the head dimension). (required)
    convolution
        Tokens that the causal convolution before the state sees; 0: there is none. (default 4)
    chunk
        Tokens of a chunk: inside one tokens meet as in attention, between chunks states are
        passed on (mamba1 has none). (default 64)
    step_rank
        mamba1: width from which the time steps of all channels are made (dt_rank). (default 0)
    norm
        A norm of the mixer's output before its projection (mamba1: of the step's rank, B and C,
        as Jamba has them). (default true)
    use, source
        As described at the top of this module.
    """

    kind: Literal["mamba1", "mamba2", "gated_delta", "kimi_delta", "lightning"] = NOT_GIVEN
    heads: int = NOT_GIVEN
    key_heads: int = NOT_GIVEN
    key_dim: int = NOT_GIVEN
    value_dim: int = NOT_GIVEN
    convolution: int = NOT_GIVEN
    chunk: int = NOT_GIVEN
    step_rank: int = NOT_GIVEN
    norm: bool = NOT_GIVEN
    use: str | None = None
    source: str | None = None


@dataclass(frozen=True, kw_only=True)
class AdaptersSpec:
    """Low-rank adapters (LoRA): they alone are trained, and the model's own weights stay as
    they are; absent: the model itself is trained.

    Attributes
    ----------
    rank
        Columns of the first matrix of an adapter, rows of the second. (required)
    products
        Matrices that have an adapter: query, key, value and output of attention; gate, up and
        down of dense MLPs and shared experts; experts: all matrices of routed experts, each
        with its own. Empty: all that a model has. (optional)
    base
        The frozen matrices of layers in memory. full: in the format of other weights; nf4: in
        4.127 bits each (QLoRA with double quantization), made 16 bits wide before each product.
        (default full)
    dropout
        Dropout of each adapter's input, of which each keeps a copy of its own. (default false)
    use, source
        As described at the top of this module.
    """

    rank: int = NOT_GIVEN
    products: Sequence[Literal["query", "key", "value", "output", "gate", "up", "down", "experts"]] = NOT_GIVEN
    base: Literal["full", "nf4"] = NOT_GIVEN
    dropout: bool = NOT_GIVEN
    use: str | None = None
    source: str | None = None


@dataclass(frozen=True, kw_only=True)
class FrozenSpec:
    """Parts that are not trained; beside 'adapters': layers at the front without them.

    Attributes
    ----------
    layers
        Decoder layers at the front that are not trained. (default 0)
    embedding
        The embedding is not trained; false: it is, and gradients pass through frozen layers.
        (default true)
    head
        The last norm and the output matrix are not trained; beside adapters they never are.
        (default false)
    use, source
        As described at the top of this module.
    """

    layers: int = NOT_GIVEN
    embedding: bool = NOT_GIVEN
    head: bool = NOT_GIVEN
    use: str | None = None
    source: str | None = None


@dataclass(frozen=True, kw_only=True)
class SixteenBitLayersSpec:
    """Layers at both ends whose products have 16-bit operands beside a narrow
    'training.precision'; absent: none.

    Attributes
    ----------
    first
        Layers from the first on. (default 1)
    last
        Layers up to the last. (default 1)
    use, source
        As described at the top of this module.
    """

    first: int = NOT_GIVEN
    last: int = NOT_GIVEN
    use: str | None = None
    source: str | None = None


@dataclass(frozen=True, kw_only=True)
class VisionSpec:
    """An encoder of images; its tokens are among those of a sequence. Absent: text alone.

    Attributes
    ----------
    layers
        Layers of the encoder. (required)
    hidden
        Its width. (required)
    heads
        Its heads, each with keys and values of its own. (required)
    ffn
        Inner width of its MLP. (required)
    gated_mlp
        Three matrices (SwiGLU) instead of two. (default false)
    biases
        Its linear layers and norms have biases. (default true)
    rotary
        Rotary embedding of queries and keys. (default false)
    patch
        Pixels of a side of a patch. (default 14)
    frames
        Frames of a patch; an image is repeated (Qwen2-VL and its successors: 2). (default 1)
    positions
        Rows of a learned position table; 0: none. (default 0)
    window
        Patches of a window that attend to each other; 0: all of an image. (default 0)
    window_period
        One layer in this many, the last of each period, attends to the whole image; 1: all have
        the window. (default 1)
    merge
        Side of the square of patches that become one token of the language model. (default 1)
    pooled
        The patches of a square are averaged; false: they are joined into a wider one. (default
        false)
    projector_ffn
        Inner width of a projector of two matrices; 0: one matrix, without biases. (default 0)
    projectors
        Projectors: one after the last layer, and one for each layer in between whose output
        goes to the language model too (DeepStack). (default 1)
    trained
        What of it is trained: all, the projectors alone, or none of it. (default all)
    tensor
        On tensor ranks: split: divided as the language model; whole: a copy on each, and all
        compute the same. (default split)
    context
        On context ranks: whole: all images of a sequence on each, and all compute the same;
        split: whole images are dealt, and their tokens gathered. (default whole)
    stage
        first: on the pipeline's first stage, beside its layers; own: on GPUs of its own, a
        stage more in front, which 'pipeline' counts. (default first)
    use, source
        As described at the top of this module.
    """

    layers: int = NOT_GIVEN
    hidden: int = NOT_GIVEN
    heads: int = NOT_GIVEN
    ffn: int = NOT_GIVEN
    gated_mlp: bool = NOT_GIVEN
    biases: bool = NOT_GIVEN
    rotary: bool = NOT_GIVEN
    patch: int = NOT_GIVEN
    frames: int = NOT_GIVEN
    positions: int = NOT_GIVEN
    window: int = NOT_GIVEN
    window_period: int = NOT_GIVEN
    merge: int = NOT_GIVEN
    pooled: bool = NOT_GIVEN
    projector_ffn: int = NOT_GIVEN
    projectors: int = NOT_GIVEN
    trained: Literal["all", "projector", "none"] = NOT_GIVEN
    tensor: Literal["split", "whole"] = NOT_GIVEN
    context: Literal["whole", "split"] = NOT_GIVEN
    stage: Literal["first", "own"] = NOT_GIVEN
    use: str | None = None
    source: str | None = None


@dataclass(frozen=True, kw_only=True)
class ModelSpec:
    """What is trained.

    Entries to `use`: configs/models.

    Attributes
    ----------
    name
        Name printed in reports. (required)
    layers
        Decoder layers. (required)
    hidden
        Width of the residual stream. (required)
    heads
        Query heads. (required)
    key_value_heads
        Key and value heads; equal to heads without grouping. (required)
    head_dim
        Width of one head; not always hidden / heads. (required)
    value_dim
        Width of values of a head; 0: that of keys (MiMo-V2-Flash: 128 beside 192). (default 0)
    ffn
        Inner width of the dense MLP. (required)
    gated_mlp
        Three matrices (SwiGLU) instead of two. (default true)
    vocabulary
        Rows of the embedding as trained (padding included). (required)
    tied_embeddings
        Input and output embedding share their weights. (default false)
    biases
        Linear layers and norms have biases (GPT-2, GPT-3). (default false)
    dropout
        Dropout after attention, projection and MLP; absent: where there are biases. (optional)
    learned_positions
        Rows of a learned position table, in place of rotary embedding; 0: none. (default 0)
    rotary
        Rotary embedding of queries and keys where no positions are learned; false: ALiBi.
        (default true)
    scaled_rotary
        Its sines and cosines have a factor that is not 1 (YaRN's attention factor; gpt-oss:
        1.35). (default false)
    norms
        Norms of the residual stream in a layer: 2; 1 in a parallel block with one norm
        (Falcon-7B, Command R); 4 with one before and one after each half (Gemma 2). (default 2)
    query_key_norm
        Norms of queries and keys (Qwen3, OLMo 2). (default false)
    attention_gate
        Queries come with a gate as wide, which multiplies attention's output (Qwen3-Next).
        (default false)
    parallel_block
        Attention and MLP start from the same input and are added up before one reduction
        (GPT-J, Falcon, Command R). (default false)
    attention
        Kind of attention. (default gqa)
    window
        Tokens a sliding-window layer sees; 0: no window. (default 0)
    window_period
        One layer in this many has full attention, the others the window; 1: all have the
        window. (default 1)
    leading_full_layers
        Layers at the front with full attention, whatever 'window_period' gives them
        (MiMo-V2-Flash: 1). (default 0)
    chunked_window
        The window does not slide: a sequence is cut into pieces of `window` tokens that do not
        attend to each other (Llama 4). (default false)
    full_attention
        Heads of the layers without the window, where they are of their own; needs
        'window_period' or 'leading_full_layers'. (optional)
    latent
        Ranks of multi-latent attention. (optional)
    sparse
        Sparse attention over compressed keys that an indexer chooses; needs 'latent'.
        (optional)
    native_sparse
        Native sparse attention (NSA): compressed blocks, chosen blocks and a window, added up
        by gates. (optional)
    moe
        Mixture of experts. (optional)
    mixer
        Linear attention or state space of the layers that 'layer_pattern' gives it. (optional)
    layer_pattern
        What layers consist of, repeated over the model; empty: attention in all. attention,
        mixer and both (side by side, Falcon-H1) are followed by an MLP or experts;
        attention_only, mixer_only, mlp_only and experts_only are one half each (Nemotron-H).
        (optional)
    multi_token_prediction
        Extra prediction layers (DeepSeek-V3: 1). (default 0)
    dense_prediction
        Prediction layers have a dense MLP, whatever the last layer has (MiMo-V2-Flash).
        (default false)
    windowed_prediction
        Prediction layers have the window, whatever the last layer has (MiMo-V2-Flash). (default
        false)
    adapters
        Low-rank adapters (LoRA): they alone are trained, and the model's own weights stay as
        they are; absent: the model itself is trained. (optional)
    frozen
        Parts that are not trained; beside 'adapters': layers at the front without them.
        (optional)
    sixteen_bit_layers
        Layers at both ends whose products have 16-bit operands beside a narrow
        'training.precision'; absent: none. (optional)
    vision
        An encoder of images; its tokens are among those of a sequence. Absent: text alone.
        (optional)
    huggingface
        Path of a Hugging Face config.json, instead of `use`.
    use, source
        As described at the top of this module.
    """

    name: str = NOT_GIVEN
    layers: int = NOT_GIVEN
    hidden: int = NOT_GIVEN
    heads: int = NOT_GIVEN
    key_value_heads: int = NOT_GIVEN
    head_dim: int = NOT_GIVEN
    value_dim: int = NOT_GIVEN
    ffn: int = NOT_GIVEN
    gated_mlp: bool = NOT_GIVEN
    vocabulary: int = NOT_GIVEN
    tied_embeddings: bool = NOT_GIVEN
    biases: bool = NOT_GIVEN
    dropout: bool | None = None
    learned_positions: int = NOT_GIVEN
    rotary: bool = NOT_GIVEN
    scaled_rotary: bool = NOT_GIVEN
    norms: int = NOT_GIVEN
    query_key_norm: bool = NOT_GIVEN
    attention_gate: bool = NOT_GIVEN
    parallel_block: bool = NOT_GIVEN
    attention: Literal["mha", "gqa", "mla", "sliding_window"] = NOT_GIVEN
    window: int = NOT_GIVEN
    window_period: int = NOT_GIVEN
    leading_full_layers: int = NOT_GIVEN
    chunked_window: bool = NOT_GIVEN
    full_attention: FullAttentionSpec | None = None
    latent: LatentAttentionSpec | None = None
    sparse: SparseAttentionSpec | None = None
    native_sparse: NativeSparseSpec | None = None
    moe: ExpertsSpec | None = None
    mixer: MixerSpec | None = None
    layer_pattern: Sequence[Literal["attention", "mixer", "both", "attention_only", "mixer_only", "mlp_only", "experts_only"]] = NOT_GIVEN
    multi_token_prediction: int = NOT_GIVEN
    dense_prediction: bool = NOT_GIVEN
    windowed_prediction: bool = NOT_GIVEN
    adapters: AdaptersSpec | None = None
    frozen: FrozenSpec | None = None
    sixteen_bit_layers: SixteenBitLayersSpec | None = None
    vision: VisionSpec | None = None
    huggingface: str | None = None
    use: str | None = None
    source: str | None = None


@dataclass(frozen=True, kw_only=True)
class DocumentLength:
    """Lengths of the documents packed into a sequence, which do not attend to each other: a
    list, or a CSV file beside this one (tokens,share; or one length a line). Empty: a sequence
    is one document.

    Attributes
    ----------
    tokens
        Tokens of a document. (required)
    share
        Documents of this length, relative to the others. (default 1)
    use, source
        As described at the top of this module.
    """

    tokens: int = NOT_GIVEN
    share: float = NOT_GIVEN
    use: str | None = None
    source: str | None = None


@dataclass(frozen=True, kw_only=True)
class ImageSize:
    """How large images are, each size with its share.

    Attributes
    ----------
    tokens
        Tokens of the language model that an image takes, merged. (required)
    share
        Images of this size, relative to the others. (default 1)
    use, source
        As described at the top of this module.
    """

    tokens: int = NOT_GIVEN
    share: float = NOT_GIVEN
    use: str | None = None
    source: str | None = None


@dataclass(frozen=True, kw_only=True)
class ImagesSpec:
    """Images of a sequence; belongs to a model with 'vision'.

    Attributes
    ----------
    per_sequence
        Images of a sequence, in the mean over sequences; their tokens are among those of the
        sequence. (required)
    deviation
        Standard deviation of the images of a sequence; 0: all have the mean. (default 0)
    sizes
        How large images are, each size with its share. (required)
    use, source
        As described at the top of this module.
    """

    per_sequence: float = NOT_GIVEN
    deviation: float = NOT_GIVEN
    sizes: Sequence[ImageSize] = NOT_GIVEN
    use: str | None = None
    source: str | None = None


@dataclass(frozen=True, kw_only=True)
class Nvfp4Spec:
    """With 'precision: nvfp4': scales of whole arrays and transforms of NVIDIA's recipe, as
    traffic; absent: operands are rounded in one pass.

    Attributes
    ----------
    hadamard
        Operands of weight gradients pass a random Hadamard transform of 16 tokens before they
        are rounded, in a pass of its own. (default true)
    use, source
        As described at the top of this module.
    """

    hadamard: bool = NOT_GIVEN
    use: str | None = None
    source: str | None = None


@dataclass(frozen=True, kw_only=True)
class PreconditionerSpec:
    """Blocks and decompositions of shampoo and soap; absent: their defaults.

    Attributes
    ----------
    block
        Longest side of a block; longer matrices are cut, and each block has factors of its own
        (max_preconditioner_dim). (default 1024)
    every
        Steps from one decomposition of the factors to the next (precondition_frequency); auto:
        100 with shampoo, 10 with soap. (default auto)
    batched
        Blocks of one shape are multiplied and decomposed together; false: one after another.
        (default false)
    use, source
        As described at the top of this module.
    """

    block: int = NOT_GIVEN
    every: int | Literal["auto"] = NOT_GIVEN
    batched: bool = NOT_GIVEN
    use: str | None = None
    source: str | None = None


@dataclass(frozen=True, kw_only=True)
class MuonSpec:
    """Settings of muon; absent: their defaults.

    Attributes
    ----------
    tensor_mode
        Matrices that tensor ranks divide: duplicated, each rank gathers the momentum and makes
        the whole matrix orthogonal; distributed, each multiplies its part and they sum the Gram
        matrix of every iteration; blockwise, each part is a matrix of its own (another update).
        Megatron-Core's muon_tp_mode. (default duplicated)
    use, source
        As described at the top of this module.
    """

    tensor_mode: Literal["blockwise", "duplicated", "distributed"] = NOT_GIVEN
    use: str | None = None
    source: str | None = None


@dataclass(frozen=True, kw_only=True)
class HostSpec:
    """What the software asks of the CPU that drives a GPU.

    Attributes
    ----------
    launch
        CPU time to launch one kernel: Python, the dispatcher, autograd, the driver. (default 5
        us)
    loop_launch
        CPU time of each further launch of a loop of library calls, which no Python stands
        between: products of experts one by one (grouped_launch: false). (default 5 us)
    collective
        CPU time to start one collective and to make what follows wait for it. (default 0 s)
    layer
        CPU time of one pass through a layer beside its launches and collectives: calls of
        modules, their hooks, autograd functions written in Python. (default 0 s)
    token_counts
        Time the GPU waits in each pass through a layer of experts while the CPU reads how many
        tokens each expert has and launches what follows. (default 0 s)
    piece
        Where updated weights are gathered at the end of the step (gather_overlap: false): CPU
        time to copy one rank's piece of one weight into its place, with sharding that gives
        each data rank a piece of every weight; 0: weights are gathered in place. (default 0 s)
    stall
        Where pipeline messages leave the NVLink domain: time that the launches of each rank
        stand still / time they take. A rank that stands still holds its tensor group, so the
        group's stalls add up. (default 0)
    use, source
        As described at the top of this module.
    """

    launch: str = NOT_GIVEN
    loop_launch: str = NOT_GIVEN
    collective: str = NOT_GIVEN
    layer: str = NOT_GIVEN
    token_counts: str = NOT_GIVEN
    piece: str = NOT_GIVEN
    stall: float = NOT_GIVEN
    use: str | None = None
    source: str | None = None


@dataclass(frozen=True, kw_only=True)
class AllocationSpec:
    """What it allocates beside the model's own tensors, and how its allocator holds memory.

    Attributes
    ----------
    slack
        Memory that the allocator holds and no tensor has / that of tensors, at the peak: 0.064
        PyTorch's caching allocator; less with expandable segments; 0: buffers assigned when the
        program is compiled (XLA). (default 0.06382978723404253)
    retry
        Time that each pass of a stage loses where its rank needs more memory than the GPU has:
        the allocator finds no room, gives what no tensor has back to the driver and asks for it
        again; 0: such a step is simulated as if it fitted. (default 0 s)
    bucket_bytes
        Bytes a parameter of buckets that gradients are copied into to be reduced, beside the
        gradient buffer, where weights have replicas (zero0, zero1; PyTorch's
        DistributedDataParallel). (default 0)
    narrow_weights
        With 8-bit operands the layers' weights are held in that format alone, no 16-bit ones
        beside the fp32 masters (Megatron-LM, --fp8-param-gather). (default false)
    empty_gradients
        Products add to the gradient buffer themselves and hand an empty gradient of 16 bits to
        autograd: one for each shape of a layer's weights stays, the head's while its gradient
        is computed (Transformer Engine). (default false)
    gathered_inputs
        With sequence parallelism the inputs of attention and MLP are kept as they were
        gathered, whole on each tensor rank; false: only the own share, gathered again in
        backward. (default false)
    root_gathered
        zero3, hsdp: embedding, last norm and head are one group that stays gathered from the
        first forward to the last backward (FSDP's root). (default false)
    gather_pool
        zero3, hsdp: weights arrive in a buffer of the communication's stream and are copied out
        of it; what the allocator has for that stream no other gets (FSDP2). (default false)
    sent_outputs
        A stage keeps what it sent on to the next one until the micro-batch comes back
        (DeepSpeed's and PyTorch's pipelines); false: it is given back once sent (Megatron-Core,
        deallocate_output_tensor). (default false)
    use, source
        As described at the top of this module.
    """

    slack: float = NOT_GIVEN
    retry: str = NOT_GIVEN
    bucket_bytes: float = NOT_GIVEN
    narrow_weights: bool = NOT_GIVEN
    empty_gradients: bool = NOT_GIVEN
    gathered_inputs: bool = NOT_GIVEN
    root_gathered: bool = NOT_GIVEN
    gather_pool: bool = NOT_GIVEN
    sent_outputs: bool = NOT_GIVEN
    use: str | None = None
    source: str | None = None


@dataclass(frozen=True, kw_only=True)
class RecomputeAbilitySpec:
    """The recomputation that the software has. All of it can be simulated.

    Attributes
    ----------
    parts
        Parts of a layer that it recomputes by themselves: of these 'headway plan' chooses, and
        a run of others is warned; empty: all. (optional)
    parts_with_experts
        Of these parts those that it has in models with experts alone. (optional)
    layers
        Layers that recompute: each: as many of every chunk as asked for; alike: fully, as many
        of one chunk as of the others, by parts all of them; nth: one in n; all. (default each)
    use, source
        As described at the top of this module.
    """

    parts: Sequence[Literal["core_attention", "latent_up", "norms", "activation", "mlp", "experts", "operators"]] = NOT_GIVEN
    parts_with_experts: Sequence[Literal["core_attention", "latent_up", "norms", "activation", "mlp", "experts", "operators"]] = NOT_GIVEN
    layers: Literal["each", "alike", "nth", "all"] = NOT_GIVEN
    use: str | None = None
    source: str | None = None


@dataclass(frozen=True, kw_only=True)
class RefusalSpec:
    """Combinations that it does not start: 'headway plan' leaves them out, a run of one is
    warned and simulated as if it started.

    Attributes
    ----------
    sharding
        Shardings, any of which is refused; empty: whatever it is. (optional)
    schedule
        Pipeline schedules, likewise; of layouts of several stages alone. (optional)
    precision
        Formats of the matrix products, likewise. (optional)
    beside
        What such a layout has too: pipeline: several stages; expert: several expert ranks;
        accumulation: one stage and several micro-batches; uneven-stages: chunks with different
        numbers of layers; recompute: of any kind; context: several context ranks;
        other-data-ranks: tensor x context is not expert x expert tensor (without experts:
        several context ranks). (optional)
    offload
        What goes to the host, likewise. (optional)
    rank_order
        Orders of ranks, likewise; of layouts of several stages alone. (optional)
    use, source
        As described at the top of this module.
    """

    sharding: Sequence[Literal["zero0", "zero1", "zero2", "zero3", "hsdp"]] = NOT_GIVEN
    schedule: Sequence[Literal["gpipe", "1f1b", "interleaved", "zb-h1", "zb-h2", "zb-v", "dualpipe", "dualpipe-v"]] = NOT_GIVEN
    precision: Sequence[Literal["fp32", "tf32", "bf16", "fp16", "fp8", "mxfp8", "nvfp4"]] = NOT_GIVEN
    beside: Sequence[Literal["pipeline", "expert", "accumulation", "uneven-stages", "recompute", "context", "other-data-ranks"]] = NOT_GIVEN
    offload: Sequence[Literal["none", "optimizer", "activations", "all"]] = NOT_GIVEN
    rank_order: Sequence[Literal["tp-cp-dp-pp", "tp-cp-pp-dp"]] = NOT_GIVEN
    use: str | None = None
    source: str | None = None


@dataclass(frozen=True, kw_only=True)
class UsualRunSpec:
    """How its runs are usually laid out: what 'headway validate' takes where a published run
    does not say.

    Attributes
    ----------
    precision
        Operand format of the matrix products. (default bf16)
    recompute
        What is recomputed; where that does not fit the memory, the next stronger kind. (default
        none)
    selective_parts
        Parts that 'selective' recomputes; empty: core_attention. (optional)
    micro_batch_tokens
        Tokens of a micro-batch, rounded down to whole sequences; 0: one sequence. (default 0)
    most_virtual_stages
        Chunks of a stage: the largest divisor of its layers up to this; 1: never divided.
        (default 1)
    sequence
        Sequence parallelism wherever there is tensor parallelism. (default false)
    sharding
        What data-parallel ranks shard. (default zero1)
    context_kind
        How a context group exchanges keys and values. (default ring)
    vocabulary_multiple
        The vocabulary of each tensor rank is padded to a multiple of this. (default 1)
    experts_follow_tensor
        Experts are divided over the tensor ranks (expert_tensor = tensor), but those of models
        with latent attention. (default false)
    stages_by_cost
        Layers are divided over the stages by the weights that they multiply with, those of the
        head counted. (default false)
    dropout
        Whether its models train with dropout; unstated: those with biases do. (optional)
    reported_memory
        What its logs call the peak of memory: allocated: tensors alone; reserved: what the
        allocator holds; device: all that the driver shows. (default device)
    reporting_stage
        Of a pipeline, whose peak that is: of the stage whose GPU is fullest, of the first (rank
        0 prints), of the last (the rank that has the loss prints). (default fullest)
    use, source
        As described at the top of this module.
    """

    precision: Literal["fp32", "tf32", "bf16", "fp16", "fp8", "mxfp8", "nvfp4"] = NOT_GIVEN
    recompute: Literal["none", "selective", "full"] = NOT_GIVEN
    selective_parts: Sequence[Literal["core_attention", "latent_up", "norms", "activation", "mlp", "experts", "operators"]] = NOT_GIVEN
    micro_batch_tokens: int = NOT_GIVEN
    most_virtual_stages: int = NOT_GIVEN
    sequence: bool = NOT_GIVEN
    sharding: Literal["zero0", "zero1", "zero2", "zero3", "hsdp"] = NOT_GIVEN
    context_kind: Literal["ring", "all-gather", "all-to-all"] = NOT_GIVEN
    vocabulary_multiple: int = NOT_GIVEN
    experts_follow_tensor: bool = NOT_GIVEN
    stages_by_cost: bool = NOT_GIVEN
    dropout: bool | None = None
    reported_memory: Literal["allocated", "reserved", "device"] = NOT_GIVEN
    reporting_stage: Literal["fullest", "first", "last"] = NOT_GIVEN
    use: str | None = None
    source: str | None = None


@dataclass(frozen=True, kw_only=True)
class FrameworkSpec:
    """What the training software fuses and overlaps.

    Entries to `use`: configs/frameworks.

    Attributes
    ----------
    name
        Name printed in reports. (default generic)
    attention_kernels
        newest: the best for the GPU; unfused: products, softmax and dropout apart, scores reach
        memory; flash2, flash3 (Hopper): FlashAttention; cudnn: cuDNN's fused kernels; sdpa:
        what PyTorch chooses, FlashAttention-2, on Blackwell cuDNN. GPUs before Ampere run sdpa
        alone, all else unfused. (default newest)
    loss
        Cross entropy: fused (or compiled): one pass over 16-bit logits; in-place: in fp32, the
        gradient in the place of the probabilities (Megatron); copied: the same from a copy,
        fp32 logits beside it in forward (nanotron); separate: PyTorch's operators in fp32 one
        by one, each with an array of its own. (default fused)
    elementwise
        Norms, rotary embedding, activation, bias, dropout and residual: fused: kernels written
        by hand; compiled: made by a compiler, as few; eager: PyTorch's operators one by one.
        (default fused)
    fused_norms
        With elementwise eager: a norm is one kernel all the same (Triton, Apex). (default
        false)
    fused_rotary
        With elementwise eager: the rotary embedding of queries, and of keys, is one kernel all
        the same (FlashAttention's). (default false)
    fused_scaled_rotary
        With elementwise fused: so is one whose sines and cosines have a factor; false:
        PyTorch's operators one by one, as the kernel takes none (Transformer Engine). (default
        true)
    copied_heads
        Queries, keys and values are copied into the layout of attention's kernel; keys and
        values are joined for the rotary embedding and copied once more (permute and
        contiguous). (default false)
    joined_gate
        With elementwise eager: both inputs of the MLP's gate are halves of one array, whose
        gradients are joined by a copy (torch.split). (default false)
    separate_projections
        Queries, keys and values, and the MLP's gate and its other input, are products of their
        own, the gradients of whose common input are added up. (default false)
    joined_heads
        Values are a part of the product of queries, keys and values, not a copy (with
        copied_heads: queries are, of its copy, where there are as many keys): all of it stays
        for backward beside queries and keys turned by their positions, and the gradients of the
        three are joined by a copy (torch.split). (default false)
    recompute_elementwise
        Backward recomputes the outputs of norms and of the MLP's activation instead of keeping
        them. (default false)
    narrow_activations
        With a format narrower than bf16 the inputs of the MLP's activation are kept in it, and
        of attention's output one copy of 12 bits (E5M6, DeepSeek-V3) in place of two. (default
        false)
    tensor_overlap
        Tensor-parallel collectives run beside the matrix products (user buffers). (default
        false)
    pipeline_overlap
        Stages send while they compute. (default true)
    data_overlap
        Gradient reduction and parameter gathering run beside backward and forward. (default
        true)
    gather_overlap
        With data_overlap, zero1, zero2 and weights that stay gathered: they are gathered beside
        the next forward pass; false: after the update, before the next step. (default true)
    scatter_overlap
        With data_overlap and zero1: gradients are reduced and scattered beside the last
        backward pass; false: after it, though zero0's reductions run beside it. (default true)
    context_overlap
        A ring of context ranks passes keys and values on beside attention; false: before it.
        (default true)
    gather_once
        zero3, hsdp in a pipeline: weights are gathered for the first micro-batch and stay,
        gradients are kept whole and reduced after the last (FSDP2); false: for every
        micro-batch. (default false)
    narrow_gathers
        zero3, hsdp: weights of narrow products are gathered in their narrow format; with
        tensorwise scales activations between tensor ranks too. (default false)
    scaling
        Scales of fp8 operands: delayed: those of earlier steps, one pass; tensor: the largest
        element is searched first; row: a scale a row and another a column, two passes; block: a
        scale a block, both ways. (default delayed)
    gradient_bucket
        Gradients whose weights have replicas (zero0 to zero2) are reduced in buckets of this
        size, counted in the format of the weights: small layers together, large ones in pieces
        (PyTorch's DistributedDataParallel, 25 MiB). Without it whole layers together, 40
        million parameters and more (Megatron-Core). (optional)
    gradient_bytes
        Bytes a parameter of the gradient buffer. (default 4)
    reduce_bytes
        Bytes a parameter when gradients are reduced. (default 4)
    accumulation_bytes
        Bytes a parameter that are moved after each micro-batch beside the weight gradient
        itself: copies, fp32 accumulation outside the product. (default 0)
    gemm_share
        Rate of matrix products / that of tuned libraries on this GPU. (default 1)
    attention_share
        Rate of attention kernels / that of the GPU's newest tuned ones. (default 1)
    tensor_interference
        Compute time lost a second of tensor-parallel collective that runs beside it (SMs,
        memory, chunks that wait). (default 0)
    data_interference
        Compute time lost a second of data-parallel or context-parallel transfer that runs
        beside it. (default 0)
    scatter_gather_p2p
        Each tensor rank sends its share between stages, not the whole. (default true)
    cuda_graphs
        Kernels are launched from recorded graphs. (default false)
    attention_graphs
        In layers of experts attention and routing are launched from recorded graphs, the
        experts' kernels one by one. (default false)
    expert_dispatch
        all-to-all: a copy of a token for each of its experts; deduplicated: one copy for each
        GPU that holds some of them, and one over the network for each NVLink domain (DeepEP,
        HybridEP); all-gather: all tokens of the expert group go to each of its GPUs. (default
        all-to-all)
    dispatch_bytes
        Bytes an element of tokens on their way to experts (1: fp8 dispatch); they come back in
        16 bits. (default 2)
    expert_overlap
        Tokens travel to experts and back beside the computation of another micro-batch.
        (default false)
    expert_interference
        Compute time lost a second of such travel beside it. (default 0)
    grouped_launch
        The CPU launches the products of all experts of a GPU as one; false: one by one (a loop
        over library calls). (default true)
    joined_experts
        Experts are modules of their own, one after the other: their outputs are copied into one
        array, and the gradients of their inputs. (default false)
    fused_permute
        One kernel sorts tokens by expert and one weights their results and adds them up; false:
        a product and a sum over scattered rows, one operator after the other. (default true)
    wide_probabilities
        The router's probabilities are fp32, and so is what operators of their own weight by
        them; false: both are in the activations' format. One copy a GPU (expert_dispatch:
        deduplicated) takes fp32 alone. (default true)
    fused_expert_bias
        The product of experts adds the biases of its rows, weighted by each token's
        probability; false: kernels of their own do, in fp32. (default false)
    fused_expert_limits
        The kernel of the experts' activation cuts its inputs off at their bound; false:
        PyTorch's operators do before it, one by one. (default true)
    padded_expert_rows
        With narrow operands the rows of each expert are copied to a multiple of what the
        product asks for, and its results back; false: routing pads them. (default false)
    host
        What the software asks of the CPU that drives a GPU. (optional)
    allocation
        What it allocates beside the model's own tensors, and how its allocator holds memory.
        (optional)
    step_overhead
        Fixed time of a step outside the model. (default 0 s)
    message_overhead
        Time a stage loses at each pipeline message it receives: the scheduler's own work and
        launching the transfer. (default 0 s)
    schedules
        Pipeline schedules that the software has: what 'headway plan' tries where
        'search.schedule' lists none; empty: all. Every schedule can be simulated. (optional)
    shardings
        What its data-parallel ranks can shard: what 'headway plan' tries where
        'search.sharding' lists none; empty: all. (optional)
    context_kinds
        Its kinds of context parallelism, likewise for 'search.context_kind'. (optional)
    recomputes
        The recomputation that the software has. All of it can be simulated. (optional)
    refuses
        Combinations that it does not start: 'headway plan' leaves them out, a run of one is
        warned and simulated as if it started. (optional)
    launch_file
        Whose launch file 'headway plan --save' writes beside each plan: of those that 'headway
        export' has. (default none)
    usual
        How its runs are usually laid out: what 'headway validate' takes where a published run
        does not say. (optional)
    use, source
        As described at the top of this module.
    """

    name: str = NOT_GIVEN
    attention_kernels: Literal[
        "newest",
        "unfused",
        "flash2",
        "flash3",
        "cudnn",
        "sdpa",
    ] = NOT_GIVEN
    loss: Literal["fused", "in-place", "copied", "separate"] = NOT_GIVEN
    elementwise: Literal["fused", "compiled", "eager"] = NOT_GIVEN
    fused_norms: bool = NOT_GIVEN
    fused_rotary: bool = NOT_GIVEN
    fused_scaled_rotary: bool = NOT_GIVEN
    copied_heads: bool = NOT_GIVEN
    joined_gate: bool = NOT_GIVEN
    separate_projections: bool = NOT_GIVEN
    joined_heads: bool = NOT_GIVEN
    recompute_elementwise: bool = NOT_GIVEN
    narrow_activations: bool = NOT_GIVEN
    tensor_overlap: bool = NOT_GIVEN
    pipeline_overlap: bool = NOT_GIVEN
    data_overlap: bool = NOT_GIVEN
    gather_overlap: bool = NOT_GIVEN
    scatter_overlap: bool = NOT_GIVEN
    context_overlap: bool = NOT_GIVEN
    gather_once: bool = NOT_GIVEN
    narrow_gathers: bool = NOT_GIVEN
    scaling: Literal["delayed", "tensor", "row", "block"] = NOT_GIVEN
    gradient_bucket: str | None = None
    gradient_bytes: float = NOT_GIVEN
    reduce_bytes: float = NOT_GIVEN
    accumulation_bytes: float = NOT_GIVEN
    gemm_share: float = NOT_GIVEN
    attention_share: float = NOT_GIVEN
    tensor_interference: float = NOT_GIVEN
    data_interference: float = NOT_GIVEN
    scatter_gather_p2p: bool = NOT_GIVEN
    cuda_graphs: bool = NOT_GIVEN
    attention_graphs: bool = NOT_GIVEN
    expert_dispatch: Literal["all-to-all", "deduplicated", "all-gather"] = NOT_GIVEN
    dispatch_bytes: float = NOT_GIVEN
    expert_overlap: bool = NOT_GIVEN
    expert_interference: float = NOT_GIVEN
    grouped_launch: bool = NOT_GIVEN
    joined_experts: bool = NOT_GIVEN
    fused_permute: bool = NOT_GIVEN
    wide_probabilities: bool = NOT_GIVEN
    fused_expert_bias: bool = NOT_GIVEN
    fused_expert_limits: bool = NOT_GIVEN
    padded_expert_rows: bool = NOT_GIVEN
    host: HostSpec = NOT_GIVEN
    allocation: AllocationSpec = NOT_GIVEN
    step_overhead: str = NOT_GIVEN
    message_overhead: str = NOT_GIVEN
    schedules: Sequence[Literal["gpipe", "1f1b", "interleaved", "zb-h1", "zb-h2", "zb-v", "dualpipe", "dualpipe-v"]] = NOT_GIVEN
    shardings: Sequence[Literal["zero0", "zero1", "zero2", "zero3", "hsdp"]] = NOT_GIVEN
    context_kinds: Sequence[Literal["ring", "all-gather", "all-to-all"]] = NOT_GIVEN
    recomputes: RecomputeAbilitySpec = NOT_GIVEN
    refuses: Sequence[RefusalSpec] = NOT_GIVEN
    launch_file: Literal[
        "none",
        "megatron",
        "torchtitan",
        "deepspeed",
        "nemo",
        "maxtext",
    ] = NOT_GIVEN
    usual: UsualRunSpec = NOT_GIVEN
    use: str | None = None
    source: str | None = None


@dataclass(frozen=True, kw_only=True)
class LocalStepsSpec:
    """Sites train apart and exchange what they learned every so many steps; absent: every step
    is one of all sites. What that does to the loss is not modelled.

    Attributes
    ----------
    steps
        Optimizer steps between two exchanges of the same parameters between sites. (required)
    fragments
        Parts of the model that are exchanged in turn, evenly spread over `steps` (streaming
        DiLoCo); 1: all at once. (default 1)
    overlap_steps
        Steps that an exchange runs beside before its result is applied; 0: training waits for
        it. (default 0)
    exchange_bits
        Bits of a parameter's change on its way between sites (streaming DiLoCo: 4). (default
        32)
    use, source
        As described at the top of this module.
    """

    steps: int = NOT_GIVEN
    fragments: int = NOT_GIVEN
    overlap_steps: int = NOT_GIVEN
    exchange_bits: float = NOT_GIVEN
    use: str | None = None
    source: str | None = None


@dataclass(frozen=True, kw_only=True)
class CachedLogitsSpec:
    """The teacher ran before: its logits are read from storage with the batches. Either this or
    `teacher`.

    Attributes
    ----------
    value_bits
        Bits of a stored logit or logarithm of a probability (fp16 and bf16: 16). (default 16)
    token_id_bits
        Bits of the number that says which token a value is of; absent: 24, 16 and a byte for
        those above them, as Megatron-LM stores them. Only with `top_k`. (optional)
    use, source
        As described at the top of this module.
    """

    value_bits: int = NOT_GIVEN
    token_id_bits: int | None = None
    use: str | None = None
    source: str | None = None


@dataclass(frozen=True, kw_only=True)
class DistillationSpec:
    """A teacher whose probabilities are the loss, and whose forward runs beside the step or ran
    before; absent: the loss compares with the next token alone.

    Attributes
    ----------
    teacher
        The model that is learned from, where it runs: on the student's ranks, divided as the
        student is, forward only. Either this or `cached`. (optional)
    teacher_layers
        Its layers on each pipeline stage; empty: even. (optional)
    top_k
        Most probable tokens of the teacher that the loss compares, all others as one; with
        `cached` those that are stored; 0: the whole vocabulary. (default 0)
    label_loss
        Cross entropy with the next token is part of the loss too. (default false)
    cached
        The teacher ran before: its logits are read from storage with the batches. Either this
        or `teacher`. (optional)
    use, source
        As described at the top of this module.
    """

    teacher: ModelSpec | None = None
    teacher_layers: Sequence[int] = NOT_GIVEN
    top_k: int = NOT_GIVEN
    label_loss: bool = NOT_GIVEN
    cached: CachedLogitsSpec | None = None
    use: str | None = None
    source: str | None = None


@dataclass(frozen=True, kw_only=True)
class TrainingSpec:
    """The recipe.

    Attributes
    ----------
    sequence_length
        Tokens in a sequence. (required)
    global_batch
        Sequences in a step, over all ranks. (required)
    documents
        Lengths of the documents packed into a sequence, which do not attend to each other: a
        list, or a CSV file beside this one (tokens,share; or one length a line). Empty: a
        sequence is one document. (optional)
    images
        Images of a sequence; belongs to a model with 'vision'. (optional)
    balanced_ranks
        Sequences are dealt so that all data-parallel ranks have the same work; false: at
        random, and every step waits for the rank that drew the most. (default false)
    precision
        Operand format of the matrix products. fp32, tf32: weights, gradients, activations and
        messages are fp32 and there is no master copy; attention is not fused. (default bf16)
    nvfp4
        With 'precision: nvfp4': scales of whole arrays and transforms of NVIDIA's recipe, as
        traffic; absent: operands are rounded in one pass. (optional)
    optimizer_state
        fp32 master weights and: adam_fp32 two fp32 moments, adam_bf16 two bf16 moments,
        adam_8bit two 8-bit moments, sgd_momentum one fp32 moment, muon one fp32 moment of the
        matrices of layers, whose updates are made orthogonal, and Adam's of all else; shampoo,
        soap two fp32 moments, and four fp32 factors of each block of a matrix of layers.
        (default adam_fp32)
    preconditioner
        Blocks and decompositions of shampoo and soap; absent: their defaults. (optional)
    muon
        Settings of muon; absent: their defaults. (optional)
    framework
        What the training software fuses and overlaps. (optional)
    local_steps
        Sites train apart and exchange what they learned every so many steps; absent: every step
        is one of all sites. What that does to the loss is not modelled. (optional)
    distillation
        A teacher whose probabilities are the loss, and whose forward runs beside the step or
        ran before; absent: the loss compares with the next token alone. (optional)
    use, source
        As described at the top of this module.
    """

    sequence_length: int = NOT_GIVEN
    global_batch: int = NOT_GIVEN
    documents: Sequence[DocumentLength] = NOT_GIVEN
    images: ImagesSpec | None = None
    balanced_ranks: bool = NOT_GIVEN
    precision: Literal["fp32", "tf32", "bf16", "fp16", "fp8", "mxfp8", "nvfp4"] = NOT_GIVEN
    nvfp4: Nvfp4Spec | None = None
    optimizer_state: Literal[
        "adam_fp32",
        "adam_bf16",
        "adam_8bit",
        "muon",
        "shampoo",
        "soap",
        "sgd_momentum",
    ] = NOT_GIVEN
    preconditioner: PreconditionerSpec | None = None
    muon: MuonSpec | None = None
    framework: FrameworkSpec = NOT_GIVEN
    local_steps: LocalStepsSpec | None = None
    distillation: DistillationSpec | None = None
    use: str | None = None
    source: str | None = None


@dataclass(frozen=True, kw_only=True)
class ParallelismSpec:
    """How the work is divided.

    Attributes
    ----------
    tensor
        Tensor-parallel degree. (default 1)
    sequence
        Split norms and residuals along the sequence over the tensor group. (default true)
    pipeline
        Pipeline stages. (default 1)
    virtual
        Model chunks a stage holds (interleaved schedule). (default 1)
    context
        Context-parallel degree. (default 1)
    context_kind
        How context ranks share keys and values: ring passes them on beside attention;
        all-gather collects them first (Llama 3); all-to-all trades sequence for heads
        (Ulysses). (default ring)
    expert
        Expert-parallel degree; its ranks are taken from the tensor, context and data ranks of a
        stage. (default 1)
    expert_tensor
        Tensor-parallel degree inside an expert. (default 1)
    data
        Data-parallel degree; auto: GPUs / (tensor x context x pipeline). (default auto)
    sharding
        What data-parallel ranks shard: zero0 nothing, zero1 optimizer, zero2 and gradients,
        zero3 and weights (FSDP); hsdp: as zero3, inside groups of shard_group_size ranks, with
        copies between the groups. (default zero1)
    shard_group_size
        Ranks that hold one copy of the sharded weights; hsdp needs it. A mixture's experts lie
        once in each tensor x shard_group_size ranks. (default 0)
    reshard
        zero3, hsdp: drop a layer's gathered weights after its forward and gather them again for
        its backward. (default true)
    micro_batch
        Sequences in one micro-batch. (default 1)
    schedule
        Order of forward and backward work on a stage. (default 1f1b)
    recompute
        Activations recomputed in backward: none, some parts of a layer (selective), all (full).
        (default none)
    recompute_parts
        Parts that 'selective' recomputes; empty: core_attention. operators: all but what every
        second matrix product, attention and reductions over tensor ranks leave (torchtitan).
        (optional)
    recompute_period
        recompute_layers in this many recompute; 1: all. (default 1)
    recompute_layers
        Layers of each recompute_period that recompute, evenly spread. (default 1)
    first_stage_layers
        Layers of the first stage; 0: even. Uneven layouts need the rest to divide evenly.
        (default 0)
    last_stage_layers
        Layers of the last stage; 0: even. (default 0)
    chunk_layers
        Layers of every chunk, in the order in which a micro-batch meets the chunks; empty:
        even. (optional)
    chunk_recompute
        How many layers of each of chunk_layers recompute, from its first on; empty: all, or as
        recompute_period has it. (optional)
    rank_order
        Order of ranks over GPUs, fastest first: tp-cp-dp-pp (Megatron) or tp-cp-pp-dp (Llama
        3). (default tp-cp-dp-pp)
    offload
        optimizer: master weights and moments live in host memory, where the CPUs update them;
        gradients go there and weights come back every step. activations: what a layer keeps for
        its backward goes to host memory after its forward and comes back a layer ahead. all:
        both. Offload of weights is not modelled. (default none)
    offload_layers
        Layers at the front of each chunk whose activations are offloaded; auto: all but the
        chunk's last, which backward needs at once. (default auto)
    use, source
        As described at the top of this module.
    """

    tensor: int = NOT_GIVEN
    sequence: bool = NOT_GIVEN
    pipeline: int = NOT_GIVEN
    virtual: int = NOT_GIVEN
    context: int = NOT_GIVEN
    context_kind: Literal["ring", "all-gather", "all-to-all"] = NOT_GIVEN
    expert: int = NOT_GIVEN
    expert_tensor: int = NOT_GIVEN
    data: int | Literal["auto"] = NOT_GIVEN
    sharding: Literal["zero0", "zero1", "zero2", "zero3", "hsdp"] = NOT_GIVEN
    shard_group_size: int = NOT_GIVEN
    reshard: bool = NOT_GIVEN
    micro_batch: int = NOT_GIVEN
    schedule: Literal[
        "gpipe",
        "1f1b",
        "interleaved",
        "zb-h1",
        "zb-h2",
        "zb-v",
        "dualpipe",
        "dualpipe-v",
    ] = NOT_GIVEN
    recompute: Literal["none", "selective", "full"] = NOT_GIVEN
    recompute_parts: Sequence[Literal["core_attention", "latent_up", "norms", "activation", "mlp", "experts", "operators"]] = NOT_GIVEN
    recompute_period: int = NOT_GIVEN
    recompute_layers: int = NOT_GIVEN
    first_stage_layers: int = NOT_GIVEN
    last_stage_layers: int = NOT_GIVEN
    chunk_layers: Sequence[int] = NOT_GIVEN
    chunk_recompute: Sequence[int] = NOT_GIVEN
    rank_order: Literal["tp-cp-dp-pp", "tp-cp-pp-dp"] = NOT_GIVEN
    offload: Literal["none", "optimizer", "activations", "all"] = NOT_GIVEN
    offload_layers: int | Literal["auto"] = NOT_GIVEN
    use: str | None = None
    source: str | None = None


@dataclass(frozen=True, kw_only=True)
class UntilSpec:
    """When the run ends; absent: only one step is predicted.

    Attributes
    ----------
    tokens
        Tokens to train on. (optional)
    steps
        Optimizer steps. (optional)
    wall
        Wall clock. (optional)
    use, source
        As described at the top of this module.
    """

    tokens: float | None = None
    steps: int | None = None
    wall: str | None = None
    use: str | None = None
    source: str | None = None


@dataclass(frozen=True, kw_only=True)
class CheckpointLevelSpec:
    """Nearer places that saves go to as well.

    Attributes
    ----------
    place
        host memory, the node's drives, or the memory of a peer node. (required)
    every
        Each how many-th save goes here too. (default 1)
    write_bandwidth
        One node into it; required for nvme, else computed. (optional)
    read_bandwidth
        One node out of it; absent: as writing. (optional)
    capacity
        Of one node; absent: not checked (host and peer: the host's memory). (optional)
    keep
        Saves kept in it; one more is being written. (default 1)
    stall
        Measured time training stops; absent: computed. (optional)
    persist
        Measured time from the end of the stall until complete; absent: computed. (optional)
    load
        Measured time to read it back; absent: computed. (optional)
    use, source
        As described at the top of this module.
    """

    place: Literal["host", "nvme", "peer"] = NOT_GIVEN
    every: int = NOT_GIVEN
    write_bandwidth: str | None = None
    read_bandwidth: str | None = None
    capacity: str | None = None
    keep: int = NOT_GIVEN
    stall: str | None = None
    persist: str | None = None
    load: str | None = None
    use: str | None = None
    source: str | None = None


@dataclass(frozen=True, kw_only=True)
class CheckpointSpec:
    """When and how to save.

    Attributes
    ----------
    interval
        Useful work between saves; auto: the optimum for the failure rate. (default auto)
    interval_steps
        The same in steps; excludes interval. (optional)
    mode
        sync: training waits for the last byte; async: it waits for the snapshot only. (default
        async)
    bytes_per_parameter
        Saved bytes: 2 weights + 12 fp32 Adam state; left out: what training keeps of each.
        (default 14)
    keep
        Checkpoints kept; older ones are deleted. (default 3)
    archive
        Useful work after which a checkpoint is kept for good (nearest save; each, if saves are
        rarer); absent: none is. (optional)
    every
        Each how many-th save goes to storage; the others stay in `levels`. (default 1)
    levels
        Nearer places that saves go to as well. (optional)
    writers
        all: every node writes its part; one_replica: the nodes of one data-parallel replica
        write it all. (default all)
    files_per_writer
        Files each GPU that writes creates. (default 1)
    unreadable
        Chance that a save is found torn or stale when it is read; the one before it is then
        loaded. (default 0)
    via_drives
        Saves to storage pass through a drive of each node, so that a bad drive holds them up;
        false: they go from memory. (default false)
    fixed_cost
        Of each save, whatever its size: training stops while ranks plan, agree on metadata,
        create files and wait for one another; part of a measured stall. 1 s lies between
        ByteCheckpoint (NSDI 2025, table 8: 0.59 s on 8,960 GPUs, of which the copy is 0.03 s)
        and PyTorch DCP with cached plans (pull request 149785: 1.5 s on 256 ranks; 90 s
        without). (default 1 s)
    stall
        Measured time training stops at a save; absent: computed. (optional)
    persist
        Measured time from snapshot to durable; absent: computed. (optional)
    load
        Measured time to read a checkpoint at restart; absent: computed. (optional)
    use, source
        As described at the top of this module.
    """

    interval: str = NOT_GIVEN
    interval_steps: int | None = None
    mode: Literal["sync", "async"] = NOT_GIVEN
    bytes_per_parameter: float = NOT_GIVEN
    keep: int = NOT_GIVEN
    archive: str | None = None
    every: int = NOT_GIVEN
    levels: Sequence[CheckpointLevelSpec] = NOT_GIVEN
    writers: Literal["all", "one_replica"] = NOT_GIVEN
    files_per_writer: int = NOT_GIVEN
    unreadable: float = NOT_GIVEN
    via_drives: bool = NOT_GIVEN
    fixed_cost: str = NOT_GIVEN
    stall: str | None = None
    persist: str | None = None
    load: str | None = None
    use: str | None = None
    source: str | None = None


@dataclass(frozen=True, kw_only=True)
class ExposureSpec:
    """Exposure of the counts below.

    Attributes
    ----------
    gpus
        GPUs observed. (required)
    gpus_per_node
        GPUs in one node of them. (default 8)
    wall
        Time observed. (required)
    use, source
        As described at the top of this module.
    """

    gpus: int = NOT_GIVEN
    gpus_per_node: int = NOT_GIVEN
    wall: str = NOT_GIVEN
    use: str | None = None
    source: str | None = None


@dataclass(frozen=True, kw_only=True)
class AgeFactorSpec:
    """Piecewise: rising in age; after the last the factor is 1.

    Attributes
    ----------
    until
        Age at which the stretch ends; the first begins at age 0. (required)
    factor
        Failure rate in it / 1 over mtbf. (required)
    use, source
        As described at the top of this module.
    """

    until: str = NOT_GIVEN
    factor: float = NOT_GIVEN
    use: str | None = None
    source: str | None = None


@dataclass(frozen=True, kw_only=True)
class LawSpec:
    """How the rate changes with age; only with mtbf.

    Attributes
    ----------
    kind
        exponential never ages; the mean of weibull and lognormal is mtbf; defects: infant
        mortality, mtbf is the mean life of a defective part. (default exponential)
    shape
        Weibull: below 1 the young fail more often, above 1 the old. (default 1)
    sigma
        Lognormal: standard deviation of the logarithm. (default 1)
    defective
        Defects: share of new parts that are defective; the others never fail. `age` is the
        burn-in behind them. (default 0.1)
    factors
        Piecewise: rising in age; after the last the factor is 1. (optional)
    use, source
        As described at the top of this module.
    """

    kind: Literal["exponential", "weibull", "lognormal", "piecewise", "defects"] = NOT_GIVEN
    shape: float = NOT_GIVEN
    sigma: float = NOT_GIVEN
    defective: float = NOT_GIVEN
    factors: Sequence[AgeFactorSpec] = NOT_GIVEN
    use: str | None = None
    source: str | None = None


@dataclass(frozen=True, kw_only=True)
class HazardSpec:
    """One entry a class of failures.

    Attributes
    ----------
    name
        What the source calls it; also names the random stream, so it must be unique. (required)
    component
        Class of the failing part. (required)
    per
        What the rate is counted over. (default gpu)
    effect
        What the fault does to the job. (default stop)
    keeps
        Share of its speed or rate that a slow part keeps, a site's way too; of a flapping link
        the share of time it is up. (default 0.5)
    lasts
        Mean time until a slow part, or the way of a site, is well again by itself; absent:
        until it is replaced. (optional)
    notice
        Warning before capacity is taken back (preemption). (default 0 s)
    mtbf
        Mean time between failures of one gpu, node, domain, site or job. (optional)
    count
        Failures counted over the list's `observed` exposure, instead of mtbf. (optional)
    node_lost
        The node must be replaced; false: the job restarts where it was. (default true)
    detection
        Added to the recovery's own detection time (a hang waits for its watchdog). (default 0
        s)
    nodes_lost
        Nodes one failure takes at once, the size of a failure domain (rack, leaf, power unit).
        (default 1)
    latent
        Silent (corruption, loss spike): the job runs on for so long, then goes back to the last
        save before. (optional)
    law
        How the rate changes with age; only with mtbf. (optional)
    age
        Age of the parts when the run starts. (default 0 s)
    after_failure
        renewed: a new part takes its place; as_old: the part is mended and goes on ageing.
        (default renewed)
    use, source
        As described at the top of this module.
    """

    name: str = NOT_GIVEN
    component: Literal[
        "gpu",
        "gpu_memory",
        "nvlink",
        "nic",
        "cable",
        "switch",
        "power_supply",
        "host",
        "host_memory",
        "cpu",
        "ssd",
        "storage_service",
        "software",
        "silent_corruption",
        "power",
        "cooling",
        "maintenance",
        "wide_area",
        "unknown",
    ] = NOT_GIVEN
    per: Literal["gpu", "node", "domain", "domain_pair", "site", "job"] = NOT_GIVEN
    effect: Literal[
        "stop",
        "hang",
        "slow_gpu",
        "slow_link",
        "flapping_link",
        "slow_drive",
        "slow_site",
        "cut_site",
        "preemption",
        "false_alarm",
    ] = NOT_GIVEN
    keeps: float = NOT_GIVEN
    lasts: str | None = None
    notice: str = NOT_GIVEN
    mtbf: str | None = None
    count: int | None = None
    node_lost: bool = NOT_GIVEN
    detection: str = NOT_GIVEN
    nodes_lost: int = NOT_GIVEN
    latent: str | None = None
    law: LawSpec = NOT_GIVEN
    age: str = NOT_GIVEN
    after_failure: Literal["renewed", "as_old"] = NOT_GIVEN
    use: str | None = None
    source: str | None = None


@dataclass(frozen=True, kw_only=True)
class RecordedFailureSpec:
    """Failures replayed at the time they had, in every trial.

    Attributes
    ----------
    at
        Wall clock since the start of the run. (required)
    name
        What happened; failures of one name are counted together. (required)
    component
        Class of the failing part. (required)
    nodes_lost
        Nodes that must be replaced; 0: the job restarts where it was. (default 1)
    detection
        Added to the recovery's own detection time. (default 0 s)
    repair
        Time until the lost nodes were back; absent: drawn. (optional)
    use, source
        As described at the top of this module.
    """

    at: str = NOT_GIVEN
    name: str = NOT_GIVEN
    component: Literal[
        "gpu",
        "gpu_memory",
        "nvlink",
        "nic",
        "cable",
        "switch",
        "power_supply",
        "host",
        "host_memory",
        "cpu",
        "ssd",
        "storage_service",
        "software",
        "silent_corruption",
        "power",
        "cooling",
        "maintenance",
        "wide_area",
        "unknown",
    ] = NOT_GIVEN
    nodes_lost: int = NOT_GIVEN
    detection: str = NOT_GIVEN
    repair: str | None = None
    use: str | None = None
    source: str | None = None


@dataclass(frozen=True, kw_only=True)
class MaintenanceSpec:
    """Planned work, at fixed times.

    Attributes
    ----------
    every
        From one beginning to the next. (required)
    lasts
        How long the job stands still. (required)
    use, source
        As described at the top of this module.
    """

    every: str = NOT_GIVEN
    lasts: str = NOT_GIVEN
    use: str | None = None
    source: str | None = None


@dataclass(frozen=True, kw_only=True)
class ThrottleSpec:
    """Hours of each day in which all GPUs run slower (heat).

    Attributes
    ----------
    from_
        Time of day it begins; the run starts at 0 h. (required)
    until
        Time of day it ends. (required)
    keeps
        Share of its speed that every GPU keeps. (required)
    use, source
        As described at the top of this module.
    """

    from_: str = NOT_GIVEN
    until: str = NOT_GIVEN
    keeps: float = NOT_GIVEN
    use: str | None = None
    source: str | None = None


@dataclass(frozen=True, kw_only=True)
class LemonSpec:
    """Nodes that fail more often than the rest.

    Attributes
    ----------
    share
        Share of the nodes that are lemons. (required)
    factor
        Failure rate of a lemon / that of a good node; the table's rates are the mean of both.
        (required)
    evict_after
        Failures after which a lemon is exchanged for a good node; 0: never. (default 0)
    cured
        Chance that a repair makes a lemon a good node; 0: it comes back no better. (default 0)
    use, source
        As described at the top of this module.
    """

    share: float = NOT_GIVEN
    factor: float = NOT_GIVEN
    evict_after: int = NOT_GIVEN
    cured: float = NOT_GIVEN
    use: str | None = None
    source: str | None = None


@dataclass(frozen=True, kw_only=True)
class FailureSpec:
    """What fails and how often; absent: nothing fails.

    Entries to `use`: configs/failures.

    Attributes
    ----------
    name
        Name printed in reports. (required)
    observed
        Exposure of the counts below. (optional)
    hazards
        One entry a class of failures. (optional)
    recorded
        Failures replayed at the time they had, in every trial. (optional)
    maintenance
        Planned work, at fixed times. (optional)
    throttling
        Hours of each day in which all GPUs run slower (heat). (optional)
    lemons
        Nodes that fail more often than the rest. (optional)
    use, source
        As described at the top of this module.
    """

    name: str = NOT_GIVEN
    observed: ExposureSpec | None = None
    hazards: Sequence[HazardSpec] = NOT_GIVEN
    recorded: Sequence[RecordedFailureSpec] = NOT_GIVEN
    maintenance: MaintenanceSpec | None = None
    throttling: Sequence[ThrottleSpec] = NOT_GIVEN
    lemons: LemonSpec | None = None
    use: str | None = None
    source: str | None = None


@dataclass(frozen=True, kw_only=True)
class HealthCheckSpec:
    """Periodic tests; see every fault of a part.

    Attributes
    ----------
    every
        From one test of a node to the next. (required)
    recall
        Chance that one test finds a fault that is there. (default 1)
    use, source
        As described at the top of this module.
    """

    every: str = NOT_GIVEN
    recall: float = NOT_GIVEN
    use: str | None = None
    source: str | None = None


@dataclass(frozen=True, kw_only=True)
class StragglerMonitorSpec:
    """Sees slow GPUs and links.

    Attributes
    ----------
    window
        How long a part must be slow before the monitor can tell. (required)
    recall
        Chance that one window finds a slow part. (default 1)
    false_alarm_every
        Mean time between alarms without a fault, of the whole job; absent: none. (optional)
    use, source
        As described at the top of this module.
    """

    window: str = NOT_GIVEN
    recall: float = NOT_GIVEN
    false_alarm_every: str | None = None
    use: str | None = None
    source: str | None = None


@dataclass(frozen=True, kw_only=True)
class DetectorsSpec:
    """Who notices what; replaces `detection`.

    Attributes
    ----------
    process_exit
        A process dies until its launcher knows; sees every fault that stops a process. (default
        5 s)
    watchdog
        Timeout of a collective (NCCL's is 600 s in PyTorch); sees stops and hangs. (optional)
    heartbeat
        Time without a report until alarm; sees stops and hangs. (optional)
    health_check
        Periodic tests; see every fault of a part. (optional)
    straggler_monitor
        Sees slow GPUs and links. (optional)
    use, source
        As described at the top of this module.
    """

    process_exit: str = NOT_GIVEN
    watchdog: str | None = None
    heartbeat: str | None = None
    health_check: HealthCheckSpec | None = None
    straggler_monitor: StragglerMonitorSpec | None = None
    use: str | None = None
    source: str | None = None


@dataclass(frozen=True, kw_only=True)
class RetireScoreSpec:
    """Retires nodes by a score that forgets; beside 'retire_after'. Absent: none.

    Attributes
    ----------
    limit
        Score at which a node that fails leaves the machine: its failures, each times what is
        still remembered of it, this one included. (required)
    window
        Failures older than this are forgotten; older by less count 1. (optional)
    half_life
        What is remembered of a failure halves in this time (instead of 'window'). (optional)
    use, source
        As described at the top of this module.
    """

    limit: float = NOT_GIVEN
    window: str | None = None
    half_life: str | None = None
    use: str | None = None
    source: str | None = None


@dataclass(frozen=True, kw_only=True)
class StandbySpec:
    """Spares kept warm, with their own takeover time; absent: all spares are cold.

    Attributes
    ----------
    nodes
        Spares that are kept warm, of those there are. (required)
    takeover
        A warm standby takes the place of a lost node; instead of 'replacement', and with
        'in_process_start' instead of 'container_start'. (required)
    warming
        Until a cold spare that follows one which was taken is warm: image, libraries, devices,
        processes. (default 600 s)
    use, source
        As described at the top of this module.
    """

    nodes: int = NOT_GIVEN
    takeover: str = NOT_GIVEN
    warming: str = NOT_GIVEN
    use: str | None = None
    source: str | None = None


@dataclass(frozen=True, kw_only=True)
class ElasticSpec:
    """Go on without the replica that lost a node; absent: the whole job waits.

    Attributes
    ----------
    stall
        Alarm until the other replicas run again. (default 90 s)
    rejoin
        All replicas stand while a mended one joins. (default 100 s)
    fewest_replicas
        With fewer the job stops. (default 1)
    broken_replica
        What the replica that lost a part does until it is mended: leaves, and the others do its
        work; reroutes: its other stages go on, the same stage of the others does the
        micro-batches of the one that is lost (ReCycle); narrows: its tensor groups go on with
        the ranks that are left, on as many micro-batches as they keep pace with (nonuniform
        tensor parallelism). (default leaves)
    boost
        Board power of a narrowed replica / that of the others; needs 'broken_replica: narrows'.
        (default 1)
    pack
        Tensor groups are dealt anew at each fault, so that those that lost ranks share
        replicas; needs 'broken_replica: narrows'. (default false)
    use, source
        As described at the top of this module.
    """

    stall: str = NOT_GIVEN
    rejoin: str = NOT_GIVEN
    fewest_replicas: int = NOT_GIVEN
    broken_replica: Literal["leaves", "reroutes", "narrows"] = NOT_GIVEN
    boost: float = NOT_GIVEN
    pack: bool = NOT_GIVEN
    use: str | None = None
    source: str | None = None


@dataclass(frozen=True, kw_only=True)
class MigrationSpec:
    """A spare takes the place of a lost node, nobody restarts; absent: all restart.

    Attributes
    ----------
    stall
        All ranks stand: alarm (of a foreseen fault: end of a step) until they go on; finding
        the rank, copying its state, mending communicators. (required)
    foreseen
        Share of the faults of nodes that are announced in time: the node is left between two
        steps, and nothing is lost. (default 0)
    false_alarm_every
        Mean time between moves of healthy nodes, of the whole job; absent: none. (optional)
    use, source
        As described at the top of this module.
    """

    stall: str = NOT_GIVEN
    foreseen: float = NOT_GIVEN
    false_alarm_every: str | None = None
    use: str | None = None
    source: str | None = None


@dataclass(frozen=True, kw_only=True)
class StepTaxSpec:
    """What fault tolerance adds to every step (TorchFT's quorum and exchange); absent: nothing.

    Attributes
    ----------
    coordination
        A step, as far as nothing hides it: the quorum of those that take part. (default 0 s)
    exchange_bandwidth
        Rate of one GPU at which replicas exchange gradients through the memory of hosts (Gloo
        over TCP), nothing beside it; absent: over the fabric, as simulated. (optional)
    use, source
        As described at the top of this module.
    """

    coordination: str = NOT_GIVEN
    exchange_bandwidth: str | None = None
    use: str | None = None
    source: str | None = None


@dataclass(frozen=True, kw_only=True)
class RecoverySpec:
    """From failure to the first useful step.

    Entries to `use`: configs/recovery.

    Attributes
    ----------
    detection
        Failure to alarm, where `detectors` is absent. (default 60 s)
    detectors
        Who notices what; replaces `detection`. (optional)
    diagnosis
        Alarm to the name of the bad part. (default 120 s)
    wrong_blame
        Chance that a healthy part is named; the job then restarts, fails again and is diagnosed
        anew. (default 0)
    slow_part
        A slow part is found: stop at once, save first, or keep it. (default save_first)
    eviction
        What leaves the job with a bad part. (default node)
    rack_nodes
        Nodes of the job in a rack, for eviction by rack and for `rack_spares`. (default 1)
    replacement
        Draining the node and taking a hot spare. (default 60 s)
    repair
        Mean time until a lost node is back as a spare. (default 3 d)
    repair_sigma
        Repair times are lognormal with this deviation of the logarithm; 0: exponential.
        (default 0)
    repair_crews
        Nodes repaired at a time; 0: all at once. (default 0)
    retest
        Time until a healthy node that was taken out is back as a spare. (default 1 h)
    rack_spares
        Spare nodes in each rack of `rack_nodes` nodes of the job (8 of 72 GPUs: 2 of 18 trays
        of 4); only they can take a place in it, else the whole rack is exchanged. (default 0)
    retire_after
        Failures of one node after which it leaves the machine; 0: never. (default 0)
    retire_score
        Retires nodes by a score that forgets; beside 'retire_after'. Absent: none. (optional)
    retired_back
        Time until a new node stands in the place of one that was retired; absent: none does.
        (optional)
    spare_choice
        Which ready spare is taken: the one that waited longest, the one that came back last, or
        one that failed least. (default first_ready)
    standby
        Spares kept warm, with their own takeover time; absent: all spares are cold. (optional)
    container_start
        Scheduling and starting the processes. (default 60 s)
    in_process_start
        The same where no node is lost and processes restart in place; absent: containers start
        anew. (optional)
    communicator_start
        NCCL initialisation, fixed part. (default 30 s)
    communicator_start_per_rank
        NCCL initialisation, part that grows with the ranks. (default 0 s)
    state_from
        checkpoint: the last durable save; peers: another replica, nothing but the step under
        way is lost. (default checkpoint)
    peer_load
        Measured time to copy state from peers; absent: computed. (optional)
    warm_up
        Compilation, caches and the first slow step. (default 30 s)
    elastic
        Go on without the replica that lost a node; absent: the whole job waits. (optional)
    migration
        A spare takes the place of a lost node, nobody restarts; absent: all restart. (optional)
    step_tax
        What fault tolerance adds to every step (TorchFT's quorum and exchange); absent:
        nothing. (optional)
    use, source
        As described at the top of this module.
    """

    detection: str = NOT_GIVEN
    detectors: DetectorsSpec | None = None
    diagnosis: str = NOT_GIVEN
    wrong_blame: float = NOT_GIVEN
    slow_part: Literal["stop_at_once", "save_first", "keep"] = NOT_GIVEN
    eviction: Literal["gpu", "node", "rack", "parallel_group"] = NOT_GIVEN
    rack_nodes: int = NOT_GIVEN
    replacement: str = NOT_GIVEN
    repair: str = NOT_GIVEN
    repair_sigma: float = NOT_GIVEN
    repair_crews: int = NOT_GIVEN
    retest: str = NOT_GIVEN
    rack_spares: int = NOT_GIVEN
    retire_after: int = NOT_GIVEN
    retire_score: RetireScoreSpec | None = None
    retired_back: str | None = None
    spare_choice: Literal["first_ready", "last_ready", "fewest_failures"] = NOT_GIVEN
    standby: StandbySpec | None = None
    container_start: str = NOT_GIVEN
    in_process_start: str | None = None
    communicator_start: str = NOT_GIVEN
    communicator_start_per_rank: str = NOT_GIVEN
    state_from: Literal["checkpoint", "peers"] = NOT_GIVEN
    peer_load: str | None = None
    warm_up: str = NOT_GIVEN
    elastic: ElasticSpec | None = None
    migration: MigrationSpec | None = None
    step_tax: StepTaxSpec | None = None
    use: str | None = None
    source: str | None = None


@dataclass(frozen=True, kw_only=True)
class DataSpec:
    """What is read to train on; absent: never waited for.

    Attributes
    ----------
    bytes_per_token
        Bytes read for one token (text: 4; images and video far more). (default 4 B)
    dataset
        The whole data set; 0: not staged and not cached. (default 0 B)
    node_cache
        Drives of one node that hold its part of the data set. (default 0 B)
    islands
        Storage islands that each need a copy of the data set. (default 1)
    staging_bandwidth
        From where the data set lies to one more island. (default 80 Gbps)
    stage_at_start
        The copies are made before the first step; false: they are there. (default true)
    refill_cache
        A spare fills its part of the cache from storage before the job goes on; false: while it
        runs. (default false)
    restart_moves
        Chance that lost nodes send the restart to an island without the data, which is copied
        there first. (default 0)
    use, source
        As described at the top of this module.
    """

    bytes_per_token: str = NOT_GIVEN
    dataset: str = NOT_GIVEN
    node_cache: str = NOT_GIVEN
    islands: int = NOT_GIVEN
    staging_bandwidth: str = NOT_GIVEN
    stage_at_start: bool = NOT_GIVEN
    refill_cache: bool = NOT_GIVEN
    restart_moves: float = NOT_GIVEN
    use: str | None = None
    source: str | None = None


@dataclass(frozen=True, kw_only=True)
class StorageTierSpec:
    """Prices of what has been stored for long, rising in age.

    Attributes
    ----------
    from_
        Age of what is stored at which this price begins. (required)
    price
        As `15 USD/TB/month`. (required)
    use, source
        As described at the top of this module.
    """

    from_: str = NOT_GIVEN
    price: str = NOT_GIVEN
    use: str | None = None
    source: str | None = None


@dataclass(frozen=True, kw_only=True)
class PriceSpec:
    """What it costs; absent: no cost is printed.

    Entries to `use`: configs/prices.

    Attributes
    ----------
    name
        Name printed in reports. (required)
    gpu
        GPU that `gpu_hour` is a price of: words of its name, as `H100`; bills of another GPU
        are warned of. Empty: of any. (default )
    gpu_hour
        One GPU, with its share of node and network, as `2.75 USD/h`. (required)
    storage
        Checkpoint storage, as `30 USD/TB/month`. (default 0 USD/B/s)
    storage_tiers
        Prices of what has been stored for long, rising in age. (optional)
    storage_write
        Of bytes written, as `5 USD/TB`. (default 0 USD/B)
    storage_read
        Of bytes read, egress included, as `20 USD/TB`. (default 0 USD/B)
    electricity
        As `0.0977 USD/kWh`. (default 0 USD/J)
    electricity_included
        The GPU price already contains electricity. (default true)
    pue
        Power usage effectiveness of the building. (default 1.25)
    spare_share
        Price of a spare GPU-hour / price of a busy one. (default 1)
    carbon_kg_per_kwh
        Carbon intensity of the electricity [kg CO2/kWh]. (default 0.37)
    use, source
        As described at the top of this module.
    """

    name: str = NOT_GIVEN
    gpu: str = NOT_GIVEN
    gpu_hour: str = NOT_GIVEN
    storage: str = NOT_GIVEN
    storage_tiers: Sequence[StorageTierSpec] = NOT_GIVEN
    storage_write: str = NOT_GIVEN
    storage_read: str = NOT_GIVEN
    electricity: str = NOT_GIVEN
    electricity_included: bool = NOT_GIVEN
    pue: float = NOT_GIVEN
    spare_share: float = NOT_GIVEN
    carbon_kg_per_kwh: float = NOT_GIVEN
    use: str | None = None
    source: str | None = None


@dataclass(frozen=True, kw_only=True)
class BringUpSpec:
    """From the order of the cluster to full speed; absent: it stands there, and time counts
    from the first step.

    Attributes
    ----------
    delivery
        From the order until all nodes are racked and cabled. (default 0 s)
    burn_in
        Test of a node before it may train; all at the same time. (default 0 s)
    fail_share
        Share of nodes that fail one test, each test on its own chance. (default 0)
    replacement
        From a failed test until the node that is mended or takes its place is tested. (default
        0 s)
    ramp
        From the first step on until the job runs at full speed. (default 0 s)
    ramp_from
        Share of full speed at the first step; it rises evenly from there. (default 0)
    billed
        Share of the price of a GPU-hour that is paid from delivery to the first step. (default
        1)
    use, source
        As described at the top of this module.
    """

    delivery: str = NOT_GIVEN
    burn_in: str = NOT_GIVEN
    fail_share: float = NOT_GIVEN
    replacement: str = NOT_GIVEN
    ramp: str = NOT_GIVEN
    ramp_from: float = NOT_GIVEN
    billed: float = NOT_GIVEN
    use: str | None = None
    source: str | None = None


@dataclass(frozen=True, kw_only=True)
class RunSpec:
    """How the job is run; absent: only one step is predicted.

    Attributes
    ----------
    until
        When the run ends; absent: only one step is predicted. (optional)
    checkpoint
        When and how to save. (optional)
    failures
        What fails and how often; absent: nothing fails. (optional)
    recovery
        From failure to the first useful step. (optional)
    data
        What is read to train on; absent: never waited for. (optional)
    prices
        What it costs; absent: no cost is printed. (optional)
    bring_up
        From the order of the cluster to full speed; absent: it stands there, and time counts
        from the first step. (optional)
    trials
        Independent draws of the campaign. (default 200)
    mean_within
        Draws go on until half of the 95 % interval of the mean wall clock (of the mean ETTR,
        where the wall clock ends the run) is this share of it; `trials` are then the fewest, at
        least 30, and 100,000 the most; absent: `trials` are drawn. (optional)
    seed
        Seed of all random streams. (default 1)
    use, source
        As described at the top of this module.
    """

    until: UntilSpec | None = None
    checkpoint: CheckpointSpec = NOT_GIVEN
    failures: FailureSpec | None = None
    recovery: RecoverySpec = NOT_GIVEN
    data: DataSpec | None = None
    prices: PriceSpec | None = None
    bring_up: BringUpSpec | None = None
    trials: int = NOT_GIVEN
    mean_within: float | None = None
    seed: int = NOT_GIVEN
    use: str | None = None
    source: str | None = None


@dataclass(frozen=True, kw_only=True)
class SweepAxisSpec:
    """Further fields of the scenario and what each is tried with: every combination is a
    candidate machine. A path as a key says the same, `cluster.node: [dgx-h100, dgx-b200]`, or
    nested keys, `cluster: {node: [dgx-h100, dgx-b200]}`.

    Attributes
    ----------
    key
        Path of the field, as `--set` takes it. (required)
    values
        Values, as they would stand in the file. (optional)
    from_
        First value of a range, with its unit. (default )
    to
        Last value of a range, in the same unit. (default )
    step
        Distance of two values of a range, in the same unit. (default )
    points
        Number of values of a range, in place of step. (default 0)
    scale
        log: equal ratios between values, not equal distances. (default linear)
    use, source
        As described at the top of this module.
    """

    key: str = NOT_GIVEN
    values: Sequence[str] = NOT_GIVEN
    from_: str = NOT_GIVEN
    to: str = NOT_GIVEN
    step: str = NOT_GIVEN
    points: int = NOT_GIVEN
    scale: Literal["linear", "log"] = NOT_GIVEN
    use: str | None = None
    source: str | None = None


@dataclass(frozen=True, kw_only=True)
class SearchSpec:
    """What `headway plan` varies.

    Attributes
    ----------
    vary
        Fields of parallelism that a search varies, all others being held as the scenario has
        them; empty: all. (optional)
    hold
        Fields of parallelism that it holds as the scenario has them. (optional)
    tensor
        Tensor-parallel degrees; empty: divisors up to NVLink's domain. (optional)
    pipeline
        Pipeline stages; empty: all that divide the GPUs. (optional)
    virtual
        Chunks a stage of the interleaved schedule; empty: to 8, and what divides its layers.
        (optional)
    schedule
        Schedules; empty: those of the framework. (optional)
    context
        Context-parallel degrees; empty: while 1,024 tokens a rank are left. (optional)
    context_kind
        Kinds of context parallelism; empty: those of the framework. (optional)
    expert
        Expert-parallel degrees; empty: divisors of the experts. (optional)
    expert_tensor
        Tensor-parallel degrees of experts; empty: divisors of the tensor degree. (optional)
    micro_batch
        Sequences of a micro-batch; empty: 1, 2, 3, 4, 6, 8, 12, ... that divide the batch of a
        replica. (optional)
    sharding
        What data-parallel ranks shard; empty: what the framework can. (optional)
    shard_group_size
        Ranks that hold one copy with hsdp; empty: an NVLink domain, and doublings. (optional)
    recompute
        Kinds of recomputation; empty: all. (optional)
    offload
        What goes to host memory; empty: all kinds. (optional)
    rank_order
        Orders of ranks over GPUs; empty: both. (optional)
    nodes
        Cluster sizes; empty: cluster.nodes. (optional)
    global_batch
        Sequences of a step; empty: the scenario's. (optional)
    sequence_length
        Tokens of a sequence; empty: the scenario's. (optional)
    precision
        Formats of the matrix products; empty: the scenario's. (optional)
    over
        Further fields of the scenario and what each is tried with: every combination is a
        candidate machine. A path as a key says the same, `cluster.node: [dgx-h100, dgx-b200]`,
        or nested keys, `cluster: {node: [dgx-h100, dgx-b200]}`. (optional)
    machines
        Candidate machines one by one, as "cluster.node=dgx-b200;
        run.prices=b200-on-demand-2026-06". (optional)
    spares
        auto: of each plan as many spare nodes as its run is found to need, or fewer where the
        objective, one of the run, is the better for it. (optional)
    use, source
        As described at the top of this module.
    """

    vary: Sequence[Literal["tensor", "sequence", "pipeline", "virtual", "schedule", "stage_layers", "first_stage_layers", "last_stage_layers", "context", "context_kind", "expert", "expert_tensor", "micro_batch", "sharding", "shard_group_size", "reshard", "recompute", "offload", "rank_order"]] = NOT_GIVEN
    hold: Sequence[Literal["tensor", "sequence", "pipeline", "virtual", "schedule", "stage_layers", "first_stage_layers", "last_stage_layers", "context", "context_kind", "expert", "expert_tensor", "micro_batch", "sharding", "shard_group_size", "reshard", "recompute", "offload", "rank_order"]] = NOT_GIVEN
    tensor: Sequence[int] = NOT_GIVEN
    pipeline: Sequence[int] = NOT_GIVEN
    virtual: Sequence[int] = NOT_GIVEN
    schedule: Sequence[Literal["gpipe", "1f1b", "interleaved", "zb-h1", "zb-h2", "zb-v", "dualpipe", "dualpipe-v"]] = NOT_GIVEN
    context: Sequence[int] = NOT_GIVEN
    context_kind: Sequence[Literal["ring", "all-gather", "all-to-all"]] = NOT_GIVEN
    expert: Sequence[int] = NOT_GIVEN
    expert_tensor: Sequence[int] = NOT_GIVEN
    micro_batch: Sequence[int] = NOT_GIVEN
    sharding: Sequence[Literal["zero0", "zero1", "zero2", "zero3", "hsdp"]] = NOT_GIVEN
    shard_group_size: Sequence[int] = NOT_GIVEN
    recompute: Sequence[Literal["none", "selective", "full"]] = NOT_GIVEN
    offload: Sequence[Literal["none", "optimizer", "activations", "all"]] = NOT_GIVEN
    rank_order: Sequence[Literal["tp-cp-dp-pp", "tp-cp-pp-dp"]] = NOT_GIVEN
    nodes: Sequence[int] = NOT_GIVEN
    global_batch: Sequence[int] = NOT_GIVEN
    sequence_length: Sequence[int] = NOT_GIVEN
    precision: Sequence[Literal["fp32", "tf32", "bf16", "fp16", "fp8", "mxfp8", "nvfp4"]] = NOT_GIVEN
    over: Sequence[SweepAxisSpec] = NOT_GIVEN
    machines: Sequence[str] = NOT_GIVEN
    spares: Literal["auto"] | None = None
    use: str | None = None
    source: str | None = None


@dataclass(frozen=True, kw_only=True)
class CurvePoint:
    """Measured points, rising in size.

    Attributes
    ----------
    message
        Message size as nccl-tests defines it (whole array). (required)
    time
        Time of one operation alone on the machine. (required)
    use, source
        As described at the top of this module.
    """

    message: str = NOT_GIVEN
    time: str = NOT_GIVEN
    use: str | None = None
    source: str | None = None


@dataclass(frozen=True, kw_only=True)
class CurveFit:
    """Line fitted to all samples; carries the curve beyond its ends.

    Attributes
    ----------
    alpha
        Time of an empty message. (required)
    beta
        Message bytes a second of a message without end. (required)
    saturation
        Sharpness of the knee: 1 adds latency and transfer; more takes the larger; less fills
        slowly. (default 1)
    alpha_error
        Standard error of alpha. (default 0 s)
    beta_error
        Standard error of beta. (default 0 B/s)
    saturation_error
        Standard error of saturation. (default 0)
    leave_one_out
        Root mean square of (predicted / measured - 1) of points that the fit did not see.
        (default 0)
    use, source
        As described at the top of this module.
    """

    alpha: str = NOT_GIVEN
    beta: str = NOT_GIVEN
    saturation: float = NOT_GIVEN
    alpha_error: str = NOT_GIVEN
    beta_error: str = NOT_GIVEN
    saturation_error: float = NOT_GIVEN
    leave_one_out: float = NOT_GIVEN
    use: str | None = None
    source: str | None = None


@dataclass(frozen=True, kw_only=True)
class CollectiveCurve:
    """Measured collective curves.

    Attributes
    ----------
    collective
        Which collective. (required)
    ranks
        Ranks in the group. (required)
    ranks_per_node
        Of these in one node. (required)
    points
        Measured points, rising in size. (required)
    fit
        Line fitted to all samples; carries the curve beyond its ends. (optional)
    relative_error
        Root mean square error of reading the curve between its points, leaving one out; 0: not
        known. (default 0)
    use, source
        As described at the top of this module.
    """

    collective: Literal[
        "all_reduce",
        "all_gather",
        "reduce_scatter",
        "all_to_all",
        "broadcast",
        "send_receive",
    ] = NOT_GIVEN
    ranks: int = NOT_GIVEN
    ranks_per_node: int = NOT_GIVEN
    points: Sequence[CurvePoint] = NOT_GIVEN
    fit: CurveFit | None = None
    relative_error: float = NOT_GIVEN
    use: str | None = None
    source: str | None = None


@dataclass(frozen=True, kw_only=True)
class MeasuredStorage:
    """Measured storage as one node sees it; replaces the cluster's client figures.

    Attributes
    ----------
    client_write_bandwidth
        What one node wrote, best number of streams. (optional)
    client_read_bandwidth
        What one node read, best number of streams. (optional)
    latency
        Open, metadata and commit of one file. (optional)
    use, source
        As described at the top of this module.
    """

    client_write_bandwidth: str | None = None
    client_read_bandwidth: str | None = None
    latency: str | None = None
    use: str | None = None
    source: str | None = None


@dataclass(frozen=True, kw_only=True)
class MeasuredPower:
    """Clock and power under lasting load; its effect on rates is in the kernels' figures.

    Attributes
    ----------
    burst_clock
        SM clock when the load begins [Hz]. (required)
    sustained_clock
        SM clock that a lasting load settles at [Hz]. (required)
    settling
        Time constant from burst to sustained. (required)
    static_power
        Board power that does not depend on the clock. (default 0 W)
    dynamic_power
        Board power at the burst clock beyond the static part. (default 0 W)
    exponent
        Of power against clock; between 1 (fixed voltage) and 3 (voltage follows). (default 1)
    use, source
        As described at the top of this module.
    """

    burst_clock: float = NOT_GIVEN
    sustained_clock: float = NOT_GIVEN
    settling: str = NOT_GIVEN
    static_power: str = NOT_GIVEN
    dynamic_power: str = NOT_GIVEN
    exponent: float = NOT_GIVEN
    use: str | None = None
    source: str | None = None


@dataclass(frozen=True, kw_only=True)
class FittedFigure:
    """Every fitted figure with its error.

    Attributes
    ----------
    name
        Which figure: the profile's own words, as kernels.gemm_16bit. (required)
    value
        The fitted value in SI units. (required)
    unit
        Unit of value and standard error; empty: a ratio. (default )
    standard_error
        Of the value; 0: not known. (default 0)
    leave_one_out
        Root mean square of (predicted / measured - 1) of samples that the fit did not see.
        (default 0)
    samples
        Samples the fit used. (default 0)
    flagged
        Samples left out as throttled, unstable, outlying or wrong. (default 0)
    use, source
        As described at the top of this module.
    """

    name: str = NOT_GIVEN
    value: float = NOT_GIVEN
    unit: str = NOT_GIVEN
    standard_error: float = NOT_GIVEN
    leave_one_out: float = NOT_GIVEN
    samples: int = NOT_GIVEN
    flagged: int = NOT_GIVEN
    use: str | None = None
    source: str | None = None


@dataclass(frozen=True, kw_only=True)
class CalibrationSpec:
    """Measured figures that replace catalogue values.

    Entries to `use`: configs/calibrations.

    Attributes
    ----------
    name
        Name printed in reports. (default catalogue)
    kernels
        Measured shares of the peaks. (optional)
    collectives
        Measured collective curves. (optional)
    kernel_launch
        Measured gap between dependent kernels; replaces the GPU's. (optional)
    eager_launch
        Measured CPU time a kernel of training by PyTorch's operators one by one; replaces the
        framework's host.launch where elementwise is eager. (optional)
    compiled_layer
        Measured CPU time of one pass through a compiled layer beside the launches of its
        kernels: guards, autograd, the call of the compiled graph; replaces the framework's
        host.layer where elementwise is compiled. (optional)
    host_bandwidth
        Measured copies GPU to host, pinned; replaces the GPU's. (optional)
    storage
        Measured storage as one node sees it; replaces the cluster's client figures. (optional)
    power
        Clock and power under lasting load; its effect on rates is in the kernels' figures.
        (optional)
    data_interference
        Compute time lost a second of collective that runs beside it, measured as 1 - alone /
        beside; replaces the framework's. (optional)
    figures
        Every fitted figure with its error. (optional)
    circumstances
        Device, driver, versions, date, as recorded. (optional)
    relative_error
        Standard error of a predicted step, relative; widens the interval. A prediction that may
        be wrong by more than a factor of e says nothing. (default 0.05)
    use, source
        As described at the top of this module.
    """

    name: str = NOT_GIVEN
    kernels: SustainedShares | None = None
    collectives: Sequence[CollectiveCurve] = NOT_GIVEN
    kernel_launch: str | None = None
    eager_launch: str | None = None
    compiled_layer: str | None = None
    host_bandwidth: str | None = None
    storage: MeasuredStorage | None = None
    power: MeasuredPower | None = None
    data_interference: float | None = None
    figures: Sequence[FittedFigure] = NOT_GIVEN
    circumstances: Sequence[str] = NOT_GIVEN
    relative_error: float = NOT_GIVEN
    use: str | None = None
    source: str | None = None


@dataclass(frozen=True, kw_only=True)
class ClaimSpec:
    """A public statement to be checked.

    Attributes
    ----------
    wall
        Claimed wall clock. (optional)
    tokens
        Claimed tokens. (optional)
    mfu
        Published model FLOPs utilization. (optional)
    hfu
        Published hardware FLOPs utilization. (optional)
    tflops_per_gpu
        Published rate per GPU [TFLOP/s]. (optional)
    ettr
        Published effective training time ratio. (optional)
    use, source
        As described at the top of this module.
    """

    wall: str | None = None
    tokens: float | None = None
    mfu: float | None = None
    hfu: float | None = None
    tflops_per_gpu: float | None = None
    ettr: float | None = None
    use: str | None = None
    source: str | None = None


@dataclass(frozen=True, kw_only=True)
class SweepSampleSpec:
    """Points that are drawn.

    Attributes
    ----------
    kind
        random: each value is drawn alone; latin_hypercube: each axis is cut into as many parts
        as there are points, and each part is met once. (default latin_hypercube)
    points
        Points that are drawn. (required)
    seed
        Of the draws. (default 1)
    axes
        Fields that are drawn together. (required)
    use, source
        As described at the top of this module.
    """

    kind: Literal["random", "latin_hypercube"] = NOT_GIVEN
    points: int = NOT_GIVEN
    seed: int = NOT_GIVEN
    axes: Sequence[SweepAxisSpec] = NOT_GIVEN
    use: str | None = None
    source: str | None = None


@dataclass(frozen=True, kw_only=True)
class SweepSpec:
    """What `headway sweep` varies; other verbs pass over it.

    Attributes
    ----------
    grid
        Fields of which every combination is a point. A path as a key of `sweep` says the same,
        `cluster.nodes: [16, 32]`, or nested keys, `cluster: {nodes: [16, 32]}`. (optional)
    zip
        Fields that change together: first with first, second with second. (optional)
    rows
        Points one by one, as "cluster.nodes=16; parallelism.tensor=2". (optional)
    sample
        Points that are drawn. (optional)
    figures
        Paths of the figures of a run that the table has (docs/definitions.md); empty: the usual
        ones. (optional)
    best
        Path of the figure by which points are ranked. (default step.time_s)
    best_is
        Which end of it is best; not written: the highest of throughput, utilization and shares
        of useful time, the lowest of all else. (optional)
    use, source
        As described at the top of this module.
    """

    grid: Sequence[SweepAxisSpec] = NOT_GIVEN
    zip: Sequence[SweepAxisSpec] = NOT_GIVEN
    rows: Sequence[str] = NOT_GIVEN
    sample: SweepSampleSpec | None = None
    figures: Sequence[str] = NOT_GIVEN
    best: str = NOT_GIVEN
    best_is: Literal["lowest", "highest"] | None = None
    use: str | None = None
    source: str | None = None


@dataclass(frozen=True, kw_only=True)
class Scenario:
    """One question to the simulator.

    Attributes
    ----------
    headway
        Format version; this program reads 1. (required)
    name
        Name printed in reports; absent: that of the file. (default )
    cluster
        The machine. (required)
    model
        What is trained. (required)
    training
        The recipe. (required)
    parallelism
        How the work is divided. (optional)
    run
        How the job is run; absent: only one step is predicted. (optional)
    search
        What `headway plan` varies. (optional)
    calibration
        Measured figures that replace catalogue values. (optional)
    claim
        A public statement to be checked. (optional)
    sweep
        What `headway sweep` varies; other verbs pass over it. (optional)
    assert_
        Conditions on the result, such as "step.mfu > 0.38"; exit code 4 if one fails.
        (optional)
    use, source
        As described at the top of this module.
    """

    headway: int = NOT_GIVEN
    name: str = NOT_GIVEN
    cluster: ClusterSpec = NOT_GIVEN
    model: ModelSpec = NOT_GIVEN
    training: TrainingSpec = NOT_GIVEN
    parallelism: ParallelismSpec = NOT_GIVEN
    run: RunSpec = NOT_GIVEN
    search: SearchSpec = NOT_GIVEN
    calibration: CalibrationSpec = NOT_GIVEN
    claim: ClaimSpec = NOT_GIVEN
    sweep: SweepSpec | None = None
    assert_: Sequence[str] = NOT_GIVEN
    use: str | None = None
    source: str | None = None

    @classmethod
    def load(cls, path: str | PathLike[str], *, set: Mapping[str, object] | None = None) -> Scenario:
        """Read a scenario file: every `use` is looked up and every default written out.

        Parameters
        ----------
        path
            The file.
        set
            Values to change, such as ``{"cluster.nodes": 64}``.

        Returns
        -------
        Scenario
            What ``headway.run`` predicts the same of as of the file.

        Raises
        ------
        headway.Error
            With every error of the file.
        """
        from headway._api import scenario_values

        loaded: Scenario = from_values(cls, scenario_values(path, set))
        return loaded

    def with_(self, changes: Mapping[str, object]) -> Scenario:
        """Another scenario with some values changed; this one stays as it is.

        Parameters
        ----------
        changes
            Fields by their paths, with values as a file has them: ``{"cluster.nodes": 16,
            "run.until.wall": "30 d", "cluster.node.nic.bandwidth": "400 Gbps"}``. A mapping
            replaces the whole section, as ``--set`` does: ``{"parallelism": {"tensor": 4}}`` has
            every other field of it at its default; ``{"parallelism.tensor": 4}`` changes one.

        Returns
        -------
        Scenario
            Read and checked like a file, so that it has every field and keeps every rule.

        Raises
        ------
        headway.Error
            With every error and its place: the change that made it, or the field.
        """
        from headway._api import scenario_values

        changed: Scenario = from_values(type(self), scenario_values(self, changes, checked=True))
        return changed

    def with_layout(self, plan: Mapping[str, Any]) -> Scenario:
        """Another scenario, laid out as a plan of this one; this one stays as it is.

        Parameters
        ----------
        plan
            One of ``headway.plan(scenario).plans``. Of a search over several machines the others
            need theirs first, by `with_`; ``headway.plan(..., save=FOLDER)`` writes whole scenarios.

        Returns
        -------
        Scenario
            With the plan's layout, nodes, batch, sequence length and precision.
        """
        follows = ("micro_batches",)  # from the batch and the degrees
        layout = {k: v for k, v in plan["layout"].items() if k not in follows and v is not None}
        changes = {f"parallelism.{key}": value for key, value in layout.items()}
        for key in ("global_batch", "sequence_length", "precision"):
            changes[f"training.{key}"] = plan[key]
        return self.with_({**changes, "cluster.nodes": plan["nodes"]})

    def to_yaml(self) -> str:
        """Turn it into the text of a file, every `use` looked up and every default written out."""
        from headway._api import yaml_of

        return yaml_of(self)

    def save(self, path: str | PathLike[str], *, force: bool = False) -> None:
        """Write a file that `load` reads back to an equal scenario.

        Parameters
        ----------
        path
            The file.
        force
            Overwrite it.

        Raises
        ------
        FileExistsError
            If it is there and `force` is not set.
        headway.Error
            With every error of a scenario that was made in Python.
        """
        from headway._files import deliver

        deliver(path, self.to_yaml().encode(), force=force)

    def __repr__(self) -> str:
        return scenario_text(self)


shorten(list(globals().values()))
