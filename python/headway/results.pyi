# Generated from the field lists of results by HEADWAY_UPDATE_GOLDEN=1 headway_report_test; edit
# those, not this file.
"""What results have, for editors and checkers.

``headway.run(...)`` returns a `RunResult`, ``headway.plan(...)`` a `PlanResult`, and so on. At run
time these classes are `headway.Result`, and those of the parts of results `headway.Record`: the
names are for annotations, such as ``def cost(plan: PlannedRun) -> float``.

A part whose text begins with "not always there" is an AttributeError in results without it, as the
`pictures` of a run that was not asked for them. Keys that are words of Python or methods of
mappings, `class` and `values`, are no attributes: read ``record["class"]``.
"""

from collections.abc import Mapping
from typing import Any, Literal

from headway._record import Record, Result

class TableResult(Result):
    """A table alone: the catalogue, or what this installation finds."""

    @property
    def schema(self) -> str: ...
    @property
    def version(self) -> str:
        """of the program"""
    @property
    def rows(self) -> tuple[Any, ...]:
        """a line each; which columns there are is the table's"""

class RunResult(Result):
    """The object of ``headway run --format json``. Quantiles `p5`, `p50`, `p95` and `mean` are
    over the trials."""

    @property
    def schema(self) -> str: ...
    @property
    def version(self) -> str:
        """of the program"""
    @property
    def status(self) -> Literal["ok", "infeasible", "assert_failed", "incomplete"]:
        """also the exit code: 0, 3, 4, 5"""
    @property
    def reasons(self) -> tuple[str, ...]:
        """why the status is not ok"""
    @property
    def scenario(self) -> ScenarioLabel:
        """What tells one prediction from another."""
    @property
    def asked(self) -> tuple[str, ...]:
        """model, cluster and layout in sentences"""
    @property
    def model(self) -> ModelSize:
        """What is trained."""
    @property
    def step(self) -> StepResult:
        """One step on a healthy cluster."""
    @property
    def memory(self) -> MemoryResult:
        """Of the fullest GPU."""
    @property
    def campaign(self) -> CampaignResult | None:
        """The run, over the trials; null without `run.until`. Time is measured on the wall
        clock of the job; D, R, C, P and tau as in
        [`sim/campaign/README.md`](../sim/campaign/README.md)."""
    @property
    def cost(self) -> CostReport | None:
        """The bill of the mean run; null without prices."""
    @property
    def published(self) -> tuple[Comparison, ...]:
        """the figures of the scenario's `claim` beside ours"""
    @property
    def limit(self) -> str:
        """the sentence that names what limits the run. A plan that does not fit is limited by
        memory. Else the wall clock is compute, the other causes of the step, and interruptions
        (`1 - ettr`; the causes of the step then count `ettr` times); the largest part that is
        not compute is the largest loss. Compute is the limit where it has half or more, and the
        largest loss is named beside it; else the largest loss is the limit, and compute is
        named beside it. Shares are of the step, or of the wall clock where interruptions are
        the largest loss"""
    @property
    def remedies(self) -> tuple[Remedy, ...]:
        """what to change, the best first, and what it would bring"""
    @property
    def compared(self) -> tuple[str, ...]:
        """the published runs most like this one, and how far their predictions were off; they
        decide how wide the interval of the step is"""
    @property
    def stage_advice(self) -> StageAdvice | None:
        """layers that should be on other stages; null where moving them would not help"""
    @property
    def assumptions(self) -> tuple[Assumption, ...]:
        """what the prediction rests on and no file says"""
    @property
    def warnings(self) -> tuple[str, ...]:
        """what else to know"""
    @property
    def timing(self) -> Timing:
        """How long the program took; the only part that varies between runs."""
    @property
    def explanation(self) -> Explanation:
        """not always there: With `--explain`: why the step takes as long."""
    @property
    def power(self) -> PowerReport:
        """not always there: With `--power` or `--show power`: what the cluster draws over a
        step. A GPU draws its limit while kernels run and idle power else."""
    @property
    def pictures(self) -> Pictures:
        """not always there: With `--pictures`: what `headway report` draws."""

class ScenarioLabel(Record):
    """`scenario` of ``headway run``: What tells one prediction from another."""

    @property
    def name(self) -> str:
        """as the file calls it"""
    @property
    def digest(self) -> str:
        """over the resolved input, the calibration and the program version"""
    @property
    def seed(self) -> int:
        """of all draws"""
    @property
    def calibration(self) -> str:
        """the profile of measurements, as it calls itself; `catalogue`: none, the catalogue's
        figures stand"""

class ModelSize(Record):
    """`model` of ``headway run``: What is trained."""

    @property
    def name(self) -> str:
        """of the model"""
    @property
    def parameters(self) -> float:
        """all of them, multi-token prediction layers left out"""
    @property
    def active_parameters(self) -> float:
        """those that one token meets, embedding and head included"""
    @property
    def trained_parameters(self) -> float:
        """those that are trained: all, prediction modules included, or adapters and what is not
        frozen; checkpoints hold these"""
    @property
    def teacher_parameters(self) -> float:
        """those of the model whose probabilities are learned; 0: none runs"""
    @property
    def logits_bytes_per_token(self) -> float:
        """cached logits of a teacher that ran before, in storage: k (value bits + bits of a
        token's number) / 8, or vocabulary x value bits / 8; 0: none are read [B]"""
    @property
    def encoder_parameters(self) -> float:
        """of `parameters`, those of an encoder of images and its projectors; 0: none"""
    @property
    def tokens_per_step(self) -> float:
        """global batch x sequence length"""

class StepResult(Record):
    """`step` of ``headway run``: One step on a healthy cluster."""

    @property
    def time_s(self) -> float:
        """wall time of one optimizer step, healthy cluster [s]"""
    @property
    def time_interval_s(self) -> tuple[float, float]:
        """90 % prediction interval of the mean step [s]"""
    @property
    def tokens_per_s(self) -> float:
        """`global batch x sequence length / time` [1/s]"""
    @property
    def tokens_per_s_per_gpu(self) -> float:
        """the same / GPUs of the job, spares not counted [1/s]"""
    @property
    def mfu(self) -> float:
        """model FLOPs per token (forward and backward, attention in full) x tokens per second
        per GPU / dense peak of the matrix format"""
    @property
    def mfu_causal(self) -> float:
        """the same with attention halved, as the causal mask allows"""
    @property
    def hfu(self) -> float:
        """`mfu` with recomputed forwards added"""
    @property
    def model_tflops_per_gpu(self) -> float:
        """model FLOPs per second per GPU, convention of `mfu` [10^12/s]"""
    @property
    def breakdown_s(self) -> ByActivity:
        """each instant of each rank has one cause; mean over ranks; adds up to the step [s]"""
    @property
    def critical_path_s(self) -> OnCriticalPath:
        """causes along the chain from the end of the step to its start; adds up to the step [s]"""
    @property
    def links(self) -> tuple[LinkUse, ...]:
        """of each tier of links, bytes carried / (capacity x step)"""
    @property
    def sites(self) -> SitesResult | None:
        """of a cluster on several sites; null on one"""
    @property
    def event_digest(self) -> str:
        """hash of all events in order: equal for any number of threads"""
    @property
    def result_digest(self) -> str:
        """hash of what finished when: equal for folded and unfolded runs"""
    @property
    def packets(self) -> PacketStep:
        """not always there: With `--network packet`: what packets say of the step."""

class ByActivity(Record):
    """`step.breakdown_s` of ``headway run``: each instant of each rank has one cause; mean over
    ranks; adds up to the step"""

    @property
    def compute(self) -> float:
        """kernels, as long as they take on the GPU, with the gaps between them [s]"""
    @property
    def launch(self) -> float:
        """kernels and the GPU wait for the CPU's launches: what a block's launches add to the
        GPU's time for its kernels, at every kernel of the block alike [s]"""
    @property
    def tensor(self) -> float:
        """tensor-parallel communication that nothing hides [s]"""
    @property
    def pipeline_bubble(self) -> float:
        """waiting for other stages, less `stage_imbalance`: what the schedule costs where all
        stages are equal, (p - 1) / (m v) of the passes for 1F1B and interleaved [s]"""
    @property
    def stage_imbalance(self) -> float:
        """waiting for other stages because stages are unequal: of the waits of stage s, up to
        max over i of W_i - W_s. W_i is the work of stage i, mean of its ranks: all but waits
        for other stages, transfers between them and data-parallel communication [s]"""
    @property
    def pipeline_p2p(self) -> float:
        """transfers between stages that nothing hides [s]"""
    @property
    def data(self) -> float:
        """data-parallel communication that nothing hides [s]"""
    @property
    def rank_imbalance(self) -> float:
        """waiting for the data-parallel rank whose documents or images have the most work; in
        the mean over steps [s]"""
    @property
    def context(self) -> float:
        """context-parallel communication that nothing hides [s]"""
    @property
    def expert(self) -> float:
        """expert-parallel communication that nothing hides [s]"""
    @property
    def optimizer(self) -> float:
        """kernels of the update [s]"""
    @property
    def input(self) -> float:
        """waiting for the data loader; cached logits of a teacher on their way from the host
        [s]"""
    @property
    def checkpoint(self) -> float:
        """stalled by a checkpoint [s]"""
    @property
    def other(self) -> float:
        """fixed work of the software and, where activations are offloaded, waits for them on
        their way to or from the host [s]"""

class OnCriticalPath(Record):
    """`step.critical_path_s` of ``headway run``: causes along the chain from the end of the
    step to its start; adds up to the step"""

    @property
    def compute(self) -> float: ...
    @property
    def launch(self) -> float: ...
    @property
    def tensor(self) -> float: ...
    @property
    def pipeline_p2p(self) -> float: ...
    @property
    def data(self) -> float: ...
    @property
    def rank_imbalance(self) -> float: ...
    @property
    def context(self) -> float: ...
    @property
    def expert(self) -> float: ...
    @property
    def optimizer(self) -> float: ...
    @property
    def input(self) -> float: ...
    @property
    def checkpoint(self) -> float: ...
    @property
    def other(self) -> float: ...

class LinkUse(Record):
    """`step.links[]` of ``headway run``: of each tier of links, bytes carried / (capacity x
    step)"""

    @property
    def tier(self) -> str:
        """nvlink (mesh, pcie), nic, leaf-spine, spine-core"""
    @property
    def mean(self) -> float:
        """mean over the links of the tier that are used"""
    @property
    def busiest(self) -> float:
        """the same of the busiest one"""

class SitesResult(Record):
    """`step.sites` of ``headway run``: of a cluster on several sites; null on one"""

    @property
    def count(self) -> int:
        """sites"""
    @property
    def payload_bytes_per_s(self) -> float:
        """of one site into the wide area, one direction, headers and lost packets taken off
        [B/s]"""
    @property
    def card_bytes_per_s(self) -> float:
        """that the connections of one network card reach between sites: windows, round trip and
        loss [B/s]"""
    @property
    def step_bytes(self) -> float:
        """one site sends to others in a step, mean over steps [B]"""
    @property
    def exchange(self) -> ExchangeResult | None:
        """of sites that train apart; null where every step is one of all"""

class ExchangeResult(Record):
    """`step.sites.exchange` of ``headway run``: of sites that train apart; null where every
    step is one of all"""

    @property
    def bytes(self) -> float:
        """one site sends to others in the exchange of one fragment [B]"""
    @property
    def kernels_s(self) -> float:
        """kernels of one exchange: the change, its packing, the outer step [s]"""
    @property
    def transfer_s(self) -> float:
        """all else of one exchange, simulated: between sites, and new weights gathered inside
        [s]"""
    @property
    def step_kernels_s(self) -> float:
        """these kernels, mean over steps [s]"""
    @property
    def step_wait_s(self) -> float:
        """transfers that no step runs beside, mean over steps; in `step.breakdown_s.data` [s]"""
    @property
    def rate_to_hide_bytes_per_s(self) -> float:
        """payload rate at which a site's bytes pass in `overlap_steps` steps, or in one [B/s]"""

class PacketStep(Record):
    """`step.packets` of ``headway run``: With `--network packet`: what packets say of the step."""

    @property
    def transport(self) -> str:
        """of the packets"""
    @property
    def path_choice(self) -> str:
        """which of several equal cables a packet takes"""
    @property
    def fluid_step_s(self) -> float:
        """the same step by fluid flows alone [s]"""
    @property
    def collectives(self) -> tuple[PacketCollective, ...]:
        """each distinct collective between NVLink domains, in order of first use"""
    @property
    def packets(self) -> int:
        """sent, repeats included"""
    @property
    def packet_hops(self) -> int:
        """cables that packets crossed"""
    @property
    def marks(self) -> int:
        """packets marked by a long queue"""
    @property
    def drops(self) -> int:
        """packets that found no room"""
    @property
    def trims(self) -> int:
        """packets that lost their payload"""
    @property
    def pauses(self) -> int:
        """times that a cable was told to stop"""
    @property
    def stalls(self) -> int:
        """times that a packet waited for credits"""
    @property
    def repeats(self) -> int:
        """packets sent again"""
    @property
    def timeouts(self) -> int:
        """senders that heard nothing for `timeout`"""
    @property
    def notices(self) -> int:
        """congestion notifications (DCQCN)"""
    @property
    def deepest_queue_bytes(self) -> int:
        """longest queue before a cable of a switch [B]"""
    @property
    def event_digest(self) -> str:
        """of all packets: the same on any threads"""

class PacketCollective(Record):
    """`step.packets.collectives[]` of ``headway run``: each distinct collective between NVLink
    domains, in order of first use"""

    @property
    def name(self) -> str:
        """as the step calls it; a name may stand for several of one size"""
    @property
    def kind(self) -> Literal["all_reduce", "all_gather", "reduce_scatter", "all_to_all", "broadcast", "send_receive"]:
        """of collective"""
    @property
    def ranks(self) -> int:
        """of one group"""
    @property
    def groups(self) -> int:
        """that make the call at once"""
    @property
    def bytes(self) -> float:
        """of one call, as nccl-tests counts [B]"""
    @property
    def simulated_bytes(self) -> float:
        """of them by packets; less than `bytes`: this much and half of it were simulated, and
        the straight line through both goes on [B]"""
    @property
    def packet_time_s(self) -> float:
        """until the last byte of the last group, by packets [s]"""
    @property
    def fluid_time_s(self) -> float:
        """the same messages as fluid flows [s]"""
    @property
    def times(self) -> float:
        """packets / fluid: the time of the call's bytes in the step is so many times that of
        the fluid step; its latency and launch stay"""

class MemoryResult(Record):
    """`memory` of ``headway run``: Of the fullest GPU."""

    @property
    def fits(self) -> bool:
        """the peak is at most the capacity"""
    @property
    def peak_bytes(self) -> float:
        """largest sum of all live bytes during the step [B]"""
    @property
    def capacity_bytes(self) -> float:
        """memory of the GPU, what is reserved for the driver taken off [B]"""
    @property
    def peak_stage(self) -> int:
        """pipeline stage of that GPU, from 0"""
    @property
    def by_kind_bytes(self) -> MemoryByKind:
        """the peak by what the bytes hold; adds up to it [B]"""
    @property
    def stage_peak_bytes(self) -> tuple[float, ...]:
        """the peak of each pipeline stage [B]"""
    @property
    def host_peak_bytes(self) -> float:
        """what is offloaded to the memory of one node [B]"""
    @property
    def host_capacity_bytes(self) -> float:
        """memory of one node [B]"""
    @property
    def allocated_bytes(self) -> float:
        """of the peak, what tensors have (PyTorch: max_memory_allocated) [B]"""
    @property
    def reserved_bytes(self) -> float:
        """of the peak, tensors and what the allocator holds beside (max_memory_reserved) [B]"""

class MemoryByKind(Record):
    """`memory.by_kind_bytes` of ``headway run``: the peak by what the bytes hold; adds up to it"""

    @property
    def weights(self) -> float:
        """parameters in the precision of training [B]"""
    @property
    def gradients(self) -> float:
        """gradients, accumulated [B]"""
    @property
    def optimizer(self) -> float:
        """state of the optimizer, master weights included [B]"""
    @property
    def activations(self) -> float:
        """what the backward pass needs of the forward passes [B]"""
    @property
    def logits(self) -> float:
        """output of the last layer and its gradient [B]"""
    @property
    def buffers(self) -> float:
        """communication buffers, gathered weights, workspaces [B]"""
    @property
    def slack(self) -> float:
        """fragmentation of the allocator [B]"""

class CampaignResult(Record):
    """`campaign` of ``headway run``: The run, over the trials; null without `run.until`. Time
    is measured on the wall clock of the job; D, R, C, P and tau as in
    [`sim/campaign/README.md`](../sim/campaign/README.md)."""

    @property
    def trials(self) -> int:
        """independent draws of all failures"""
    @property
    def mean_within(self) -> float | None:
        """half of the 95 % interval of the mean of `wall_days` (of `ettr`, where the wall clock
        ends the run) / that mean: 1.96 standard errors; null for a single trial"""
    @property
    def wall_days(self) -> Distribution:
        """from the start of the run until its last save is durable [d]"""
    @property
    def time_to_market(self) -> TimeToMarket | None:
        """from the order of the cluster on; null without `run.bring_up`"""
    @property
    def ettr(self) -> Distribution:
        """durable steps x healthy step time / wall ("effective training time ratio"). Saves,
        lost steps, downtime and the slowness of degraded states count against it; a slow
        healthy step does not"""
    @property
    def goodput(self) -> Distribution:
        """the same in GPU seconds / all GPU seconds paid for, spares included: `ettr x gpus /
        (gpus + spare GPUs)`"""
    @property
    def interruptions(self) -> Distribution:
        """times that the job was stopped: by faults, those that strike during a restart
        included, by slow parts, and by the same fault again after a healthy part was blamed for
        it"""
    @property
    def interruptions_by_hazard(self) -> tuple[InterruptionCount, ...]:
        """by class of failure; they add up to the mean of `interruptions`"""
    @property
    def steps(self) -> Distribution:
        """optimizer steps whose work became durable"""
    @property
    def tokens(self) -> float:
        """tokens of durable steps, mean"""
    @property
    def ledger_gpu_s(self) -> Ledger:
        """GPU seconds an account, mean over trials; every tick (1 us) of every GPU paid for is
        in exactly one, and they add up to wall x all GPUs paid for [GPU s]"""
    @property
    def nodes_retired(self) -> float:
        """nodes that left for good by `run.recovery.retire_after` or `retire_score`, mean"""
    @property
    def replicas_hit(self) -> float:
        """blast radius: model replicas that lose a node by a failure that takes nodes, mean;
        the placement decides how many stand in one failure domain; 0: none did"""
    @property
    def logits_stored_bytes(self) -> float | None:
        """cached logits of a teacher in storage, those of every token of the run, or of the
        data set where that is smaller; absent where none are read [B]"""
    @property
    def input_bytes_per_s(self) -> float | None:
        """what the job reads at healthy speed, data and cached logits, those that caches serve
        among them; absent where nothing is said of the data [B/s]"""
    @property
    def step_simulations(self) -> int:
        """step simulations of degraded states; each kind, severity and place that is alike is
        simulated once"""
    @property
    def checkpoint_interval_s(self) -> float | None:
        """tau: useful work between two saves that are made, a step or more (in whole steps
        after `interval_steps`); while a background save is not durable the next are skipped [s]"""
    @property
    def optimal_interval_s(self) -> float | None:
        """the same, best for these failures and what `checkpoint.interval: auto` takes: `tau* =
        mu (1 + W0(-e^(-C/mu - 1)))` of the rate 1/mu at which the job goes back to a save, no
        less than P - C and no more than the run; of several levels and of saves that may be
        unreadable of first order (sim/campaign/README.md); absent without failures [s]"""
    @property
    def checkpoint_stall_s(self) -> float:
        """C: training stands still for one save [s]"""
    @property
    def checkpoint_persist_s(self) -> float:
        """P: from the snapshot until it is durable; 0 for synchronous saves, whose stall
        contains it [s]"""
    @property
    def checkpoint_load_s(self) -> float:
        """loading one checkpoint: all nodes read at once, latency and opening of files included
        [s]"""
    @property
    def mean_time_between_interruptions_s(self) -> float | None:
        """1 / sum of the rates of all that `interruptions` counts, while the job runs: the
        clock stands still while it is down; absent if nothing stops it [s]"""
    @property
    def downtime_s(self) -> float | None:
        """D + R: mean from a failure until steps run again: detection, diagnosis, replacement
        (or the share of failures that need none), start, load and warm-up; the steps that are
        repeated are in `lost` of the ledger, waiting for a spare in `wait`; absent without
        failures [s]"""
    @property
    def advice(self) -> Advice | None:
        """what would help; absent if nothing ever fails"""
    @property
    def closed_form_ettr(self) -> float | None:
        """exact formula for the same inputs; absent where none exists"""

class Distribution(Record):
    """`campaign.wall_days` of ``headway run``: from the start of the run until its last save is
    durable"""

    @property
    def p5(self) -> float: ...
    @property
    def p50(self) -> float: ...
    @property
    def p95(self) -> float: ...
    @property
    def mean(self) -> float: ...

class TimeToMarket(Record):
    """`campaign.time_to_market` of ``headway run``: from the order of the cluster on; null
    without `run.bring_up`"""

    @property
    def bring_up_days(self) -> Distribution:
        """from the order to the first step: `delivery + burn_in + (tests - 1) (replacement +
        burn_in)` [d]"""
    @property
    def ready_days(self) -> Distribution:
        """from the order until the run's last save is durable: `bring_up_days` + `wall_days` +
        what the ramp takes longer [d]"""
    @property
    def tests(self) -> float:
        """burn-in tests, one after the other, until the job's nodes have passed, mean"""
    @property
    def ramp_days(self) -> float:
        """what the run takes longer while its speed rises, mean [d]"""

class InterruptionCount(Record):
    """`campaign.interruptions_by_hazard[]` of ``headway run``: by class of failure; they add up
    to the mean of `interruptions`"""

    @property
    def hazard(self) -> str:
        """class of failure"""
    @property
    def mean(self) -> float:
        """interruptions it caused, mean over the trials"""

class Ledger(Record):
    """`campaign.ledger_gpu_s` of ``headway run``: GPU seconds an account, mean over trials;
    every tick (1 us) of every GPU paid for is in exactly one, and they add up to wall x all
    GPUs paid for"""

    @property
    def useful(self) -> float:
        """steps that became durable, at healthy speed [GPU s]"""
    @property
    def lost(self) -> float:
        """steps thrown away at a failure, at healthy speed; their repetition is `useful` [GPU
        s]"""
    @property
    def checkpoint(self) -> float:
        """training stopped by a save, the wait for the last save of the run included; what
        background saves take from a shared fabric [GPU s]"""
    @property
    def detect(self) -> float:
        """the job stands, nobody knows [GPU s]"""
    @property
    def diagnose(self) -> float:
        """alarm to the name of a part, while the job stands [GPU s]"""
    @property
    def restart(self) -> float:
        """replacing nodes, containers, communicators, warm-up, elastic stalls, moves to spares
        [GPU s]"""
    @property
    def load(self) -> float:
        """reading the checkpoint or the state of peers; copying the data set [GPU s]"""
    @property
    def wait(self) -> float:
        """no spare left [GPU s]"""
    @property
    def cut_off(self) -> float:
        """a site has no way to the others, and an exchange or a restart waits for it [GPU s]"""
    @property
    def protection(self) -> float:
        """what a scheme that tolerates faults adds to every step (`run.recovery.step_tax`) [GPU
        s]"""
    @property
    def input(self) -> float:
        """steps wait for data that storage delivers too slowly; GPUs draw their idle power [GPU
        s]"""
    @property
    def degraded(self) -> float:
        """steps take longer than healthy ones: k healthy step times are `useful` or `lost`, the
        rest is here (slow parts, heat, missing replicas), without the waits for data of a
        healthy step [GPU s]"""
    @property
    def spare_idle(self) -> float:
        """spares, ready or in repair [GPU s]"""
    @property
    def maintenance(self) -> float:
        """planned work [GPU s]"""

class Advice(Record):
    """`campaign.advice` of ``headway run``: what would help; absent if nothing ever fails"""

    @property
    def interval_curve(self) -> tuple[IntervalPoint, ...]:
        """ETTR at the job's own checkpoint interval (that of `ettr`) and at others"""
    @property
    def wait_target(self) -> float:
        """share of the time that waiting for spares may take"""
    @property
    def spares(self) -> int | None:
        """fewest spare nodes that wait less than `wait_target`"""
    @property
    def spares_exact(self) -> bool:
        """by Erlang's loss formula, or that of a queue for so many crews; else by trials"""
    @property
    def earlier_detection(self) -> tuple[EarlierDetection, ...]:
        """what it is worth to notice failures sooner"""

class IntervalPoint(Record):
    """`campaign.advice.interval_curve[]` of ``headway run``: ETTR at the job's own checkpoint
    interval (that of `ettr`) and at others"""

    @property
    def interval_s(self) -> float:
        """useful work between saves to storage [s]"""
    @property
    def ettr(self) -> float | None:
        """ETTR of the same job at that interval; absent where the run would hardly end"""
    @property
    def exact(self) -> bool:
        """by closed form, where nobody waits for a spare and it agrees with the trials; else
        trials with equal random numbers, 50 or as many as see 100 failures, or that form of a
        short run where all trials would see fewer than 10"""

class EarlierDetection(Record):
    """`campaign.advice.earlier_detection[]` of ``headway run``: what it is worth to notice
    failures sooner"""

    @property
    def earlier_s(self) -> float:
        """every failure is noticed up to so much sooner [s]"""
    @property
    def ettr_gain(self) -> float | None:
        """mean gain in ETTR"""
    @property
    def standard_error(self) -> float | None:
        """of the gain"""
    @property
    def days_saved(self) -> float | None:
        """mean; 0 where the wall clock ends the run [d]"""

class CostReport(Record):
    """`cost` of ``headway run``: The bill of the mean run; null without prices."""

    @property
    def total_usd(self) -> Distribution:
        """GPUs + spares + storage (kept, written, read) + electricity where the GPU price
        leaves it out [USD]"""
    @property
    def usd_per_million_tokens(self) -> float:
        """total / durable tokens x 10^6 [USD]"""
    @property
    def usd_per_useful_gpu_hour(self) -> float:
        """total / (GPUs x wall x ETTR) [USD]"""
    @property
    def energy_kwh(self) -> float:
        """energy of GPUs, hosts and switches x PUE; GPUs draw board power while kernels run,
        idle power otherwise [kWh]"""
    @property
    def price_source(self) -> str:
        """where the prices are from, with their date"""
    @property
    def gpus_usd(self) -> float:
        """GPU-hours of the job x price [USD]"""
    @property
    def spares_usd(self) -> float:
        """GPU-hours of spare nodes x price x the share of it that spares cost [USD]"""
    @property
    def storage_usd(self) -> float:
        """checkpoints kept over the run, bytes written and bytes read [USD]"""
    @property
    def electricity_usd(self) -> float:
        """`energy_kwh` x tariff; 0 where the price of a GPU-hour contains it [USD]"""
    @property
    def bring_up_usd(self) -> float | None:
        """GPU-hours of the job and of spares from delivery to the first step x the share of the
        price that is paid then, and those that the ramp adds to the run; null where there are
        none [USD]"""
    @property
    def co2_kg(self) -> float:
        """`energy_kwh` x carbon intensity of the electricity [kg]"""

class Comparison(Record):
    """`published[]` of ``headway run``: the figures of the scenario's `claim` beside ours"""

    @property
    def quantity(self) -> str:
        """what is compared, with its unit"""
    @property
    def published(self) -> float:
        """of the scenario's `claim`, in that unit"""
    @property
    def predicted(self) -> float:
        """ours, in the same unit"""
    @property
    def error(self) -> float | None:
        """predicted / published - 1"""

class Remedy(Record):
    """`remedies[]` of ``headway run``: what to change, the best first, and what it would bring"""

    @property
    def change(self) -> str:
        """what to change"""
    @property
    def brings(self) -> str:
        """what that brings"""
    @property
    def gain(self) -> float:
        """share of the wall clock saved, or of the step without a run"""
    @property
    def at_most(self) -> bool:
        """the gain is an upper bound while all else takes as long as now: the whole of one
        loss, of the longest path or of the mean rank, whichever is more (a change that shortens
        several, as a faster network, may bring the sum of theirs); else it is computed, or
        estimated where `brings` says `about`"""

class StageAdvice(Record):
    """`stage_advice` of ``headway run``: layers that should be on other stages; null where
    moving them would not help"""

    @property
    def stage(self) -> int:
        """pipeline stage with the most work, from 0"""
    @property
    def excess(self) -> float:
        """its work W_i / mean of all stages - 1"""
    @property
    def chunk_layers(self) -> tuple[int, ...]:
        """layers of every chunk that make stages more equal, as `parallelism.chunk_layers`
        takes them"""
    @property
    def step_time_s(self) -> float:
        """`step.time_s` with them, simulated [s]"""
    @property
    def sentence(self) -> str:
        """the same in words"""

class Assumption(Record):
    """`assumptions[]` of ``headway run``: what the prediction rests on and no file says"""

    @property
    def key(self) -> str:
        """field of the scenario, or a name"""
    @property
    def value(self) -> str:
        """what was taken"""
    @property
    def why(self) -> str:
        """why, and where it is from"""

class Timing(Record):
    """`timing` of ``headway run``: How long the program took; the only part that varies between
    runs."""

    @property
    def load_s(self) -> float:
        """reading the files [s]"""
    @property
    def step_s(self) -> float:
        """simulating the step [s]"""
    @property
    def campaign_s(self) -> float:
        """simulating the run [s]"""
    @property
    def total_s(self) -> float:
        """all of it [s]"""
    @property
    def threads(self) -> int:
        """used"""

class Explanation(Record):
    """`explanation` of ``headway run``: With `--explain`: why the step takes as long."""

    @property
    def contributions(self) -> tuple[Contribution, ...]:
        """the largest parts of the critical path, longest first"""
    @property
    def rest_s(self) -> float:
        """of the critical path: all others together [s]"""
    @property
    def sensitivities(self) -> tuple[Sensitivity, ...]:
        """the step when one input changes, widest first"""

class Contribution(Record):
    """`explanation.contributions[]` of ``headway run``: the largest parts of the critical path,
    longest first"""

    @property
    def activity(self) -> Literal["compute", "launch", "tensor", "pipeline_bubble", "stage_imbalance", "pipeline_p2p", "data", "rank_imbalance", "context", "expert", "optimizer", "input", "checkpoint", "other"]:
        """its cause in `step.breakdown_s`"""
    @property
    def what(self) -> str:
        """kind of kernel or transfer"""
    @property
    def time_s(self) -> float:
        """on the critical path [s]"""
    @property
    def share(self) -> float:
        """of the step"""
    @property
    def count(self) -> int:
        """launches on the critical path; what is cut short counts whole"""
    @property
    def formula(self) -> str:
        """closed form of one launch, numbers filled in"""
    @property
    def formula_s(self) -> float | None:
        """what the formula gives for one launch of a kernel; null for what is no kernel [s]"""
    @property
    def change(self) -> str:
        """what would make it shorter"""

class Sensitivity(Record):
    """`explanation.sensitivities[]` of ``headway run``: the step when one input changes, widest
    first"""

    @property
    def input(self) -> str:
        """what is changed"""
    @property
    def fields(self) -> str:
        """the scenario's fields that are scaled"""
    @property
    def change(self) -> float:
        """of the input, either way"""
    @property
    def lower_step_s(self) -> float | None:
        """step with the input lower by that; null where a measured curve forbids the change [s]"""
    @property
    def higher_step_s(self) -> float | None:
        """step with the input higher by that [s]"""

class PowerReport(Record):
    """`power` of ``headway run``: With `--power` or `--show power`: what the cluster draws over
    a step. A GPU draws its limit while kernels run and idle power else."""

    @property
    def mean_w(self) -> float:
        """GPUs, hosts and switches, mean over the step [W]"""
    @property
    def peak_w(self) -> float:
        """largest of all windows [W]"""
    @property
    def least_w(self) -> float:
        """smallest of all windows [W]"""
    @property
    def swing_w(self) -> float:
        """between them: what the feed sees of every step, all GPUs being in step [W]"""
    @property
    def ramp_w_per_s(self) -> float:
        """largest change from a window to the next, the step's last and first included [W/s]"""
    @property
    def window_s(self) -> float:
        """over which power is averaged [s]"""
    @property
    def standing_w(self) -> float:
        """while no step runs, as in a save that training waits for, a failure, a restart [W]"""
    @property
    def save_swing_w(self) -> float:
        """from the step's mean to `standing_w`: what a save that training waits for takes off
        [W]"""
    @property
    def node_w(self) -> float:
        """one node with its GPUs at their limit; a rack draws this times its nodes [W]"""
    @property
    def pue(self) -> float:
        """of `cluster.power`, or of `run.prices`; 1 where neither says it"""
    @property
    def facility_mean_w(self) -> float:
        """`mean_w` x PUE [W]"""
    @property
    def facility_peak_w(self) -> float:
        """`peak_w` x PUE [W]"""
    @property
    def joules_per_token(self) -> float:
        """facility_mean_w / tokens per second [J]"""
    @property
    def limits(self) -> PowerFit | None:
        """What `cluster.power` comes to; null without."""

class PowerFit(Record):
    """`power.limits` of ``headway run``: What `cluster.power` comes to; null without."""

    @property
    def board_w(self) -> float:
        """limit that boards of `cluster.node` run at [W]"""
    @property
    def own_board_w(self) -> float:
        """their limit as the scenario has it [W]"""
    @property
    def lowered_by(self) -> Literal["none", "rack", "facility"]:
        """which limit lowers it: none, that of a rack or the building"""
    @property
    def rack(self) -> Feed | None:
        """the rack that draws most; null where racks have no limit"""
    @property
    def facility(self) -> Feed | None:
        """the building; null where it has no limit"""

class Feed(Record):
    """`power.limits.rack` of ``headway run``: the rack that draws most; null where racks have
    no limit"""

    @property
    def nodes(self) -> int:
        """nodes of the job that it feeds"""
    @property
    def limit_w(self) -> float:
        """what feeds it [W]"""
    @property
    def drawn_w(self) -> float:
        """boards at the limit they run at, hosts and idle spares; of the building with switches
        and times PUE [W]"""
    @property
    def headroom_w(self) -> float:
        """limit_w - drawn_w [W]"""
    @property
    def swing_w(self) -> float:
        """the most that it can swing: all its GPUs from idle to their limit at once [W]"""

class Pictures(Record):
    """`pictures` of ``headway run``: With `--pictures`: what `headway report` draws."""

    @property
    def timeline(self) -> Timeline:
        """what each stage did when"""
    @property
    def streams(self) -> Streams:
        """what runs beside each other on the GPU of a rank of each stage"""
    @property
    def cables(self) -> LinkMap | None:
        """what the cables between leaves and spines carry; null where there are none, or none
        carries anything"""
    @property
    def cables_why(self) -> str:
        """why `cables` is null; empty where it is not"""
    @property
    def loads(self) -> tuple[LinkLoad, ...]:
        """the busiest link of each tier, moment by moment"""
    @property
    def stage_memory_bytes(self) -> tuple[MemoryByKind, ...]:
        """the fullest GPU of each stage by what the bytes hold [B]"""
    @property
    def scenario(self) -> str:
        """the scenario as it was read, all defaults written out, in YAML"""
    @property
    def campaign(self) -> CampaignPictures | None:
        """how the trials spread, and one of them; null without `run.until`"""

class Timeline(Record):
    """`pictures.timeline` of ``headway run``: what each stage did when"""

    @property
    def names(self) -> tuple[str, ...]:
        """what a span may be"""
    @property
    def stages(self) -> tuple[StageTimeline, ...]:
        """spans of one rank of each stage: of the largest class of ranks that are alike"""
    @property
    def others(self) -> tuple[StageTimeline, ...]:
        """spans of one rank of each other class, where replicas or tensor ranks of a stage are
        not alike"""
    @property
    def others_left_out(self) -> int:
        """ranks of classes that are not listed, so that there are at most 200,000 spans"""
    @property
    def stages_left_out(self) -> int:
        """stages that are not listed, so that there are at most 200,000 spans"""
    @property
    def spans_left_out(self) -> int:
        """spans at the end of the listed stages that are not listed, where the first and the
        last stage alone have more than 200,000"""

class StageTimeline(Record):
    """`pictures.timeline.stages[]` of ``headway run``: spans of one rank of each stage: of the
    largest class of ranks that are alike"""

    @property
    def stage(self) -> int:
        """pipeline stage, from 0"""
    @property
    def rank(self) -> int:
        """the first rank that does this"""
    @property
    def ranks(self) -> int:
        """ranks that do exactly the same at the same times"""
    @property
    def begin_us(self) -> tuple[int, ...]:
        """begin of each span, from the start of the step [us]"""
    @property
    def length_us(self) -> tuple[int, ...]:
        """its length [us]"""
    @property
    def exposed_us(self) -> tuple[int, ...]:
        """of that, waiting for transfers inside the span [us]"""
    @property
    def what(self) -> tuple[int, ...]:
        """index into `names`"""
    @property
    def micro_batch(self) -> tuple[int, ...]:
        """from 0; -1: of none"""
    @property
    def chunk(self) -> tuple[int, ...]:
        """of the stage's layers, from 0"""
    @property
    def memory_bytes(self) -> tuple[int, ...]:
        """held on the GPU, all kinds: at the fullest moment of the pass; between passes what
        the last one left [B]"""
    @property
    def held(self) -> HeldCourse:
        """the same by what the bytes hold"""

class HeldCourse(Record):
    """`pictures.timeline.stages[].held` of ``headway run``: the same by what the bytes hold"""

    @property
    def from_us(self) -> tuple[int, ...]:
        """moments from which on it is so, from the start of the step [us]"""
    @property
    def weights_bytes(self) -> tuple[int, ...]:
        """parameters in the precision of training [B]"""
    @property
    def gradients_bytes(self) -> tuple[int, ...]:
        """gradients, accumulated [B]"""
    @property
    def optimizer_bytes(self) -> tuple[int, ...]:
        """state of the optimizer, master weights included [B]"""
    @property
    def activations_bytes(self) -> tuple[int, ...]:
        """what the backward pass needs of the forward passes [B]"""
    @property
    def logits_bytes(self) -> tuple[int, ...]:
        """output of the last layer and its gradient [B]"""
    @property
    def buffers_bytes(self) -> tuple[int, ...]:
        """communication buffers, gathered weights, workspaces [B]"""
    @property
    def slack_bytes(self) -> tuple[int, ...]:
        """fragmentation of the allocator [B]"""
    @property
    def fullest(self) -> bool:
        """the step has more than 60 moments: each entry is the fullest of one of 60 equal
        windows"""

class Streams(Record):
    """`pictures.streams` of ``headway run``: what runs beside each other on the GPU of a rank
    of each stage"""

    @property
    def joined_us(self) -> int:
        """work of one kind is one band where the break is no longer, so that there are at most
        6,000 [us]"""
    @property
    def ranks(self) -> tuple[RankStreams, ...]:
        """the first rank of each stage; empty where nodes are of several kinds"""

class RankStreams(Record):
    """`pictures.streams.ranks[]` of ``headway run``: the first rank of each stage; empty where
    nodes are of several kinds"""

    @property
    def stage(self) -> int:
        """pipeline stage, from 0"""
    @property
    def rank(self) -> int:
        """its first rank"""
    @property
    def lines(self) -> tuple[StreamLine, ...]:
        """what runs beside each other"""

class StreamLine(Record):
    """`pictures.streams.ranks[].lines[]` of ``headway run``: what runs beside each other"""

    @property
    def name(self) -> str:
        """kernels, or the kind of transfer"""
    @property
    def begin_us(self) -> tuple[int, ...]:
        """begin of each band, from the start of the step [us]"""
    @property
    def length_us(self) -> tuple[int, ...]:
        """its length [us]"""
    @property
    def runs_us(self) -> tuple[int, ...]:
        """of that, time in which something of the kind runs [us]"""

class LinkMap(Record):
    """`pictures.cables` of ``headway run``: what the cables between leaves and spines carry;
    null where there are none, or none carries anything"""

    @property
    def spines(self) -> int:
        """that a leaf has cables to; of a dragonfly, groups"""
    @property
    def spines_a_column(self) -> int:
        """neighbouring spines that are one column"""
    @property
    def pooled(self) -> bool:
        """adaptive routing fills all cables of a leaf evenly: one column"""
    @property
    def leaves(self) -> tuple[LeafUse, ...]:
        """leaves whose cables carry something; where ranks are alike, those that stand for the
        others"""

class LeafUse(Record):
    """`pictures.cables.leaves[]` of ``headway run``: leaves whose cables carry something; where
    ranks are alike, those that stand for the others"""

    @property
    def first(self) -> int:
        """leaf, counted over all pods and planes"""
    @property
    def last(self) -> int:
        """of the neighbours that are one row"""
    @property
    def use(self) -> tuple[float, ...]:
        """of each group of spines the busiest cable, in the busier direction: bytes carried /
        (capacity x step)"""

class LinkLoad(Record):
    """`pictures.loads[]` of ``headway run``: the busiest link of each tier, moment by moment"""

    @property
    def tier(self) -> str:
        """as in `step.links`"""
    @property
    def alike(self) -> int:
        """links of the tier that carry as many bytes in the step"""
    @property
    def capacity_bytes_per_s(self) -> float:
        """what it can carry [B/s]"""
    @property
    def mean_of_ns(self) -> int:
        """loads are means over windows of this length, where there are more than 1,000 changes;
        0: exact [ns]"""
    @property
    def from_ns(self) -> tuple[int, ...]:
        """from the start of the step, when the load changes [ns]"""
    @property
    def load_bytes_per_s(self) -> tuple[int, ...]:
        """load from then on [B/s]"""

class CampaignPictures(Record):
    """`pictures.campaign` of ``headway run``: how the trials spread, and one of them; null
    without `run.until`"""

    @property
    def goodput(self) -> Histogram:
        """goodput of the trials, as `campaign.goodput`"""
    @property
    def trial(self) -> TrialPicture:
        """one trial with all that failed in it"""
    @property
    def storage_curve(self) -> tuple[StoragePoint, ...]:
        """ETTR beside the job's storage and slower and faster ones"""

class Histogram(Record):
    """`pictures.campaign.goodput` of ``headway run``: goodput of the trials, as
    `campaign.goodput`"""

    @property
    def low(self) -> float:
        """lower end of the first bin: the least value"""
    @property
    def high(self) -> float:
        """upper end of the last bin: the largest value"""
    @property
    def counts(self) -> tuple[int, ...]:
        """trials in each of the bins, which are of equal width"""

class TrialPicture(Record):
    """`pictures.campaign.trial` of ``headway run``: one trial with all that failed in it"""

    @property
    def trial(self) -> int:
        """its number, from 0: the one with the median goodput"""
    @property
    def goodput(self) -> float:
        """of this trial, as `campaign.goodput`"""
    @property
    def wall_s(self) -> float:
        """from its start until its last save is durable [s]"""
    @property
    def stages(self) -> tuple[str, ...]:
        """what a failure goes through until the job runs again"""
    @property
    def hazards(self) -> tuple[HazardTimeline, ...]:
        """the failures of the trial, by class"""
    @property
    def spans_left_out(self) -> int:
        """stages of the last failures that are not listed, so that there are at most 4,000"""
    @property
    def failures_left_out(self) -> int:
        """the last failures, whose moments are not listed, so that there are at most 4,000"""
    @property
    def levels(self) -> tuple[str, ...]:
        """where a save may go to"""
    @property
    def saves(self) -> SavesTimeline:
        """the saves of the trial"""

class HazardTimeline(Record):
    """`pictures.campaign.trial.hazards[]` of ``headway run``: the failures of the trial, by
    class"""

    @property
    def hazard(self) -> str:
        """class of failure"""
    @property
    def begin_s(self) -> tuple[float, ...]:
        """begin of each stage, from the start of the run [s]"""
    @property
    def length_s(self) -> tuple[float, ...]:
        """its length [s]"""
    @property
    def stage(self) -> tuple[int, ...]:
        """index into `stages`"""
    @property
    def struck_s(self) -> tuple[float, ...]:
        """when each failure strikes, from the start of the run [s]"""

class SavesTimeline(Record):
    """`pictures.campaign.trial.saves` of ``headway run``: the saves of the trial"""

    @property
    def together(self) -> int:
        """saves in a row that are one entry, so that there are at most 4,000; the last entry
        may have fewer"""
    @property
    def begin_s(self) -> tuple[float, ...]:
        """when the job begins to stand still for the save, from the start of the run [s]"""
    @property
    def length_s(self) -> tuple[float, ...]:
        """until it runs again; of several saves, after the last [s]"""
    @property
    def still_s(self) -> tuple[float, ...]:
        """of that, time in which the job stands still for saves [s]"""
    @property
    def level(self) -> tuple[int, ...]:
        """index into `levels`: the farthest of those that are due"""

class StoragePoint(Record):
    """`pictures.campaign.storage_curve[]` of ``headway run``: ETTR beside the job's storage and
    slower and faster ones"""

    @property
    def factor(self) -> float:
        """times the bandwidth of the job's own storage"""
    @property
    def write_bandwidth_bytes_per_s(self) -> float:
        """of the storage, all servers together; its read bandwidth is changed as much [B/s]"""
    @property
    def interval_s(self) -> float:
        """useful work between saves to storage; chosen anew where it is `auto` [s]"""
    @property
    def ettr(self) -> float | None:
        """ETTR of the same job beside that storage; absent where the run would hardly end"""
    @property
    def exact(self) -> bool:
        """by closed form, as in `advice.interval_curve`"""

class PlanResult(Result):
    """The object of ``headway plan --format json``. `step`, `memory`, `campaign` and `cost` of
    a plan are those of `headway run` on its layout."""

    @property
    def schema(self) -> str: ...
    @property
    def version(self) -> str:
        """of the program"""
    @property
    def status(self) -> Literal["ok", "infeasible", "assert_failed", "incomplete"]:
        """also the exit code: 0, 3"""
    @property
    def reasons(self) -> tuple[str, ...]:
        """why the status is not ok"""
    @property
    def scenario(self) -> ScenarioLabel: ...
    @property
    def objective(self) -> Literal["step", "days", "dollars", "goodput", "energy", "co2", "tokens-per-joule", "tokens-per-dollar", "power"]:
        """what makes one plan better than another"""
    @property
    def beside(self) -> tuple[Literal["step", "days", "dollars", "goodput", "energy", "co2", "tokens-per-joule", "tokens-per-dollar", "power"], ...]:
        """further objectives: the Pareto front is of `objective` and these; empty: of time and
        money"""
    @property
    def varied(self) -> tuple[SearchedField, ...]:
        """fields of the scenario that the search varied"""
    @property
    def held(self) -> tuple[SearchedField, ...]:
        """fields that it held as the scenario has them; what is in neither list is held too"""
    @property
    def unused(self) -> tuple[SearchedField, ...]:
        """values that `search` lists, and degrees that it holds, that no layout has: they
        divide neither GPUs, heads, layers nor experts, or go with others that were not asked
        for"""
    @property
    def machines(self) -> tuple[PlannedMachine, ...]:
        """the candidates that `search` names, in their order; empty where there is one"""
    @property
    def plans(self) -> tuple[PlannedRun, ...]:
        """best first, members of the Pareto front on top of those asked for"""
    @property
    def simulated_plans(self) -> tuple[SimulatedPlan, ...]:
        """every layout that was simulated and keeps the limits, by cluster, the fastest first"""
    @property
    def apart(self) -> bool | None:
        """whether the 90 % intervals of the first two plans, of the time of a token, lie apart,
        by the error of the simulation alone: what comparisons with published runs add to
        `plans[].step.time_interval_s` is of software and machine, which both share; null where
        that does not decide: one plan, two machines, or another objective than the step and
        other GPUs"""
    @property
    def choice(self) -> Choice:
        """not always there: With `--sensitivity`: how much an input must change before another
        of these plans wins."""
    @property
    def own(self) -> OwnLayout | None:
        """the scenario's own layout; null where several machines were searched"""
    @property
    def rejected(self) -> tuple[Rejection, ...]:
        """layouts left out, by reason"""
    @property
    def lost(self) -> tuple[ClassMiss, ...]:
        """classes of layouts that no plan is of, on the cluster of the first plan, with the
        nearest of each"""
    @property
    def enumerated(self) -> int:
        """layouts of the space that was searched"""
    @property
    def estimated(self) -> int:
        """of these, layouts whose step the analytic tier timed whole"""
    @property
    def simulated(self) -> int:
        """of these, layouts whose step was simulated"""
    @property
    def verification(self) -> Verification:
        """layouts drawn from those that were left out, simulated all the same"""
    @property
    def warnings(self) -> tuple[str, ...]:
        """prices of one GPU that bill another"""
    @property
    def assumptions(self) -> tuple[Assumption, ...]:
        """what the best plan rests on and no file says"""
    @property
    def resolved(self) -> str:
        """the scenario as it was read, all defaults written out, in YAML"""
    @property
    def timing(self) -> Timing: ...

class SearchedField(Record):
    """`varied[]` of ``headway plan``: fields of the scenario that the search varied"""

    @property
    def key(self) -> str:
        """dotted path of the field"""

class PlannedMachine(Record):
    """`machines[]` of ``headway plan``: the candidates that `search` names, in their order;
    empty where there is one"""

    @property
    def name(self) -> str:
        """what tells it from the others"""
    @property
    def changes(self) -> Mapping[str, str]:
        """what it changes in the scenario: field and value"""
    @property
    def gpus(self) -> int | None:
        """of its best plan; null where it has none"""
    @property
    def behind(self) -> float | None:
        """by how much `objective` is worse than that of the best machine's, relative"""
    @property
    def days(self) -> float | None:
        """of the run on its best plan, from the order of the cluster where `run.bring_up` says
        when that is, median [d]"""
    @property
    def bring_up_days(self) -> float | None:
        """of these, from the order to the first step, median; null without `run.bring_up` [d]"""
    @property
    def latest_delivery_days(self) -> float | None:
        """`run.bring_up.delivery` at which its model is ready when that of the best plan's
        machine is; of that one: when the soonest other's is; null where no machine of the
        search has a bring-up, and where no delivery is soon enough [d]"""
    @property
    def usd(self) -> float | None:
        """cost of that run, median [USD]"""
    @property
    def power_w(self) -> float | None:
        """of that plan's cluster with every GPU at its limit, hosts and switches, times PUE [W]"""
    @property
    def break_even_usd_per_gpu_hour(self) -> float | None:
        """price of one of its GPU-hours at which its run costs as much as that of the best
        plan's machine, medians; of that one: as much as the cheapest other's; null without
        prices, and where no price does it [USD]"""
    @property
    def outcome(self) -> str:
        """why it won, or lost"""

class PlannedRun(Record):
    """`plans[]` of ``headway plan``: best first, members of the Pareto front on top of those
    asked for"""

    @property
    def name(self) -> str:
        """not always there: what tells it from the others: machine, nodes and boards where they
        differ, and its layout without the degrees that are one and the words that all share"""
    @property
    def machine(self) -> str:
        """of several candidates, by its name; empty where there is one"""
    @property
    def nodes(self) -> int:
        """nodes of the job, spares not counted"""
    @property
    def global_batch(self) -> int:
        """sequences of a step"""
    @property
    def sequence_length(self) -> int:
        """tokens of a sequence"""
    @property
    def precision(self) -> Literal["fp32", "tf32", "bf16", "fp16", "fp8", "mxfp8", "nvfp4"]:
        """of the matrix products"""
    @property
    def gpus(self) -> int:
        """nodes x GPUs of a node"""
    @property
    def spares(self) -> int:
        """spare nodes beside them"""
    @property
    def power_w(self) -> float:
        """of the cluster with every GPU at its limit, hosts and switches, times PUE [W]"""
    @property
    def board_w(self) -> float | None:
        """limit that boards of `cluster.node` run at; null without `cluster.power` [W]"""
    @property
    def pareto(self) -> bool:
        """no other simulated plan is as good in all objectives of the front and better in one
        (`*` beside its number)"""
    @property
    def outside_search(self) -> bool:
        """the scenario's own layout, which has a value that `search` does not list"""
    @property
    def variants(self) -> int:
        """further layouts with the same degrees that were simulated and are slower: other
        schedules, micro-batches, sharding, recompute; not listed but with --all"""
    @property
    def behind(self) -> float:
        """by how much `objective` is worse than that of the first plan, relative; of `step` the
        time of a token"""
    @property
    def estimated_step_s(self) -> float | None:
        """step of the analytic tier, by which the layouts to simulate were chosen [s]"""
    @property
    def layout(self) -> PlannedLayout:
        """degrees, schedule and recompute as in a scenario's `parallelism`"""
    @property
    def step(self) -> StepResult:
        """on that layout"""
    @property
    def memory(self) -> MemoryResult:
        """on that layout"""
    @property
    def campaign(self) -> CampaignResult | None:
        """null without `run.until`"""
    @property
    def cost(self) -> CostReport | None:
        """null without prices"""

class PlannedLayout(Record):
    """`plans[].layout` of ``headway plan``: degrees, schedule and recompute as in a scenario's
    `parallelism`"""

    @property
    def tensor(self) -> int: ...
    @property
    def pipeline(self) -> int: ...
    @property
    def virtual(self) -> int: ...
    @property
    def context(self) -> int: ...
    @property
    def context_kind(self) -> Literal["ring", "all-gather", "all-to-all"]: ...
    @property
    def expert(self) -> int: ...
    @property
    def expert_tensor(self) -> int: ...
    @property
    def data(self) -> int: ...
    @property
    def sharding(self) -> Literal["zero0", "zero1", "zero2", "zero3", "hsdp"]: ...
    @property
    def shard_group_size(self) -> int: ...
    @property
    def reshard(self) -> bool: ...
    @property
    def sequence(self) -> bool: ...
    @property
    def micro_batch(self) -> int: ...
    @property
    def micro_batches(self) -> int: ...
    @property
    def schedule(self) -> Literal["gpipe", "1f1b", "interleaved", "zb-h1", "zb-h2", "zb-v", "dualpipe", "dualpipe-v"]: ...
    @property
    def recompute(self) -> Literal["none", "selective", "full"]: ...
    @property
    def recompute_parts(self) -> tuple[Literal["core_attention", "latent_up", "norms", "activation", "mlp", "experts", "operators"], ...]: ...
    @property
    def recompute_period(self) -> int: ...
    @property
    def recompute_layers(self) -> int: ...
    @property
    def chunk_recompute(self) -> tuple[int, ...]:
        """layers of every chunk that recompute, from its first on; empty: as the period has it"""
    @property
    def offload(self) -> Literal["none", "optimizer", "activations", "all"]: ...
    @property
    def rank_order(self) -> Literal["tp-cp-dp-pp", "tp-cp-pp-dp"]: ...
    @property
    def first_stage_layers(self) -> int: ...
    @property
    def last_stage_layers(self) -> int: ...
    @property
    def chunk_layers(self) -> tuple[int, ...]:
        """of every chunk, in the order in which a micro-batch meets them; empty: even"""

class SimulatedPlan(Record):
    """`simulated_plans[]` of ``headway plan``: every layout that was simulated and keeps the
    limits, by cluster, the fastest first"""

    @property
    def plan(self) -> int | None:
        """its place in `plans`, from 1; null where it is not in that list"""
    @property
    def machine(self) -> str:
        """of several candidates, by its name; empty where there is one"""
    @property
    def nodes(self) -> int:
        """nodes of the job, spares not counted"""
    @property
    def gpus(self) -> int:
        """nodes x GPUs of a node"""
    @property
    def layout(self) -> str:
        """its degrees, schedule, sharding and recompute"""
    @property
    def step_s(self) -> float:
        """its step, simulated [s]"""
    @property
    def days(self) -> float | None:
        """median wall clock; null without `run.until` [d]"""
    @property
    def usd(self) -> float | None:
        """median cost; null without prices [USD]"""
    @property
    def own_run(self) -> bool:
        """whether its run was simulated; else days and dollars are those of the fastest layout
        on the same GPUs in proportion to the step"""
    @property
    def pareto(self) -> bool:
        """as in `plans`; no layout but these is judged"""

class Choice(Record):
    """`choice` of ``headway plan``: With `--sensitivity`: how much an input must change before
    another of these plans wins."""

    @property
    def sentence(self) -> str:
        """how firm the choice of plan 1 is"""
    @property
    def changes(self) -> tuple[ChoiceChange, ...]:
        """one input at a time, less and more of it"""

class ChoiceChange(Record):
    """`choice.changes[]` of ``headway plan``: one input at a time, less and more of it"""

    @property
    def input(self) -> str:
        """what is changed"""
    @property
    def fields(self) -> str:
        """the scenario's fields that are scaled, of every machine"""
    @property
    def way(self) -> Literal["less", "more"]:
        """less or more of it"""
    @property
    def factor(self) -> float | None:
        """times what the scenario says, nearest to 1, at which plan 1 is no longer the best;
        null: it is at every factor looked at, from 0.5 to 2"""
    @property
    def winner(self) -> int | None:
        """the plan that wins there, by its place from 1; null: none, or no plan is left"""
    @property
    def reason(self) -> str:
        """why plan 1 is out there, or why the input was not changed; or empty"""
    @property
    def lead(self) -> float | None:
        """by how much the best other plan is worse than plan 1, relative, least of the factors
        at which plan 1 wins; null where no other is left"""
    @property
    def lead_at(self) -> float | None:
        """the factor of that"""

class OwnLayout(Record):
    """`own` of ``headway plan``: the scenario's own layout; null where several machines were
    searched"""

    @property
    def sentence(self) -> str:
        """how far it is from the first plan, or why it does not run"""
    @property
    def plan(self) -> int | None:
        """its place in `plans`, from 1; null where it is none of them"""
    @property
    def step_s(self) -> float | None:
        """its step, simulated; null where it does not run [s]"""
    @property
    def behind(self) -> float | None:
        """by how much longer it takes for a token than the first plan, relative; below zero
        where it is faster; null without either"""
    @property
    def faster(self) -> int | None:
        """of the layouts in `simulated_plans` those that take less time for a token"""

class Rejection(Record):
    """`rejected[]` of ``headway plan``: layouts left out, by reason"""

    @property
    def reason(self) -> str:
        """one sentence"""
    @property
    def count(self) -> int:
        """layouts left out for the same `reason`"""
    @property
    def nearest(self) -> str:
        """which of them came closest, and what it lacks; may be empty"""

class ClassMiss(Record):
    """`lost[]` of ``headway plan``: classes of layouts that no plan is of, on the cluster of
    the first plan, with the nearest of each"""

    @property
    def field(self) -> str:
        """of `parallelism`"""
    @property
    def value(self) -> str:
        """that all layouts of the class have, and no plan has"""
    @property
    def layouts(self) -> int:
        """of the space, with that value"""
    @property
    def step_s(self) -> float | None:
        """of its fastest layout that was found; null where none fits or keeps the rules [s]"""
    @property
    def simulated(self) -> bool:
        """`step_s` is of the simulation, not of the analytic tier"""
    @property
    def behind(self) -> float | None:
        """by how much that step is longer than that of plan 1, both timed in the same way"""
    @property
    def least_step_s(self) -> float | None:
        """no layout of the class is faster by the analytic tier; null where `step_s` is known
        to be its fastest [s]"""
    @property
    def nearest(self) -> str:
        """that layout; or what the nearest one lacks, or why there is none"""

class Verification(Record):
    """`verification` of ``headway plan``: layouts drawn from those that were left out,
    simulated all the same"""

    @property
    def asked(self) -> int:
        """layouts asked for"""
    @property
    def simulated(self) -> int:
        """layouts drawn from those left out that keep the rules and fit"""
    @property
    def better(self) -> int:
        """of these, within the limits and better than the best plan by the objective"""

class PlacementResult(Result):
    """The object of ``headway plan --placement --format json``. Which of a partly occupied
    fabric's free nodes to take: [`docs/placement.md`](placement.md)."""

    @property
    def schema(self) -> str: ...
    @property
    def version(self) -> str:
        """of the program"""
    @property
    def status(self) -> Literal["ok", "infeasible", "assert_failed", "incomplete"]:
        """also the exit code: 0, 3"""
    @property
    def reasons(self) -> tuple[str, ...]:
        """why the status is not ok"""
    @property
    def scenario(self) -> ScenarioLabel: ...
    @property
    def fabric_nodes(self) -> int:
        """nodes of the whole fabric"""
    @property
    def free(self) -> int:
        """nodes that are neither down nor of another job"""
    @property
    def down(self) -> int:
        """nodes that are out of order"""
    @property
    def jobs(self) -> int:
        """jobs of others"""
    @property
    def nodes(self) -> int:
        """nodes that this job takes"""
    @property
    def empty_step_s(self) -> float:
        """its step on the first nodes of the same fabric, nobody else being there [s]"""
    @property
    def candidates(self) -> tuple[PlacedStep, ...]:
        """the shortest step first"""
    @property
    def limit(self) -> str:
        """which nodes to take, and what it costs"""
    @property
    def timing(self) -> Timing: ...

class PlacedStep(Record):
    """`candidates[]` of ``headway plan --placement``: the shortest step first"""

    @property
    def choice(self) -> Literal["given", "packed", "fewest_leaves", "quiet", "spread", "random"]:
        """given: cluster.occupancy.take; packed: the first that are free; fewest_leaves: in as
        few pods, and in these as few leaves, as can be; quiet: behind the leaves into which
        others send least; spread: from each leaf in turn; random: drawn by run.seed"""
    @property
    def draw(self) -> int:
        """of random ones, from 1; else 0"""
    @property
    def nodes(self) -> tuple[str, ...]:
        """the nodes, as cluster.occupancy.take has them"""
    @property
    def leaves(self) -> int:
        """leaves that they are plugged into, in one plane"""
    @property
    def pods(self) -> int:
        """pods of these leaves"""
    @property
    def step_s(self) -> float:
        """the job's step on them, beside the traffic of others [s]"""
    @property
    def silent_step_s(self) -> float:
        """the same while the others send nothing [s]"""
    @property
    def cost(self) -> float:
        """step_s / empty_step_s - 1: what fragmentation costs"""
    @property
    def by_places(self) -> float:
        """silent_step_s / empty_step_s - 1: by places alone"""
    @property
    def by_traffic(self) -> float:
        """step_s / silent_step_s - 1: by others' traffic"""
    @property
    def behind(self) -> float:
        """by how much the step is longer than the first one, relative"""
    @property
    def mfu(self) -> float:
        """model FLOPs / peak"""
    @property
    def limit(self) -> str:
        """one sentence: what limits the step"""

class CompareResult(Result):
    """The object of ``headway compare --format json``. Each side, and with `--layers` each
    mixture of both, is one prediction with the same random draws. `a` is the first file, `b`
    the second."""

    @property
    def schema(self) -> str: ...
    @property
    def version(self) -> str:
        """of the program"""
    @property
    def a(self) -> ComparedSide:
        """the first file"""
    @property
    def b(self) -> ComparedSide:
        """the second file"""
    @property
    def step_parts_s(self) -> tuple[PartDifference, ...]:
        """where the step differs: `step.breakdown_s` of both, the largest difference first [s]"""
    @property
    def ledger_parts_gpu_s(self) -> tuple[PartDifference, ...]:
        """where the GPU time of the run differs: `campaign.ledger_gpu_s` of both; empty where a
        side has no run [GPU s]"""
    @property
    def cost_parts_usd(self) -> tuple[PartDifference, ...]:
        """where the bill of the mean usage differs: `cost` of both; empty where a side has no
        run or no prices [USD]"""
    @property
    def differences(self) -> tuple[FieldDifference, ...]:
        """the fields in which the two scenarios differ, defaults included; of parts with other
        names (a node, a model) the names"""
    @property
    def differing_layers(self) -> tuple[Literal["orchestration", "storage", "interconnect", "observability", "rest"], ...]:
        """layers in which the two scenarios are not equal"""
    @property
    def layers(self) -> tuple[LayerShares, ...]:
        """with `--layers`: who makes the difference"""
    @property
    def mixtures(self) -> tuple[Mixture, ...]:
        """with `--layers`: A with the layers `from_b` of B"""
    @property
    def step_simulations(self) -> int:
        """different steps that were simulated; equal ones once"""
    @property
    def warnings(self) -> tuple[str, ...]:
        """what else to know"""

class ComparedSide(Record):
    """`a` of ``headway compare``: the first file"""

    @property
    def name(self) -> str:
        """as the file calls it"""
    @property
    def digest(self) -> str:
        """over the resolved input, the calibration and the program version"""
    @property
    def seed(self) -> int:
        """of all draws"""
    @property
    def calibration(self) -> str:
        """the profile of measurements, as it calls itself; `catalogue`: none, the catalogue's
        figures stand"""
    @property
    def figures(self) -> Figures:
        """what is compared; B - A is the difference, B / A the ratio"""
    @property
    def assumptions(self) -> tuple[Assumption, ...]:
        """what its step rests on and no file says"""
    @property
    def resolved(self) -> str:
        """the scenario as it was read, all defaults written out, in YAML"""

class Figures(Record):
    """`a.figures` of ``headway compare``: what is compared; B - A is the difference, B / A the
    ratio"""

    @property
    def step_time_s(self) -> float | None:
        """`step.time_s` of `headway run` [s]"""
    @property
    def tokens_per_s(self) -> float | None:
        """`step.tokens_per_s` [1/s]"""
    @property
    def mfu(self) -> float | None:
        """`step.mfu`"""
    @property
    def ettr(self) -> float | None:
        """mean of `campaign.ettr`"""
    @property
    def goodput(self) -> float | None:
        """mean of `campaign.goodput`"""
    @property
    def wall_days(self) -> float | None:
        """mean of `campaign.wall_days` [d]"""
    @property
    def tokens(self) -> float | None:
        """`campaign.tokens`"""
    @property
    def total_usd(self) -> float | None:
        """mean of `cost.total_usd` [USD]"""
    @property
    def usd_per_million_tokens(self) -> float | None:
        """bill of the mean usage / durable tokens x 10^6 [USD]"""
    @property
    def fits(self) -> bool:
        """`memory.fits`"""

class PartDifference(Record):
    """`step_parts_s[]` of ``headway compare``: where the step differs: `step.breakdown_s` of
    both, the largest difference first"""

    @property
    def part(self) -> str:
        """its key in the result of `headway run`"""
    @property
    def words(self) -> str:
        """the same for people"""
    @property
    def a(self) -> float:
        """of the first file"""
    @property
    def b(self) -> float:
        """of the second file"""
    @property
    def difference(self) -> float:
        """b - a"""
    @property
    def share(self) -> float:
        """`difference` / the whole of the first file: those of all parts add up to B / A - 1"""

class FieldDifference(Record):
    """`differences[]` of ``headway compare``: the fields in which the two scenarios differ,
    defaults included; of parts with other names (a node, a model) the names"""

    @property
    def key(self) -> str:
        """path of the field, as `--set` takes it"""
    @property
    def a(self) -> str | None:
        """of the first file, a long one cut; null where it has none"""
    @property
    def b(self) -> str | None:
        """of the second file, likewise"""

class LayerShares(Record):
    """`layers[]` of ``headway compare``: with `--layers`: who makes the difference"""

    @property
    def layer(self) -> Literal["orchestration", "storage", "interconnect", "observability", "rest"]:
        """the layer that is switched"""
    @property
    def figures(self) -> Mapping[str, LayerContribution]:
        """its part of the difference of each figure that both have"""

class LayerContribution(Record):
    """`layers[].figures[]` of ``headway compare``: its part of the difference of each figure
    that both have"""

    @property
    def shapley(self) -> float | None:
        """part of B - A that the layer has: what switching it from A's to B's changes, averaged
        over all orders of switching the layers; the parts add up to B - A"""
    @property
    def first(self) -> float | None:
        """the change if it is switched before all others"""
    @property
    def last(self) -> float | None:
        """the change if it is switched after all others"""

class Mixture(Record):
    """`mixtures[]` of ``headway compare``: with `--layers`: A with the layers `from_b` of B"""

    @property
    def from_b(self) -> tuple[Literal["orchestration", "storage", "interconnect", "observability", "rest"], ...]:
        """layers of B; the others are A's"""
    @property
    def figures(self) -> Figures:
        """the figures of the mixture"""

class CompareProfileResult(Result):
    """The object of ``headway compare SCENARIO PROFILE --format json``. A profile of
    torch.profiler beside the prediction: [`docs/profiles.md`](profiles.md)."""

    @property
    def schema(self) -> str: ...
    @property
    def version(self) -> str:
        """of the program"""
    @property
    def scenario(self) -> ScenarioLabel:
        """which scenario"""
    @property
    def rows(self) -> tuple[ProfiledFigure, ...]:
        """measured beside predicted, mean over the profiles' ranks"""
    @property
    def ranks(self) -> tuple[ProfiledRank, ...]:
        """the same of each profile"""
    @property
    def limit(self) -> str:
        """one sentence: what the difference comes from"""
    @property
    def remarks(self) -> tuple[str, ...]:
        """steps that were left out, and what was assumed"""

class ProfiledFigure(Record):
    """`rows[]` of ``headway compare SCENARIO PROFILE``: measured beside predicted, mean over
    the profiles' ranks"""

    @property
    def figure(self) -> Literal["step", "compute", "non_compute", "idle", "overlap", "matrix_products", "attention", "other_computation", "all_reduce", "all_gather", "reduce_scatter", "all_to_all", "broadcast", "send_receive", "other_communication", "memory"]:
        """which"""
    @property
    def meaning(self) -> str:
        """what it is"""
    @property
    def unit(self) -> str:
        """of the figures below"""
    @property
    def measured(self) -> float:
        """mean over the steps of the profile"""
    @property
    def predicted(self) -> float:
        """of the same rank"""
    @property
    def interval(self) -> tuple[float, float] | None:
        """90 % interval of the prediction; null where none is known"""
    @property
    def ratio(self) -> float | None:
        """measured / predicted; null where nothing is predicted"""
    @property
    def measured_launches(self) -> float | None:
        """kernels of this kind in a step"""
    @property
    def predicted_launches(self) -> float | None:
        """the same, as the step graph has them; a collective is one"""

class ProfiledRank(Record):
    """`ranks[]` of ``headway compare SCENARIO PROFILE``: the same of each profile"""

    @property
    def file(self) -> str:
        """the profile"""
    @property
    def device(self) -> str:
        """GPU that it names; empty where it does not"""
    @property
    def rank(self) -> int:
        """rank of the job; 0 where the file does not say"""
    @property
    def rank_told(self) -> bool:
        """the file says which rank it is"""
    @property
    def stage(self) -> int:
        """its pipeline stage, from 0"""
    @property
    def steps(self) -> int:
        """complete steps in the profile, of which figures are the mean"""
    @property
    def rows(self) -> tuple[ProfiledFigure, ...]:
        """measured beside predicted"""

class SweepResult(Result):
    """The object of ``headway sweep --format json``. One row a point; figures are those of
    `headway run`."""

    @property
    def schema(self) -> str: ...
    @property
    def version(self) -> str:
        """of the program"""
    @property
    def name(self) -> str:
        """of the scenario"""
    @property
    def digest(self) -> str:
        """over the scenario, all changes, the figures and the program version"""
    @property
    def points(self) -> int:
        """of the whole sweep"""
    @property
    def missing(self) -> int:
        """points that no row is there of"""
    @property
    def best(self) -> str:
        """path of the figure by which points are ranked"""
    @property
    def best_is(self) -> Literal["lowest", "highest"]:
        """which end of it is best"""
    @property
    def best_point(self) -> int | None:
        """the best point whose status is ok"""
    @property
    def warnings(self) -> tuple[str, ...]:
        """points whose memory has no room; prices of one GPU that bill another"""
    @property
    def rows(self) -> tuple[SweepRow, ...]:
        """a point each, in order"""
    @property
    def resolved(self) -> str:
        """the scenario that points change, as it was read, all defaults written out, in YAML"""

class SweepRow(Record):
    """`rows[]` of ``headway sweep``: a point each, in order"""

    @property
    def point(self) -> int:
        """number of the point, from 0"""
    @property
    def changes(self) -> Mapping[str, str]:
        """what is changed: field and value, as `--set` takes them"""
    @property
    def digest(self) -> str:
        """over the resolved input of the point, the calibration and the program version; empty
        where the input is refused"""
    @property
    def status(self) -> Literal["listed", "ok", "infeasible", "assert_failed", "incomplete", "refused"]:
        """as of `headway run`; refused: its scenario breaks a rule"""
    @property
    def reason(self) -> str:
        """why the status is not ok"""
    @property
    def figures(self) -> Mapping[str, float | None]:
        """figures of its run by their paths in `headway run`"""
    @property
    def memory_warning(self) -> str:
        """where its peak leaves so little of the GPU's memory free that an allocator finds no
        room and the step may take several times as long: what `headway run` says of it. Such a
        point is ranked behind all that have room"""

class SolveResult(Result):
    """The object of ``headway solve --format json``. Which value of a field meets a condition:
    [`docs/solve.md`](solve.md)."""

    @property
    def schema(self) -> str: ...
    @property
    def version(self) -> str:
        """of the program"""
    @property
    def name(self) -> str:
        """of the scenario"""
    @property
    def status(self) -> Literal["ok", "infeasible", "assert_failed", "incomplete"]:
        """also the exit code: 0; 3 where no value that was looked at will do"""
    @property
    def key(self) -> str:
        """path of the field"""
    @property
    def condition(self) -> str:
        """what its value has to bring about"""
    @property
    def edge(self) -> Literal["smallest", "largest", "any", "none"]:
        """which end of the values that meet the condition the answer is; any: all that were
        looked at meet it, none: none does"""
    @property
    def answer(self) -> SolvePoint | None:
        """the value; null where none meets the condition"""
    @property
    def beside(self) -> SolvePoint | None:
        """the nearest value looked at that does not meet it, on the answer's other side; null
        where there is none"""
    @property
    def monotone(self) -> bool:
        """over the values looked at the figure only rises or only falls, turns of 0.1 % left
        aside, and the condition changes once at most"""
    @property
    def sentences(self) -> tuple[str, ...]:
        """what was found, in words; the last is the answer"""
    @property
    def warnings(self) -> tuple[str, ...]:
        """what else to know of the answer: that its memory has no room"""
    @property
    def points(self) -> tuple[SolvePoint, ...]:
        """all values looked at, by size"""

class SolvePoint(Record):
    """`answer` of ``headway solve``: the value; null where none meets the condition"""

    @property
    def value(self) -> str:
        """of the field, as `--set` takes it"""
    @property
    def digest(self) -> str:
        """as of the run with that value; empty where the input is refused"""
    @property
    def status(self) -> Literal["listed", "ok", "infeasible", "assert_failed", "incomplete", "refused"]:
        """as of `headway run`; refused: the value breaks a rule"""
    @property
    def reason(self) -> str:
        """why the status is not ok"""
    @property
    def figure(self) -> float | None:
        """figure of the condition; null where the run has none"""
    @property
    def interval(self) -> tuple[float, float] | None:
        """of that figure: 5th and 95th percentile of the trials, or the 90 % prediction
        interval of the step; null where it has neither"""
    @property
    def met(self) -> bool:
        """the run can be, and its figure keeps the condition"""
    @property
    def memory_warning(self) -> str:
        """where its peak leaves so little of the GPU's memory free that an allocator finds no
        room and the step may take several times as long: what `headway run` says of it"""

class DrillResult(Result):
    """The object of ``headway drill --format json``. Times count from the fault. Model:
    [`docs/models/drill.md`](models/drill.md)."""

    @property
    def schema(self) -> str: ...
    @property
    def version(self) -> str:
        """of the program"""
    @property
    def scenario(self) -> ScenarioLabel: ...
    @property
    def status(self) -> Literal["ok", "infeasible", "assert_failed", "incomplete"]:
        """also the exit code: 0, 3"""
    @property
    def reasons(self) -> tuple[str, ...]:
        """why the status is not ok"""
    @property
    def fault(self) -> FaultFigures:
        """What breaks; null: not of this kind of fault."""
    @property
    def since_save_s(self) -> float:
        """work done since the last save when the fault strikes [s]"""
    @property
    def step(self) -> DrilledStep:
        """The step while it lasts."""
    @property
    def timeline(self) -> tuple[TimelineFigures, ...]:
        """what happened when"""
    @property
    def first_symptoms(self) -> tuple[FirstSymptomFigures, ...]:
        """one a layer of the stack"""
    @property
    def monitors(self) -> tuple[MonitorFigures, ...]:
        """the eyes on the job"""
    @property
    def responses(self) -> tuple[ResponseFigures, ...]:
        """what was done at each alarm"""
    @property
    def cured_at_s(self) -> float | None:
        """the fault is gone for good [s]"""
    @property
    def running_again_at_s(self) -> float | None:
        """steps at healthy speed, the fault gone [s]"""
    @property
    def lost(self) -> LostFigures:
        """What it cost. Model: [`docs/models/drill.md`](models/drill.md)."""
    @property
    def remedies(self) -> tuple[RemedyFigures, ...]:
        """the same drill with one change of design, the most helpful first"""
    @property
    def rates(self) -> tuple[FaultRate, ...]:
        """how often which fault is to be expected"""
    @property
    def event_digest(self) -> str:
        """hash of all events"""
    @property
    def assumptions(self) -> tuple[Assumption, ...]:
        """what the drill rests on"""
    @property
    def warnings(self) -> tuple[str, ...]:
        """what else to know"""
    @property
    def resolved(self) -> str:
        """the scenario as it was read, all defaults written out, in YAML"""

class FaultFigures(Record):
    """`fault` of ``headway drill``: What breaks; null: not of this kind of fault."""

    @property
    def kind(self) -> Literal["gpu-dead", "hbm-error", "nvme-slow", "nvme-stalled", "nic-down", "link-half-rate", "optic-flapping", "leaf-down", "gpu-slow", "hang", "silent-corruption", "loss-spike", "storage-slow", "storage-full", "rack-power-loss", "wrong-checkpoint", "host-dead", "software-crash", "site-cut", "site-slow"]:
        """what breaks"""
    @property
    def part(self) -> str:
        """what an engineer would call it"""
    @property
    def node(self) -> int:
        """where; of many, the first"""
    @property
    def gpu(self) -> int:
        """of the node"""
    @property
    def leaf(self) -> int | None:
        """the leaf switch, where one was named"""
    @property
    def rack(self) -> int | None:
        """the rack, where one was named"""
    @property
    def site(self) -> int | None:
        """the site whose way it is, of faults between sites"""
    @property
    def rate_bytes_per_s(self) -> float | None:
        """what the drive still writes [B/s]"""
    @property
    def factor(self) -> float | None:
        """share of its speed that the part keeps"""
    @property
    def lasts_s(self) -> float | None:
        """heals itself after; null: stays until cured [s]"""
    @property
    def repair_s(self) -> float | None:
        """to mend it [s]"""
    @property
    def after_s(self) -> float | None:
        """until the loss shows it [s]"""
    @property
    def down_s(self) -> float | None:
        """one outage [s]"""
    @property
    def every_s(self) -> float | None:
        """from one outage to the next [s]"""
    @property
    def nodes(self) -> int | None:
        """nodes in the rack"""
    @property
    def behind(self) -> int | None:
        """saves that the loaded one is old"""

class DrilledStep(Record):
    """`step` of ``headway drill``: The step while it lasts."""

    @property
    def healthy_s(self) -> float:
        """step without the fault [s]"""
    @property
    def slowdown(self) -> float:
        """step with the fault / healthy step; 1 where steps are as fast, or none ends"""

class TimelineFigures(Record):
    """`timeline[]` of ``headway drill``: what happened when"""

    @property
    def at_s(self) -> float:
        """since the fault [s]"""
    @property
    def moment(self) -> Literal["fault", "symptom", "seen", "alarm", "blame", "recovery", "running", "healed", "save"]:
        """what the line is about"""
    @property
    def layer(self) -> Literal["hardware", "network", "storage", "collective", "job", "loss"] | None:
        """of a symptom"""
    @property
    def symptom(self) -> Literal["gpu_off_bus", "memory_error", "gpu_clock_low", "drive_latency", "drive_silent", "port_down", "ports_down", "port_errors", "port_slow", "node_dark", "rack_dark", "switch_dark", "flows_stalled", "rail_slow", "way_dark", "way_slow", "writer_late", "writers_slow", "space_low", "no_space", "load_slow", "rank_late", "collective_error", "collective_timeout", "missing_rank", "init_failed", "cuda_error", "traceback", "start_failed", "process_exit", "no_step", "step_slow", "save_slow", "save_failed", "save_skipped", "step_went_back", "loss_jump", "loss_drift", "replay_differs"] | None:
        """that is there, or was seen"""
    @property
    def monitor(self) -> Literal["process_exit", "transport", "watchdog", "heartbeat", "health_check", "link_monitor", "drive_monitor", "straggler_monitor", "flight_recorder", "save_monitor", "capacity_monitor", "loss_monitor", "replay", "restart_check", "people"] | None:
        """who saw it or raised the alarm"""
    @property
    def text(self) -> str:
        """in words"""

class FirstSymptomFigures(Record):
    """`first_symptoms[]` of ``headway drill``: one a layer of the stack"""

    @property
    def layer(self) -> Literal["hardware", "network", "storage", "collective", "job", "loss"]:
        """of the stack"""
    @property
    def symptom(self) -> Literal["gpu_off_bus", "memory_error", "gpu_clock_low", "drive_latency", "drive_silent", "port_down", "ports_down", "port_errors", "port_slow", "node_dark", "rack_dark", "switch_dark", "flows_stalled", "rail_slow", "way_dark", "way_slow", "writer_late", "writers_slow", "space_low", "no_space", "load_slow", "rank_late", "collective_error", "collective_timeout", "missing_rank", "init_failed", "cuda_error", "traceback", "start_failed", "process_exit", "no_step", "step_slow", "save_slow", "save_failed", "save_skipped", "step_went_back", "loss_jump", "loss_drift", "replay_differs"] | None:
        """its first; null: the layer shows nothing"""
    @property
    def at_s(self) -> float | None:
        """when the first symptom of a layer was there, seen or not [s]"""
    @property
    def visible_at_s(self) -> float | None:
        """when somebody could see it; null: nobody did [s]"""

class MonitorFigures(Record):
    """`monitors[]` of ``headway drill``: the eyes on the job"""

    @property
    def monitor(self) -> Literal["process_exit", "transport", "watchdog", "heartbeat", "health_check", "link_monitor", "drive_monitor", "straggler_monitor", "flight_recorder", "save_monitor", "capacity_monitor", "loss_monitor", "replay", "restart_check", "people"]:
        """who looks"""
    @property
    def on(self) -> bool:
        """it does"""
    @property
    def time_s(self) -> float:
        """timeout, or period of looking; those that poll see after half of it [s]"""
    @property
    def source(self) -> str:
        """of the default time"""
    @property
    def alarm_at_s(self) -> float | None:
        """its first alarm; null: none [s]"""

class ResponseFigures(Record):
    """`responses[]` of ``headway drill``: what was done at each alarm"""

    @property
    def at_s(self) -> float:
        """when it began [s]"""
    @property
    def alarm(self) -> Literal["process_exit", "transport", "watchdog", "heartbeat", "health_check", "link_monitor", "drive_monitor", "straggler_monitor", "flight_recorder", "save_monitor", "capacity_monitor", "loss_monitor", "replay", "restart_check", "people"] | None:
        """who raised it"""
    @property
    def blamed(self) -> Literal["gpu-dead", "hbm-error", "nvme-slow", "nvme-stalled", "nic-down", "link-half-rate", "optic-flapping", "leaf-down", "gpu-slow", "hang", "silent-corruption", "loss-spike", "storage-slow", "storage-full", "rack-power-loss", "wrong-checkpoint", "host-dead", "software-crash", "site-cut", "site-slow"] | None:
        """null: an everyday restart"""
    @property
    def right(self) -> bool | None:
        """acting on it ends the fault"""
    @property
    def suspects(self) -> tuple[SuspectFigures, ...]:
        """by falling probability"""

class SuspectFigures(Record):
    """`responses[].suspects[]` of ``headway drill``: by falling probability"""

    @property
    def kind(self) -> Literal["gpu-dead", "hbm-error", "nvme-slow", "nvme-stalled", "nic-down", "link-half-rate", "optic-flapping", "leaf-down", "gpu-slow", "hang", "silent-corruption", "loss-spike", "storage-slow", "storage-full", "rack-power-loss", "wrong-checkpoint", "host-dead", "software-crash", "site-cut", "site-slow"]:
        """a possible cause"""
    @property
    def part(self) -> str:
        """what an engineer would call it"""
    @property
    def probability(self) -> float | None:
        """posterior of the cause given the symptoms that were visible when the response began"""

class LostFigures(Record):
    """`lost` of ``headway drill``: What it cost. Model:
    [`docs/models/drill.md`](models/drill.md)."""

    @property
    def time_s(self) -> float:
        """`useful` of the same job without the fault less `useful` with it, over the same
        horizon; of both the part of the next save's stall that the work since the last save
        owes is taken off, so that the phase of the rhythm does not count; never below 0 [s]"""
    @property
    def usd(self) -> float | None:
        """the same x price of all GPUs and spares per second [USD]"""
    @property
    def at_risk_s(self) -> float:
        """work that is in no durable save when the drill ends and that a save asked for then
        would not make durable, or that holds bad numbers: booked as `lost`, not as `useful` [s]"""
    @property
    def last_durable_at_s(self) -> float | None:
        """since when no save has become durable; null if saves do. At most 0: since before the
        fault [s]"""
    @property
    def horizon_s(self) -> float:
        """simulated from the fault on [s]"""
    @property
    def accounts_s(self) -> DrilledAccounts:
        """wall time of the job by account; adds up to the horizon. Work before the fault that
        is thrown away makes `lost` larger and `useful` smaller than the horizon's own [s]"""

class DrilledAccounts(Record):
    """`lost.accounts_s` of ``headway drill``: wall time of the job by account; adds up to the
    horizon. Work before the fault that is thrown away makes `lost` larger and `useful` smaller
    than the horizon's own"""

    @property
    def useful(self) -> float:
        """below 0 where more is thrown away than is done [s]"""
    @property
    def lost(self) -> float: ...
    @property
    def checkpoint(self) -> float: ...
    @property
    def detect(self) -> float: ...
    @property
    def diagnose(self) -> float: ...
    @property
    def restart(self) -> float: ...
    @property
    def load(self) -> float: ...
    @property
    def wait(self) -> float: ...
    @property
    def cut_off(self) -> float: ...
    @property
    def protection(self) -> float: ...
    @property
    def input(self) -> float: ...
    @property
    def degraded(self) -> float: ...
    @property
    def spare_idle(self) -> float: ...
    @property
    def maintenance(self) -> float: ...

class RemedyFigures(Record):
    """`remedies[]` of ``headway drill``: the same drill with one change of design, the most
    helpful first"""

    @property
    def name(self) -> str:
        """the change of design"""
    @property
    def how(self) -> str:
        """what to change; a path of `--set`, or a monitor"""
    @property
    def lost_s(self) -> float:
        """`lost.time_s` of the drill that the option `how` gives [s]"""
    @property
    def saved_s(self) -> float:
        """`lost.time_s` less that; below 0: it makes things worse [s]"""

class FaultRate(Record):
    """`rates[]` of ``headway drill``: how often which fault is to be expected"""

    @property
    def kind(self) -> Literal["gpu-dead", "hbm-error", "nvme-slow", "nvme-stalled", "nic-down", "link-half-rate", "optic-flapping", "leaf-down", "gpu-slow", "hang", "silent-corruption", "loss-spike", "storage-slow", "storage-full", "rack-power-loss", "wrong-checkpoint", "host-dead", "software-crash", "site-cut", "site-slow"]:
        """of fault"""
    @property
    def per_day(self) -> float:
        """how often this job meets it [1/d]"""
    @property
    def source(self) -> str:
        """where that is from"""

class TopoResult(Result):
    """The object of ``headway topo --format json``."""

    @property
    def schema(self) -> str: ...
    @property
    def version(self) -> str:
        """of the program"""
    @property
    def machine(self) -> str:
        """the file or the entry"""
    @property
    def fabric(self) -> str:
        """its fabric"""
    @property
    def topology(self) -> Literal["fat_tree", "rail_optimized", "rail_only", "multi_plane", "dragonfly"]:
        """as `cluster.fabric.topology`"""
    @property
    def counts(self) -> FabricCounts:
        """What there is how often."""
    @property
    def tiers(self) -> tuple[TierReport, ...]:
        """tiers of links, from the nodes up"""
    @property
    def bisection_bytes_per_s(self) -> float:
        """first half of the nodes to the second half over the NICs, one direction, payload,
        ideal spray [B/s]"""
    @property
    def full_bisection_bytes_per_s(self) -> float:
        """what the NICs of half the nodes can send [B/s]"""
    @property
    def diameter_links(self) -> int:
        """most links of a shortest path between two GPUs, over NVLink or NIC"""
    @property
    def connected(self) -> bool:
        """every GPU reaches every other one"""
    @property
    def limit(self) -> str:
        """one sentence: where the fabric is narrowest"""
    @property
    def assumptions(self) -> tuple[str, ...]:
        """what neither the file nor the options say"""

class FabricCounts(Record):
    """`counts` of ``headway topo``: What there is how often."""

    @property
    def nodes(self) -> int:
        """servers"""
    @property
    def gpus(self) -> int:
        """of all nodes"""
    @property
    def nvlink_domains(self) -> int:
        """nodes, or groups of nodes, that share a scale-up network"""
    @property
    def nics(self) -> int:
        """network cards of the compute network"""
    @property
    def leaves(self) -> int:
        """switches that nodes are plugged into"""
    @property
    def spines(self) -> int:
        """switches above the leaves"""
    @property
    def cores(self) -> int:
        """switches above the spines"""
    @property
    def links(self) -> int:
        """directed, of all tiers; a cable is two"""
    @property
    def rail_ports_per_leaf(self) -> int:
        """NICs plugged into a full leaf"""
    @property
    def nodes_per_leaf(self) -> int:
        """nodes plugged into a full leaf"""
    @property
    def leaf_radix(self) -> int:
        """ports that a leaf needs"""
    @property
    def spine_radix(self) -> int:
        """ports that a spine needs"""
    @property
    def core_radix(self) -> int:
        """ports that a core switch needs"""
    @property
    def links_down(self) -> int:
        """of them, without any capacity"""
    @property
    def links_degraded(self) -> int:
        """of them, with a part of their capacity"""
    @property
    def unreachable_gpus(self) -> int:
        """not reachable from GPU 0"""

class TierReport(Record):
    """`tiers[]` of ``headway topo``: tiers of links, from the nodes up"""

    @property
    def name(self) -> str:
        """of the tier of links"""
    @property
    def cables(self) -> int:
        """both directions of a cable count once"""
    @property
    def cable_rate_bytes_per_s(self) -> float:
        """payload of one cable, one direction [B/s]"""
    @property
    def oversubscription(self) -> float | None:
        """capacity below / capacity of this tier; null: nothing below"""

class TopoStressResult(Result):
    """The object of ``headway topo --stress --format json``. Model:
    [`docs/models/packet.md`](models/packet.md)."""

    @property
    def schema(self) -> str: ...
    @property
    def version(self) -> str:
        """of the program"""
    @property
    def machine(self) -> str:
        """the file or the entry"""
    @property
    def fabric(self) -> str:
        """its fabric"""
    @property
    def transport(self) -> str:
        """of its packets"""
    @property
    def path_choice(self) -> str:
        """which of several equal cables a packet takes"""
    @property
    def gpus(self) -> int:
        """of a group, spread evenly over the fabric"""
    @property
    def rows(self) -> tuple[StressRow, ...]:
        """one a traffic and size"""
    @property
    def limit(self) -> str:
        """one sentence: what it comes to"""
    @property
    def assumptions(self) -> tuple[str, ...]:
        """what neither the file nor the options say"""

class StressRow(Record):
    """`rows[]` of ``headway topo --stress``: one a traffic and size"""

    @property
    def traffic(self) -> Literal["all_reduce", "all_to_all", "permutation", "incast", "bystander", "gradients", "storage"]:
        """all_reduce (a ring) and all_to_all (all at once): a collective of 16 times the size;
        permutation: each GPU sends to another one; incast: 16 send to one; bystander: one that
        sends past an incast to an idle GPU beside its receiver; gradients: an all_reduce while
        each of its GPUs writes 4 messages to one of few storage servers; storage: those writes"""
    @property
    def groups(self) -> int:
        """of `gpus` GPUs that do it at once, side by side in the same nodes"""
    @property
    def message_bytes(self) -> float:
        """of one message, or a sixteenth of the array [B]"""
    @property
    def packet_time_s(self) -> float:
        """until the last byte, every packet simulated [s]"""
    @property
    def fluid_time_s(self) -> float:
        """the same by fair shares of links [s]"""
    @property
    def times(self) -> float:
        """packets / fluid"""
    @property
    def packets(self) -> PacketFigures:
        """what happened to packets"""

class PacketFigures(Record):
    """`rows[].packets` of ``headway topo --stress``: what happened to packets"""

    @property
    def packets(self) -> int:
        """sent, repeats included"""
    @property
    def packet_hops(self) -> int:
        """cables that packets crossed"""
    @property
    def marks(self) -> int:
        """packets marked by a long queue"""
    @property
    def drops(self) -> int:
        """packets that found no room"""
    @property
    def trims(self) -> int:
        """packets that lost their payload"""
    @property
    def pauses(self) -> int:
        """times that a cable was told to stop"""
    @property
    def stalls(self) -> int:
        """times that a packet waited for credits"""
    @property
    def repeats(self) -> int:
        """packets sent again"""
    @property
    def timeouts(self) -> int:
        """senders that heard nothing for `timeout`"""
    @property
    def notices(self) -> int:
        """congestion notifications (DCQCN)"""
    @property
    def deepest_queue_bytes(self) -> int:
        """longest queue before a cable of a switch [B]"""
    @property
    def deepest_queue_at(self) -> str:
        """that cable"""
    @property
    def flow_p50_s(self) -> float:
        """when half of the flows had their last byte [s]"""
    @property
    def flow_p99_s(self) -> float:
        """when 99 % of the flows had theirs [s]"""
    @property
    def event_digest(self) -> str:
        """of all packets: the same on any threads"""

class CollectiveResult(Result):
    """The object of ``headway collective --format json``."""

    @property
    def schema(self) -> str: ...
    @property
    def version(self) -> str:
        """of the program"""
    @property
    def collective(self) -> Literal["all_reduce", "all_gather", "reduce_scatter", "all_to_all", "broadcast", "send_receive"]:
        """which"""
    @property
    def machine(self) -> str:
        """the file or the entry"""
    @property
    def gpus(self) -> int:
        """that take part"""
    @property
    def nodes(self) -> int:
        """they stand in"""
    @property
    def type(self) -> str:
        """of an element, as nccl-tests calls it"""
    @property
    def compared_with(self) -> str | None:
        """the log"""
    @property
    def rows(self) -> tuple[CollectiveRow, ...]:
        """one a size"""
    @property
    def limit(self) -> str:
        """one sentence: what it comes to"""
    @property
    def assumptions(self) -> tuple[str, ...]:
        """what nobody said and was taken"""

class CollectiveRow(Record):
    """`rows[]` of ``headway collective``: one a size"""

    @property
    def size_bytes(self) -> int:
        """as nccl-tests rounds it [B]"""
    @property
    def count(self) -> int:
        """elements, as nccl-tests counts them"""
    @property
    def time_s(self) -> float | None:
        """alone on the fabric; null: the size holds no whole part for every rank [s]"""
    @property
    def algorithm_bandwidth_bytes_per_s(self) -> float | None:
        """size / time [B/s]"""
    @property
    def bus_bandwidth_bytes_per_s(self) -> float | None:
        """the same x nccl-tests' factor of the collective [B/s]"""
    @property
    def algorithm(self) -> Literal["none", "ring", "tree", "nvls", "nvls_tree", "collnet", "pat", "hierarchical", "recursive", "pairwise", "direct"] | None:
        """that NCCL would choose, or was forced"""
    @property
    def protocol(self) -> Literal["none", "LL", "LL128", "Simple"] | None:
        """that NCCL would choose"""
    @property
    def source(self) -> Literal["nothing to do", "measured curve", "bounds fitted to measured curves", "NCCL cost model", "alpha-beta", "simulation of every message", "simulation of every packet"] | None:
        """where the time comes from"""
    @property
    def measured_time_s(self) -> float | None:
        """mean of the log's rows of this size [s]"""
    @property
    def measured_bus_bandwidth_bytes_per_s(self) -> float | None:
        """the same [B/s]"""
    @property
    def error(self) -> float | None:
        """predicted / measured - 1"""
    @property
    def packets(self) -> PacketFigures:
        """not always there: With `--granularity packet`: what happened to packets."""

class ReplayResult(Result):
    """The object of ``headway replay --format json``. Execution traces on another machine:
    [`docs/chakra.md`](chakra.md)."""

    @property
    def schema(self) -> str: ...
    @property
    def version(self) -> str:
        """of the program"""
    @property
    def machine(self) -> str | None:
        """the file or the entry; null: the traces were only checked"""
    @property
    def ranks(self) -> int:
        """that have a trace"""
    @property
    def trace_nodes(self) -> int:
        """of all traces together"""
    @property
    def time_s(self) -> float | None:
        """from the first node to the end of the last; null without a cluster [s]"""
    @property
    def rows(self) -> tuple[ReplayRanks, ...]:
        """ranks that do the same, in one row"""
    @property
    def collectives(self) -> tuple[ReplayCollective, ...]:
        """what is communicated, by kind and size"""
    @property
    def links(self) -> tuple[LinkUse, ...]:
        """of each tier of links, bytes carried / (capacity x time)"""
    @property
    def limit(self) -> str:
        """one sentence: what it comes to"""
    @property
    def assumptions(self) -> tuple[str, ...]:
        """what nobody said and was taken"""

class ReplayRanks(Record):
    """`rows[]` of ``headway replay``: ranks that do the same, in one row"""

    @property
    def first(self) -> int:
        """least of these ranks"""
    @property
    def count(self) -> int:
        """ranks that take equally long and compute equally much"""
    @property
    def computation_s(self) -> float:
        """computations of the stream of the GPU that has most, or of the CPU where none has [s]"""
    @property
    def end_s(self) -> float | None:
        """when their last node ends; null without a cluster [s]"""

class ReplayCollective(Record):
    """`collectives[]` of ``headway replay``: what is communicated, by kind and size"""

    @property
    def collective(self) -> Literal["all_reduce", "all_gather", "reduce_scatter", "all_to_all", "broadcast", "send_receive"]:
        """which"""
    @property
    def message_bytes(self) -> float:
        """of one call, as nccl-tests counts [B]"""
    @property
    def ranks(self) -> int:
        """of a group"""
    @property
    def calls(self) -> int:
        """of all groups together"""
    @property
    def nodes(self) -> int | None:
        """that a group stands in; null without a cluster"""
    @property
    def alone_s(self) -> float | None:
        """one call with the fabric to itself; null without a cluster [s]"""
    @property
    def algorithm(self) -> Literal["none", "ring", "tree", "nvls", "nvls_tree", "collnet", "pat", "hierarchical", "recursive", "pairwise", "direct"] | None:
        """that NCCL would choose; null without a cluster"""

class ValidateResult(Result):
    """The object of ``headway validate --runs --format json``. One row a published measurement."""

    @property
    def schema(self) -> str: ...
    @property
    def version(self) -> str:
        """of the program"""
    @property
    def inputs(self) -> tuple[ReadInput, ...]:
        """what the figures were made from"""
    @property
    def seed(self) -> int | None:
        """of all draws; null where nothing is drawn"""
    @property
    def left_out(self) -> LeavingOut:
        """Errors of rows whose source the constants have not seen."""
    @property
    def rows(self) -> tuple[RunPrediction, ...]:
        """one a published measurement"""
    @property
    def summary(self) -> RunsSummary:
        """Over the rows."""

class ReadInput(Record):
    """`inputs[]` of ``headway validate --runs``: what the figures were made from"""

    @property
    def name(self) -> str:
        """the table's file, or `catalogue`"""
    @property
    def digest(self) -> str:
        """over its text"""

class LeavingOut(Record):
    """`left_out` of ``headway validate --runs``: Errors of rows whose source the constants have
    not seen."""

    @property
    def parts(self) -> Mapping[str, RunSummary]:
        """leaving out one source: dense NVIDIA, mixtures of experts"""
    @property
    def mean_of_source_medians(self) -> float:
        """mean over the sources of the median absolute error of their rows"""
    @property
    def sources(self) -> Mapping[str, RunSummary]:
        """leaving out one source: by source"""
    @property
    def frameworks(self) -> Mapping[str, RunSummary]:
        """leaving out one framework: by framework"""
    @property
    def gpus(self) -> Mapping[str, RunSummary]:
        """leaving out one GPU: by GPU"""
    @property
    def constants(self) -> tuple[FittedConstant, ...]:
        """constants that are judged from runs, fitted again"""

class RunSummary(Record):
    """`left_out.parts[]` of ``headway validate --runs``: leaving out one source: dense NVIDIA,
    mixtures of experts"""

    @property
    def n(self) -> int:
        """rows predicted"""
    @property
    def n_skipped(self) -> int:
        """rows not predicted"""
    @property
    def median_abs_error(self) -> float | None:
        """median of the absolute error"""
    @property
    def mean_abs_error(self) -> float | None:
        """mean of the absolute error"""
    @property
    def p90_abs_error(self) -> float | None:
        """90th percentile of the absolute error"""
    @property
    def within_5(self) -> float | None:
        """share of predicted rows with an absolute error up to 5 %"""
    @property
    def within_10(self) -> float | None:
        """the same up to 10 %"""
    @property
    def coverage_90(self) -> float | None:
        """share of measurements inside their 90 % interval"""
    @property
    def median_half_width(self) -> float | None:
        """median of sqrt(upper end / lower end of the interval) - 1"""
    @property
    def n_memory(self) -> int:
        """rows whose source states the peak memory"""
    @property
    def median_abs_memory_error(self) -> float | None:
        """median of their absolute error"""

class FittedConstant(Record):
    """`left_out.constants[]` of ``headway validate --runs``: constants that are judged from
    runs, fitted again"""

    @property
    def name(self) -> str:
        """the constant"""
    @property
    def factor(self) -> float:
        """fitted to all runs / committed"""
    @property
    def standard_error(self) -> float:
        """relative standard error: jackknife over sources"""
    @property
    def sources(self) -> int:
        """sources whose runs depend on it"""
    @property
    def decided_by(self) -> str:
        """the source that moves it most when it is left out"""

class RunPrediction(Record):
    """`rows[]` of ``headway validate --runs``: one a published measurement"""

    @property
    def id(self) -> str:
        """name of the row in the input"""
    @property
    def measured_tokens_per_s_per_gpu(self) -> float | None:
        """published [1/s]"""
    @property
    def predicted_tokens_per_s_per_gpu(self) -> float | None:
        """`step.tokens_per_s_per_gpu`; null where the row cannot be predicted [1/s]"""
    @property
    def error(self) -> float | None:
        """predicted / published - 1"""
    @property
    def interval(self) -> tuple[float, float] | None:
        """90 % prediction interval [1/s]"""
    @property
    def status(self) -> str:
        """how it was computed, not whether it is right: `ok` from what the source states,
        `ok-assumed` (inputs were assumed), or `skipped:` and the reason"""
    @property
    def framework(self) -> str:
        """profile of the software that the row is predicted with"""
    @property
    def assumed(self) -> tuple[str, ...]:
        """inputs that the source does not state"""
    @property
    def part(self) -> str:
        """of the headline: dense NVIDIA, mixtures of experts, AMD"""
    @property
    def measured_peak_memory_gib(self) -> float | None:
        """published, where the source states it [GiB]"""
    @property
    def predicted_peak_memory_gib(self) -> float | None:
        """`memory.allocated_bytes`, `memory.reserved_bytes` or `memory.peak_bytes`: what the
        source speaks of [GiB]"""

class RunsSummary(Record):
    """`summary` of ``headway validate --runs``: Over the rows."""

    @property
    def n(self) -> int:
        """rows predicted"""
    @property
    def n_skipped(self) -> int:
        """rows not predicted"""
    @property
    def median_abs_error(self) -> float | None:
        """median of the absolute error"""
    @property
    def mean_abs_error(self) -> float | None:
        """mean of the absolute error"""
    @property
    def p90_abs_error(self) -> float | None:
        """90th percentile of the absolute error"""
    @property
    def within_5(self) -> float | None:
        """share of predicted rows with an absolute error up to 5 %"""
    @property
    def within_10(self) -> float | None:
        """the same up to 10 %"""
    @property
    def coverage_90(self) -> float | None:
        """share of measurements inside their 90 % interval"""
    @property
    def median_half_width(self) -> float | None:
        """median of sqrt(upper end / lower end of the interval) - 1"""
    @property
    def n_memory(self) -> int:
        """rows whose source states the peak memory"""
    @property
    def median_abs_memory_error(self) -> float | None:
        """median of their absolute error"""
    @property
    def parts(self) -> Mapping[str, RunSummary]:
        """the same summary of each part"""
    @property
    def statuses(self) -> Mapping[str, RunSummary]:
        """the same summary of `ok` and of `ok-assumed` rows"""
    @property
    def repeat_rows(self) -> int:
        """rows that repeat the configuration of another"""
    @property
    def repeat_mean_deviation(self) -> float:
        """mean distance of repeats from the median of their configuration: the noise of the
        data"""
    @property
    def layout_pairs(self) -> int:
        """pairs of rows that differ in layout only and by more than 10 %"""
    @property
    def layout_pairs_right(self) -> float:
        """share of these that are predicted in the right order"""
    @property
    def layouts(self) -> tuple[SourceLayouts, ...]:
        """order and choice of layouts, by source"""

class SourceLayouts(Record):
    """`summary.layouts[]` of ``headway validate --runs``: order and choice of layouts, by
    source"""

    @property
    def source(self) -> str:
        """of the rows, or `all`"""
    @property
    def consistent(self) -> bool:
        """rows whose status is `ok-contradictory` were left out; false: of all"""
    @property
    def pairs(self) -> int:
        """pairs of layouts that differ by more than 10 %"""
    @property
    def pairs_right(self) -> float:
        """share of these in the right order"""
    @property
    def decisions(self) -> int:
        """sets of layouts to choose from"""
    @property
    def mean_regret(self) -> float:
        """mean of 1 - measured speed of the layout predicted fastest / of the best measured"""
    @property
    def worst_regret(self) -> float:
        """the largest of them"""

class ValidateAnchorResult(Result):
    """The object of ``headway validate --anchor --format json``."""

    @property
    def schema(self) -> str: ...
    @property
    def version(self) -> str:
        """of the program"""
    @property
    def inputs(self) -> tuple[ReadInput, ...]:
        """what the figures were made from"""
    @property
    def seed(self) -> int | None:
        """of all draws; null where nothing is drawn"""
    @property
    def anchor(self) -> str:
        """the row that is matched"""
    @property
    def gemm_factor(self) -> float:
        """factor on the speed of matrix products that makes the row exact"""
    @property
    def before(self) -> RunSummary:
        """the rows like it, before"""
    @property
    def after(self) -> RunSummary:
        """the same, matched"""

class ValidateGoodputResult(Result):
    """The object of ``headway validate --goodput --format json``."""

    @property
    def schema(self) -> str: ...
    @property
    def version(self) -> str:
        """of the program"""
    @property
    def inputs(self) -> tuple[ReadInput, ...]:
        """what the figures were made from"""
    @property
    def seed(self) -> int | None:
        """of all draws; null where nothing is drawn"""
    @property
    def rows(self) -> tuple[GoodputPrediction, ...]:
        """one a published case"""
    @property
    def summary(self) -> GoodputSummary:
        """Over the rows."""

class GoodputPrediction(Record):
    """`rows[]` of ``headway validate --goodput``: one a published case"""

    @property
    def case_id(self) -> str:
        """name of the row in the input"""
    @property
    def reported(self) -> float | None:
        """share of useful time the source reports: the middle of its range, or the bound of an
        open one"""
    @property
    def reported_range(self) -> tuple[float | None, float | None]:
        """lower and upper end of what the source reports"""
    @property
    def predicted(self) -> float | None:
        """median of `campaign.ettr` over 400 trials of 30 days, or over 40 trials of the case's
        own work; of a case with broken GPUs its throughput, over 400 draws of who is broken"""
    @property
    def interval(self) -> tuple[float, float] | None:
        """5th and 95th percentile of these trials"""
    @property
    def closed_form(self) -> float | None:
        """exact ETTR where every input is stated"""
    @property
    def error(self) -> float | None:
        """predicted / published - 1"""
    @property
    def agrees(self) -> bool | None:
        """`interval` and `reported_range` overlap; null without a figure of the same definition"""
    @property
    def assumed(self) -> tuple[str, ...]:
        """inputs that the source does not state, and what was taken"""
    @property
    def note(self) -> str:
        """why the reported figure is not an ETTR as defined here"""
    @property
    def status(self) -> str:
        """where its inputs come from, not whether it is right (that is `agrees`): `computed`
        from what the source states, `computed-assumed` (inputs were assumed), or `skipped:` and
        the reason"""

class GoodputSummary(Record):
    """`summary` of ``headway validate --goodput``: Over the rows."""

    @property
    def n(self) -> int:
        """rows predicted"""
    @property
    def n_skipped(self) -> int:
        """rows not predicted"""
    @property
    def n_compared(self) -> int:
        """predicted rows whose source reports a figure of the same definition"""
    @property
    def n_agree(self) -> int:
        """of these, rows that agree"""
    @property
    def n_inside(self) -> int:
        """of these, rows whose median is within the reported range"""

class ValidateCollectivesResult(Result):
    """The object of ``headway validate --collectives --format json``."""

    @property
    def schema(self) -> str: ...
    @property
    def version(self) -> str:
        """of the program"""
    @property
    def inputs(self) -> tuple[ReadInput, ...]:
        """what the figures were made from"""
    @property
    def seed(self) -> int | None:
        """of all draws; null where nothing is drawn"""
    @property
    def calibration(self) -> Literal["none", "leave_one_out"]:
        """none, or by the system's other rows"""
    @property
    def rows(self) -> tuple[CollectivePrediction, ...]:
        """one a published timing"""
    @property
    def summary(self) -> CollectiveSummary:
        """Over the rows."""

class CollectivePrediction(Record):
    """`rows[]` of ``headway validate --collectives``: one a published timing"""

    @property
    def system(self) -> str:
        """as the source calls it"""
    @property
    def collective(self) -> str:
        """which"""
    @property
    def n_gpus(self) -> int:
        """that take part"""
    @property
    def message_bytes(self) -> float:
        """size of the message [B]"""
    @property
    def measured_us(self) -> float | None:
        """published time of the collective [us]"""
    @property
    def predicted_us(self) -> float | None:
        """time of `headway collective` for the same call [us]"""
    @property
    def error(self) -> float | None:
        """predicted / published - 1"""
    @property
    def status(self) -> str:
        """how it was computed, not whether it is right: `ok` from what the source states,
        `ok-assumed` (inputs were assumed), or `skipped:` and the reason"""

class CollectiveSummary(Record):
    """`summary` of ``headway validate --collectives``: Over the rows."""

    @property
    def n(self) -> int:
        """rows predicted"""
    @property
    def n_skipped(self) -> int:
        """rows not predicted"""
    @property
    def median_abs_error(self) -> float | None:
        """median of the absolute error"""
    @property
    def n_large(self) -> int:
        """rows of 1 MiB and more"""
    @property
    def median_abs_error_large(self) -> float | None:
        """median absolute error of these"""
    @property
    def p90_abs_error_large(self) -> float | None:
        """90th percentile of the absolute error of these"""
    @property
    def n_small(self) -> int:
        """rows below 1 MiB"""
    @property
    def median_factor_small(self) -> float | None:
        """median of max(predicted / measured, measured / predicted) of these"""

class ValidateFlowModelResult(Result):
    """The object of ``headway validate --flow-model --format json``."""

    @property
    def schema(self) -> str: ...
    @property
    def version(self) -> str:
        """of the program"""
    @property
    def inputs(self) -> tuple[ReadInput, ...]:
        """what the figures were made from"""
    @property
    def seed(self) -> int | None:
        """of all draws; null where nothing is drawn"""
    @property
    def fabrics(self) -> tuple[StressReport, ...]:
        """each as `headway topo --stress` has it"""
    @property
    def limit(self) -> str:
        """one sentence: what it comes to"""

class StressReport(Record):
    """`fabrics[]` of ``headway validate --flow-model``: each as `headway topo --stress` has it"""

    @property
    def version(self) -> str:
        """of the program"""
    @property
    def machine(self) -> str:
        """the file or the entry"""
    @property
    def fabric(self) -> str:
        """its fabric"""
    @property
    def transport(self) -> str:
        """of its packets"""
    @property
    def path_choice(self) -> str:
        """which of several equal cables a packet takes"""
    @property
    def gpus(self) -> int:
        """of a group, spread evenly over the fabric"""
    @property
    def rows(self) -> tuple[StressRow, ...]:
        """one a traffic and size"""
    @property
    def limit(self) -> str:
        """one sentence: what it comes to"""
    @property
    def assumptions(self) -> tuple[str, ...]:
        """what neither the file nor the options say"""

class CalibrateCompareResult(Result):
    """The object of ``headway calibrate compare --format json``."""

    @property
    def schema(self) -> str: ...
    @property
    def version(self) -> str:
        """of the program"""
    @property
    def profile(self) -> str:
        """the calibration profile"""
    @property
    def log(self) -> str:
        """that it is compared with"""
    @property
    def collective(self) -> Literal["all_reduce", "all_gather", "reduce_scatter", "all_to_all", "broadcast", "send_receive"]:
        """of the log"""
    @property
    def ranks(self) -> int:
        """of the log"""
    @property
    def ranks_per_node(self) -> int:
        """of the log"""
    @property
    def rows(self) -> tuple[ProfileRow, ...]:
        """one a size"""
    @property
    def summary(self) -> ProfileErrors:
        """Over the sizes."""

class ProfileRow(Record):
    """`rows[]` of ``headway calibrate compare``: one a size"""

    @property
    def message_bytes(self) -> float:
        """size of the message [B]"""
    @property
    def predicted_s(self) -> float:
        """by the profile's curve [s]"""
    @property
    def measured_s(self) -> float:
        """mean of the log's samples [s]"""
    @property
    def predicted_bus_bytes_per_s(self) -> float:
        """bus bandwidth [B/s]"""
    @property
    def measured_bus_bytes_per_s(self) -> float:
        """bus bandwidth [B/s]"""
    @property
    def error(self) -> float | None:
        """predicted / measured - 1"""

class ProfileErrors(Record):
    """`summary` of ``headway calibrate compare``: Over the sizes."""

    @property
    def n(self) -> int:
        """sizes"""
    @property
    def median_abs_error(self) -> float | None:
        """median of the absolute error"""
    @property
    def n_large(self) -> int:
        """sizes of 1 MiB and more"""
    @property
    def median_abs_error_large(self) -> float | None:
        """of these"""

class ExpectResult(Result):
    """The object of ``headway expect --format json``. What a sound cluster must reach:
    [`docs/diagnose.md`](diagnose.md)."""

    @property
    def schema(self) -> str: ...
    @property
    def version(self) -> str:
        """of the program"""
    @property
    def status(self) -> Literal["ok", "infeasible", "assert_failed", "incomplete"]:
        """`assert_failed`: a measured figure is beyond its limit"""
    @property
    def reasons(self) -> tuple[str, ...]:
        """why the status is not `ok`"""
    @property
    def scenario(self) -> ScenarioLabel:
        """which scenario"""
    @property
    def thresholds(self) -> tuple[Threshold, ...]:
        """one a figure"""
    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """With `--against`: one a measured figure."""
    @property
    def nodes(self) -> tuple[NodeVerdict, ...]:
        """With `--against`: one a node that the files name."""
    @property
    def limit(self) -> str:
        """one sentence: what it comes to"""
    @property
    def assumptions(self) -> tuple[str, ...]:
        """what the thresholds rest on"""

class Threshold(Record):
    """`thresholds[]` of ``headway expect``: one a figure"""

    @property
    def measure(self) -> Literal["bus_bandwidth", "gemm_rate", "step_time", "tokens_per_s_per_gpu", "save_stall", "save_time", "restart_time"]:
        """which figure"""
    @property
    def scope(self) -> Literal["gpu", "node", "group", "domain", "leaf", "site", "job"]:
        """how much of the cluster takes part"""
    @property
    def collective(self) -> Literal["all_reduce", "all_gather", "reduce_scatter", "all_to_all", "broadcast", "send_receive"] | None:
        """of a bus bandwidth: which collective"""
    @property
    def shape(self) -> str | None:
        """of a matrix product: tokens x outputs x inputs, and the operands"""
    @property
    def gpus(self) -> int:
        """that take part"""
    @property
    def nodes(self) -> int:
        """they stand in"""
    @property
    def size_bytes(self) -> float | None:
        """of the message, as nccl-tests counts it [B]"""
    @property
    def unit(self) -> str:
        """of the four figures below"""
    @property
    def expected(self) -> float:
        """predicted"""
    @property
    def interval(self) -> tuple[float, float]:
        """90 % interval of a sound cluster"""
    @property
    def limit(self) -> float:
        """what must be reached: the interval's lower end of a rate, the upper one of a time"""
    @property
    def at_least(self) -> bool:
        """the limit is a least; else it is a most"""

class Verdict(Record):
    """`verdicts[]` of ``headway expect``: With `--against`: one a measured figure."""

    @property
    def source(self) -> str:
        """file it was read from"""
    @property
    def nodes(self) -> tuple[str, ...]:
        """that took part, where the file names them"""
    @property
    def passed(self) -> bool:
        """the limit is kept, by data that are right, in a test that came to its end"""
    @property
    def wrong_data(self) -> str | None:
        """of nccl-tests: what it found wrong of the data it moved, of any size; null: nothing"""
    @property
    def unfinished(self) -> str | None:
        """of nccl-tests: how it came to no end, of any size; null: it came to one"""
    @property
    def measured(self) -> float:
        """the figure, in the unit of the threshold"""
    @property
    def threshold(self) -> Threshold:
        """that it was held to"""

class NodeVerdict(Record):
    """`nodes[]` of ``headway expect``: With `--against`: one a node that the files name."""

    @property
    def node(self) -> str:
        """as the files call it"""
    @property
    def state(self) -> Literal["passed", "suspect", "failed"]:
        """failed: a test of this node alone failed, or one whose other nodes all passed another
        test while this one passed none; suspect: a test that it shared with others failed;
        passed: none failed"""
    @property
    def tests(self) -> int:
        """it took part in"""
    @property
    def failed(self) -> int:
        """of them"""

class DiagnoseResult(Result):
    """The object of ``headway diagnose --format json``. Why a job is slower than it should be:
    [`docs/diagnose.md`](diagnose.md)."""

    @property
    def schema(self) -> str: ...
    @property
    def version(self) -> str:
        """of the program"""
    @property
    def scenario(self) -> ScenarioLabel:
        """which scenario"""
    @property
    def files(self) -> tuple[str, ...]:
        """that were read"""
    @property
    def compared(self) -> tuple[Compared, ...]:
        """measured beside predicted, one a figure"""
    @property
    def suspects(self) -> tuple[Suspect, ...]:
        """the likeliest first"""
    @property
    def next(self) -> NextStep | None:
        """what to measure next; null: nothing that is known tells the first two listed apart"""
    @property
    def slowest_gpu(self) -> str | None:
        """the GPU of the lowest clock, of those that were watched"""
    @property
    def limit(self) -> str:
        """one sentence: what it comes to"""
    @property
    def left_out(self) -> tuple[str, ...]:
        """causes that could not be simulated, and why"""
    @property
    def wrong_data(self) -> tuple[str, ...]:
        """logs of nccl-tests that found wrong values in what was moved: a fault whatever it
        costs"""
    @property
    def unfinished(self) -> tuple[str, ...]:
        """logs of nccl-tests whose test came to no end, and how: a fault, however fast it was
        until then"""
    @property
    def findings(self) -> tuple[str, ...]:
        """what files say that no single figure does: a restart, steps that changed or grew on
        the way, files that contradict each other"""
    @property
    def remarks(self) -> tuple[str, ...]:
        """what of the files was left out"""

class Compared(Record):
    """`compared[]` of ``headway diagnose``: measured beside predicted, one a figure"""

    @property
    def feature(self) -> Literal["step_time", "spread", "pauses", "regularity", "forward", "backward", "rank_ratio", "stage_waits", "data", "optimizer", "input", "memory", "reserved_memory", "bus_bandwidth", "clock_ratio", "power", "products", "save", "load"]:
        """which figure"""
    @property
    def words(self) -> str:
        """the same in words"""
    @property
    def unit(self) -> str:
        """of the figures below"""
    @property
    def source(self) -> str:
        """file it was read from"""
    @property
    def measured(self) -> float:
        """by the file"""
    @property
    def expected(self) -> float:
        """predicted of the job as its scenario has it"""
    @property
    def interval(self) -> tuple[float, float]:
        """90 % interval of that, noise of the log included"""
    @property
    def within(self) -> bool:
        """the measured figure is in it"""
    @property
    def if_so(self) -> float | None:
        """predicted if the first of the suspects is at work, at its likeliest severity; null:
        it is what is not listed, which foretells nothing"""
    @property
    def explained(self) -> bool | None:
        """the measured figure is in the 90 % interval of that"""

class Suspect(Record):
    """`suspects[]` of ``headway diagnose``: the likeliest first"""

    @property
    def cause(self) -> Literal["none", "slow_node", "half_rate_nic", "slow_way", "hashed_collisions", "power_cap", "eager_kernels", "wrong_attention", "data_starvation", "recompute", "frequent_saves", "regular_pauses", "slow_storage", "jitter", "unlisted"]:
        """which; of a pair the first"""
    @property
    def words(self) -> str:
        """its likeliest severity and place"""
    @property
    def probability(self) -> float:
        """posterior: every cause, `none` and `unlisted` are as likely before, a pair of causes
        a fiftieth of that, a setting of the software a hundredth where steps became slower on
        the way"""
    @property
    def log_likelihood(self) -> float:
        """of the logs if it is so: mean over severities and places"""
    @property
    def step_s(self) -> float | None:
        """mean step if it is so, pauses included [s]"""
    @property
    def mending(self) -> Mending:
        """what it brings to mend it"""
    @property
    def places(self) -> tuple[Place, ...]:
        """nodes it may be at, the likeliest first; empty: no file tells places apart"""
    @property
    def parts(self) -> tuple[SuspectPart, ...]:
        """the two causes of a pair; empty: it is a single one"""

class Mending(Record):
    """`suspects[].mending` of ``headway diagnose``: what it brings to mend it"""

    @property
    def share(self) -> float:
        """of the time that it saves"""
    @property
    def days(self) -> float | None:
        """that the whole run is shorter by; null without `run.until`, or where the wall clock
        ends it [d]"""
    @property
    def usd(self) -> float | None:
        """that the whole run costs less; null without prices, or where the wall clock ends it
        [USD]"""
    @property
    def steps(self) -> float | None:
        """that the run does more in its time; null where no wall clock ends it"""
    @property
    def tokens(self) -> float | None:
        """of those steps"""

class Place(Record):
    """`suspects[].places[]` of ``headway diagnose``: nodes it may be at, the likeliest first;
    empty: no file tells places apart"""

    @property
    def node(self) -> str:
        """its name; empty: a node that no file names"""
    @property
    def probability(self) -> float:
        """that it is there, if it is this cause"""

class SuspectPart(Record):
    """`suspects[].parts[]` of ``headway diagnose``: the two causes of a pair; empty: it is a
    single one"""

    @property
    def cause(self) -> Literal["none", "slow_node", "half_rate_nic", "slow_way", "hashed_collisions", "power_cap", "eager_kernels", "wrong_attention", "data_starvation", "recompute", "frequent_saves", "regular_pauses", "slow_storage", "jitter", "unlisted"]:
        """which"""
    @property
    def words(self) -> str:
        """its likeliest severity and place"""
    @property
    def mending(self) -> Mending:
        """what it brings to mend it alone"""

class NextStep(Record):
    """`next` of ``headway diagnose``: what to measure next; null: nothing that is known tells
    the first two listed apart"""

    @property
    def feature(self) -> Literal["step_time", "spread", "pauses", "regularity", "forward", "backward", "rank_ratio", "stage_waits", "data", "optimizer", "input", "memory", "reserved_memory", "bus_bandwidth", "clock_ratio", "power", "products", "save", "load"]:
        """what to measure"""
    @property
    def of_places(self) -> bool:
        """it tells at which node the first suspect is, not which it is"""
    @property
    def command(self) -> str:
        """how"""
    @property
    def reads(self) -> str:
        """what it says in each case"""
    @property
    def deviations(self) -> float:
        """between the two predictions, in standard deviations; where those agree, how many of
        the first one's what is not listed may move the figure"""

class EstimateResult(Result):
    """The object of ``headway serve --format json``. What the page shows while somebody types:
    a step without events. Model: [`docs/models/workload.md`](models/workload.md), part
    "analytic tier"."""

    @property
    def schema(self) -> str: ...
    @property
    def version(self) -> str:
        """of the program"""
    @property
    def scenario(self) -> ScenarioLabel: ...
    @property
    def asked(self) -> tuple[str, ...]:
        """model, cluster and layout in sentences"""
    @property
    def model(self) -> ModelSize:
        """What is trained."""
    @property
    def time_s(self) -> float:
        """wall time of one optimizer step, healthy cluster [s]"""
    @property
    def pipeline_s(self) -> float:
        """of it, from the first forward to the last backward [s]"""
    @property
    def reduction_s(self) -> float:
        """of it, reductions of gradients that the last backward does not hide [s]"""
    @property
    def update_s(self) -> float:
        """of it, norm of the gradients, optimizer, gathers behind it, fixed overhead [s]"""
    @property
    def imbalance_s(self) -> float:
        """of it, waits for the data rank whose documents or images have the most work [s]"""
    @property
    def tokens_per_s(self) -> float:
        """`global batch x sequence length / time` [1/s]"""
    @property
    def tokens_per_s_per_gpu(self) -> float:
        """the same / GPUs of the job, spares not counted [1/s]"""
    @property
    def mfu(self) -> float:
        """as `step.mfu` of `headway run`, of this time"""
    @property
    def model_tflops_per_gpu(self) -> float:
        """model FLOPs per second per GPU, convention of `mfu` [10^12/s]"""
    @property
    def memory(self) -> MemoryResult:
        """Of the fullest GPU; the same as that of `headway run`."""
    @property
    def work_s(self) -> float | None:
        """wall clock of `run.until` were nothing to fail and no checkpoint taken; null without
        [s]"""

class CheckResult(Result):
    """The object of ``headway check --format json``."""

    @property
    def schema(self) -> str: ...
    @property
    def version(self) -> str:
        """of the program"""
    @property
    def files(self) -> tuple[FileCheck, ...]:
        """in the order given"""

class FileCheck(Record):
    """`files[]` of ``headway check``: in the order given"""

    @property
    def path(self) -> str:
        """of the file"""
    @property
    def kind(self) -> str:
        """scenarios, gpus, ..."""
    @property
    def correct(self) -> bool:
        """there is no error"""
    @property
    def errors(self) -> tuple[FileError, ...]:
        """all of them"""

class FileError(Record):
    """`files[].errors[]` of ``headway check``: all of them"""

    @property
    def message(self) -> str:
        """what was found, what was expected"""
    @property
    def file(self) -> str | None:
        """where it is; null: nowhere in particular"""
    @property
    def line(self) -> int | None:
        """from 1; null: the whole file"""
    @property
    def column(self) -> int | None:
        """from 1"""
