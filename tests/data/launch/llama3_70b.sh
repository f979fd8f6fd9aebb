#!/bin/bash
#SBATCH --job-name=llama3-70b
#SBATCH --nodes=64
#SBATCH --ntasks-per-node=8
#SBATCH --time=24:00:00

# Llama 3 70B on 512 GPUs, written for the tests of `headway import megatron-args`.
set -euo pipefail
export CUDA_DEVICE_MAX_CONNECTIONS=1
export NCCL_IB_SL=1

GPUS_PER_NODE=8
NNODES=${SLURM_NNODES:-64}
MASTER_ADDR=${MASTER_ADDR:-localhost}
MASTER_PORT=6000
WORLD_SIZE=$(($GPUS_PER_NODE*$NNODES))

TP=8
PP=4
CP=2
MBS=1
GBS=1024
SEQ_LEN=8192

CHECKPOINT_PATH=${1:-/checkpoints/llama3-70b}
TOKENIZER_MODEL="/models/llama3/tokenizer.model"
DATA_PREFIX="0.7 /data/web_text_document 0.3 /data/code_text_document"

DISTRIBUTED_ARGS=(
    --nproc_per_node $GPUS_PER_NODE
    --nnodes $NNODES
    --rdzv_endpoint "$MASTER_ADDR:$MASTER_PORT"
    --rdzv_backend c10d
)

MODEL_ARGS=(
    --use-mcore-models
    --num-layers 80
    --hidden-size 8192
    --ffn-hidden-size 28672
    --num-attention-heads 64
    --group-query-attention
    --num-query-groups 8
    --seq-length $SEQ_LEN
    --max-position-embeddings 131072   # of the model, not of this run
    --position-embedding-type rope
    --rotary-base 500000
    --use-rope-scaling
    --swiglu
    --disable-bias-linear
    --normalization RMSNorm
    --norm-epsilon 1e-5
    --untie-embeddings-and-output-weights
    --attention-dropout 0.0
    --hidden-dropout 0.0
    --init-method-std 0.008
    --vocab-size 128256
    --make-vocab-size-divisible-by 16
)

TRAINING_ARGS="
    --micro-batch-size ${MBS} \
    --global-batch-size ${GBS} \
    --train-iters 250000 \
    --optimizer adam --adam-beta1 0.9 --adam-beta2 0.95 \
    --weight-decay 0.1 --clip-grad 1.0 \
    --lr 1.5e-4 --min-lr 1.0e-5 --lr-decay-style cosine --lr-warmup-iters 2000 \
    --bf16 --attention-softmax-in-fp32 \
    --use-flash-attn --transformer-impl transformer_engine \
    --seed 42
"

PARALLEL_ARGS=(
    --tensor-model-parallel-size ${TP}
    --pipeline-model-parallel-size ${PP}
    --num-layers-per-virtual-pipeline-stage 5
    --context-parallel-size $CP
    --sequence-parallel
    --use-distributed-optimizer
    --overlap-grad-reduce
    --overlap-param-gather
    --tp-comm-overlap
    --recompute-activations
    --distributed-timeout-minutes 30
)

DATA_ARGS=(
    --data-path $DATA_PREFIX
    --tokenizer-type Llama3Tokenizer
    --tokenizer-model ${TOKENIZER_MODEL}
    --split 99,1,0
    --num-workers 4
    --no-mmap-bin-files
    --no-create-attention-mask-in-dataloader
)

LOG_ARGS=(
    --log-interval 10 --log-throughput --timing-log-level 0
    --tensorboard-dir "${CHECKPOINT_PATH}/tensorboard"
    --wandb-project llama3 --wandb-exp-name llama3-70b
    --save $CHECKPOINT_PATH --load $CHECKPOINT_PATH --save-interval 1000
    --eval-interval 1000 --eval-iters 10
    --async-save --dist-ckpt-format torch_dist
    --manual-gc --manual-gc-interval 100
)

srun --label torchrun "${DISTRIBUTED_ARGS[@]}" pretrain_gpt.py \
    "${MODEL_ARGS[@]}" \
    ${TRAINING_ARGS} \
    "${PARALLEL_ARGS[@]}" \
    "${DATA_ARGS[@]}" \
    "${LOG_ARGS[@]}" 2>&1 | tee train.log
