"""Small correct files of each format that the program imports, and how it is asked to read them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Sample:
    """A file and the command that reads it; FILE stands for its name."""

    file: str
    text: str
    command: tuple[str, ...]


IBNETDISCOVER = """# two leaves, one spine, two servers of two cards
vendid=0x2c9
Switch\t3 "S-1"\t\t# "leaf 1" enhanced port 0 lid 1 lmc 0
[1]\t"H-a1"[1](a1) \t\t# "node-a mlx5_0" lid 5 4xHDR
[2]\t"H-b1"[1](b1) \t\t# "node-b HCA-1" lid 6 4xHDR
[3]\t"S-3"[1]\t\t# "spine" lid 3 4xHDR

Switch\t3 "S-2"\t\t# "leaf 2" enhanced port 0 lid 2 lmc 0
[1]\t"H-a2"[1](a2) \t\t# "node-a mlx5_1" lid 7 4xHDR
[2]\t"H-b2"[1](b2) \t\t# "node-b HCA-2" lid 8 4xHDR
[3]\t"S-3"[2]\t\t# "spine" lid 3 4xHDR

Switch\t3 "S-3"\t\t# "spine" enhanced port 0 lid 3 lmc 0
[1]\t"S-1"[3]\t\t# "leaf 1" lid 1 4xHDR
[2]\t"S-2"[3]\t\t# "leaf 2" lid 2 4xHDR

Ca\t1 "H-a1"\t\t# "node-a mlx5_0"
[1](a1) \t"S-1"[1]\t\t# lid 5 lmc 0 "leaf 1" lid 1 4xHDR

Ca\t1 "H-a2"\t\t# "node-a mlx5_1"
[1](a2) \t"S-2"[1]\t\t# lid 7 lmc 0 "leaf 2" lid 2 4xHDR

Ca\t1 "H-b1"\t\t# "node-b HCA-1"
[1](b1) \t"S-1"[2]\t\t# lid 6 lmc 0 "leaf 1" lid 1 4xHDR

Ca\t1 "H-b2"\t\t# "node-b HCA-2"
[1](b2) \t"S-2"[2]\t\t# lid 8 lmc 0 "leaf 2" lid 2 4xHDR
"""

SLURM = """# two pods
SwitchName=core Switches=spine[1-2] LinkSpeed=400
SwitchName=spine1 Switches=leaf[1-2]
SwitchName=spine2 Switches=leaf[3-4]
SwitchName=leaf1 Nodes=n[001-008]
SwitchName=leaf2 Nodes=n[009-016]
SwitchName=leaf3 Nodes=n[017-024]
SwitchName=leaf4 Nodes=n[025-032]
"""

MEASURED = """measure,value,nodes,collective,gpus,gpus_per_node,size,shape
bus_bandwidth,452 GB/s,n1 n2,all_reduce,16,8,1G,
gemm_rate,610 TFLOP/s,n1,,,,,large
step_time,1.9 s,,,,,,
tokens_per_s_per_gpu,9000,,,,,,
"""

TRAINING_LOG = """ iteration 10/ 100 | elapsed time per iteration (ms): 1912.5 |
(min, max) time across ranks (ms):
    forward-compute ......: (520.00, 540.00)
    batch-generator ......: (2.00, 3.00)
[Rank 0] memory (MB) | allocated: 10240.0 | max allocated: 36864.0 | reserved: 40960.0
 [2026-10-01 10:00:20] iteration 20/ 100 | elapsed time per iteration (ms): 1900.5 |
"""

GPU_MONITOR = """# gpu    pwr  gtemp     sm   mclk   pclk
# Idx      W      C      %    MHz    MHz
    0    600     60     99   2619   1500
    1    620     61     99   2619   1700
"""

NCCL_XML = """<system version="2">
  <cpu host_hash="0x5a17" numaid="0" affinity="ffff" arch="x86_64" vendor="AuthenticAMD">
    <pci busid="0000:20:00.0" class="0x060400" link_speed="32.0 GT/s PCIe" link_width="16">
      <pci busid="0000:21:00.0" class="0x030200" link_speed="32.0 GT/s PCIe" link_width="16">
        <gpu dev="0" sm="90" rank="0" gdr="1">
          <nvlink target="0000:07:00.0" count="18" tclass="0x068000"/>
        </gpu>
      </pci>
      <pci busid="0000:22:00.0" class="0x020700" link_speed="32.0 GT/s PCIe" link_width="16">
        <nic>
          <net name="mlx5_0" dev="0" latency="0" speed="400000" port="1" guid="0xa" gdr="1"/>
        </nic>
      </pci>
    </pci>
  </cpu>
</system>
"""

NVIDIA_SMI = (
    "$ nvidia-smi topo -m\n"
    "\t\x1b[4mGPU0\tGPU1\tNIC0\tNIC1\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\x1b[0m\n"
    "GPU0\t X \tNV18\tPIX\tSYS\t0-55\t0\t\tN/A\n"
    "GPU1\tNV18\t X \tSYS\tPIX\t56-111\t1\t\tN/A\n"
    "NIC0\tPIX\tSYS\t X \tSYS\n"
    "NIC1\tSYS\tPIX\tSYS\t X \n"
    "\nLegend:\n\n  X    = Self\n  NV#  = Connection traversing a bonded set of # NVLinks\n"
)

FAILURE_LOG = """date,event,lost_hours,detail
2022-03-11,start,,105 s a step
2022-03-19,gpu failure,7.5,a GPU died
2022-04-02,node failure,3,
2022-04-20,software crash,1,hang
2022-05-01,end,,
"""

NCCL_LOG = """# Collective test starting: all_reduce_perf
#  Rank  0 Group  0 Pid 1 on a device  0 [0000:19:00] NVIDIA H100 80GB HBM3
#  Rank  1 Group  0 Pid 2 on a device  1 [0000:2d:00] NVIDIA H100 80GB HBM3
#       size  count  type  redop  root  time  algbw  busbw #wrong  time  algbw  busbw #wrong
     1048576  262144  float  sum  -1  27.37  38.31  38.31  0  26.93  38.94  38.94  0
     4194304  1048576  float  sum  -1  71.10  58.99  58.99  0  71.00  59.07  59.07  0
    16777216  4194304  float  sum  -1  190.2  88.21  88.21  0  190.1  88.25  88.25  0
"""

NCCL_LARGE = (
    NCCL_LOG
    + "  1073741824  268435456  float  sum  -1  7000  153.39  153.39  0  7001  153.37  153.37  0\n"
)

NCCL_JSON = json.dumps(
    {
        "version": 2,
        "args": ["./all_reduce_perf", "-b", "8"],
        "results": [
            {
                "size": size,
                "count": size // 4,
                "type": "float",
                "redop": "sum",
                "root": "-1",
                "out_of_place": {
                    "time": 20 + size / 2e5,
                    "alg_bw": 3.0,
                    "bus_bw": 3.0,
                    "nwrong": 0,
                },
                "in_place": {"time": 21 + size / 2e5, "alg_bw": 3.0, "bus_bw": 3.0, "nwrong": 0},
            }
            for size in (1024, 1048576, 16777216)
        ],
    },
    indent=1,
)

FIO = json.dumps(
    {
        "fio version": "fio-3.33",
        "jobs": [
            {
                "jobname": "save",
                "error": 0,
                "job options": {"rw": "write", "bs": "4M", "numjobs": "16", "direct": "1"},
                "write": {"io_bytes": 68719476736, "runtime": 12000, "bw_bytes": 5726623061},
                "read": {"io_bytes": 0, "runtime": 0, "bw_bytes": 0},
            }
        ],
    },
    indent=1,
)

TORCH_TRACE = json.dumps(
    {
        "schemaVersion": 1,
        "deviceProperties": [{"id": 0, "name": "NVIDIA H100 80GB HBM3"}],
        "traceEvents": [
            {
                "ph": "X",
                "cat": "cpu_op",
                "name": "aten::mm",
                "ts": 1,
                "dur": 2,
                "args": {
                    "External id": 1,
                    "Input Dims": [[4096, 4096], [4096, 4096]],
                    "Input type": ["c10::BFloat16", "c10::BFloat16"],
                },
            },
            {
                "ph": "X",
                "cat": "kernel",
                "name": "nvjet_gemm",
                "ts": 5,
                "dur": 190.5,
                "args": {"External id": 1, "device": 0, "stream": 7},
            },
        ],
    },
    indent=1,
)

GEMM = "dtype,m,n,k,time_us,builds\nbfloat16,4096,4096,4096,190.5,1\nbfloat16,128,256,512,5.9,1\n"

SAMPLES_TABLE = (
    "# headway-samples 1\n# device: NVIDIA H100\n"
    "kind,op,variant,precision,m,n,k,batch,sequence,query_heads,key_value_heads,head_dim,causal,"
    "ranks,ranks_per_node,streams,bytes,beside,repeats,seconds,spread_s,elapsed_s,clock_hz,power_w,"
    "temperature_c,flags\n"
    "collective,all_reduce,in_place,fp32,,,,,,,,,,2,2,,1048576,,,2.7e-05,,,,,,\n"
    "collective,all_reduce,in_place,fp32,,,,,,,,,,2,2,,4194304,,,7.1e-05,,,,,,\n"
    "gemm,,,bf16,4096,4096,4096,,,,,,,,,,,,,0.0001905,,,,,,\n"
)

COLLECTIVES = (
    "system,collective,n_gpus,message_bytes,measured_us\n"
    "dgx-h100,all_reduce,8,1048576,27.4\ndgx-h100,all_reduce,64,16777216,190\n"
)

CONFIG_JSON = json.dumps(
    {
        "model_type": "llama",
        "architectures": ["LlamaForCausalLM"],
        "hidden_size": 4096,
        "intermediate_size": 14336,
        "num_hidden_layers": 32,
        "num_attention_heads": 32,
        "num_key_value_heads": 8,
        "vocab_size": 128256,
        "hidden_act": "silu",
        "max_position_embeddings": 131072,
        "rms_norm_eps": 1e-05,
        "rope_theta": 500000.0,
        "tie_word_embeddings": False,
        "torch_dtype": "bfloat16",
    },
    indent=1,
)

CONFIG_SCENARIO = """headway: 1
name: Small
cluster:
  nodes: 2
  node: {use: dgx-h100}
  fabric: {use: rail-optimized-ndr}
  storage: {use: lustre}
model: {huggingface: config.json}
training: {sequence_length: 4096, global_batch: 32}
parallelism: {tensor: 2, pipeline: 2, data: auto}
"""


def table_head(path: Path, rows: int) -> str:
    """The header and the first rows of a table."""
    return "".join(path.read_text(encoding="utf-8").splitlines(keepends=True)[: rows + 1])


def samples(root: Path) -> list[Sample]:
    """One file of every format."""
    runs = table_head(root / "configs/validation/training_runs.csv", 3)
    goodput = table_head(root / "configs/validation/goodput_cases.csv", 3)
    calibrate = ("calibrate", "import")
    json_out = ("--format", "json")
    launch = root / "tests/data/launch"
    small = str(root / "configs/scenarios/small-llama-8b-64-h100.yaml")
    named = ("--model", "llama-3.1-8b", "--sequence-length", "4096")
    return [
        *(
            Sample(file, (launch / file).read_text(encoding="utf-8"), ("import", *command, "FILE"))
            for file, command in (
                ("llama3_70b.sh", ("megatron-args",)),
                ("mixtral_8x7b.sh", ("megatron-args", "--gpus", "64")),
                ("llama3_405b.toml", ("torchtitan-toml",)),
                ("megatron_gpt.yaml", ("nemo-yaml",)),
                ("zero3_offload.json", ("deepspeed-json", *named)),
            )
        ),
        Sample("fabric.out", IBNETDISCOVER, ("import", "ibnetdiscover", "FILE")),
        Sample("topology.conf", SLURM, ("import", "slurm-topology", "FILE")),
        Sample("topo.xml", NCCL_XML, ("import", "nccl-xml", "FILE", "--gpu", "h100-sxm")),
        Sample("topo.txt", NVIDIA_SMI, ("import", "nvidia-smi-topo", "FILE", "--gpu", "h100-sxm")),
        Sample("events.csv", FAILURE_LOG, ("import", "failure-log", "FILE")),
        Sample("a.log", NCCL_LOG, (*calibrate, "nccl-tests", "FILE")),
        Sample(
            "b.log",
            NCCL_LOG,
            (
                "collective",
                "all_reduce",
                "--cluster",
                "dgx-h100",
                "--gpus",
                "2",
                "--compare",
                "FILE",
                *json_out,
            ),
        ),
        Sample("a.json", NCCL_JSON, (*calibrate, "nccl-tests-json", "FILE", "--ranks", "2")),
        Sample("c.log", NCCL_LARGE, ("expect", small, "--against", "FILE", *json_out)),
        Sample("m.csv", MEASURED, ("expect", small, "--against", "FILE", *json_out)),
        Sample("train.log", TRAINING_LOG, ("diagnose", small, "FILE", *json_out)),
        Sample("node7.txt", GPU_MONITOR, ("diagnose", small, "FILE", *json_out)),
        Sample("fio.json", FIO, (*calibrate, "fio", "FILE")),
        Sample("trace.json", TORCH_TRACE, (*calibrate, "torch-profiler", "FILE")),
        Sample("gemm.csv", GEMM, (*calibrate, "gemm", "FILE")),
        Sample("samples.csv", SAMPLES_TABLE, ("calibrate", "fit", "FILE", "--gpu", "h100-sxm")),
        Sample("runs.csv", runs, ("validate", "--runs", "FILE", *json_out)),
        Sample("goodput.csv", goodput, ("validate", "--goodput", "FILE", *json_out)),
        Sample("collectives.csv", COLLECTIVES, ("validate", "--collectives", "FILE", *json_out)),
    ]
