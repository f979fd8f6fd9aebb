#!/bin/bash
# Mixtral 8x7B on 128 GPUs, written for the tests of `headway import megatron-args`.
GPUS_PER_NODE=8
NUM_NODES=16
TP_SIZE=${TP_SIZE:-1}
EP_SIZE="8"

options=" \
  --nproc-per-node=$GPUS_PER_NODE --nnodes=$NUM_NODES \
  --num-layers 32 --hidden-size 4096 --ffn-hidden-size 14336 \
  --num-attention-heads 32 --group-query-attention --num-query-groups 8 \
  --seq-length 4096 --max-position-embeddings 32768 \
  --position-embedding-type rope --rotary-base 1000000 \
  --swiglu --disable-bias-linear --normalization RMSNorm \
  --untie-embeddings-and-output-weights --no-masked-softmax-fusion \
  --attention-dropout 0 --hidden-dropout 0"

MOE_ARGS=(--num-experts 8
          --moe-router-topk 2
          --moe-router-load-balancing-type aux_loss
          --moe-aux-loss-coeff 1e-2
          --moe-grouped-gemm
          --moe-permute-fusion
          --moe-token-dispatcher-type alltoall
          --overlap-param-gather
          --overlap-grad-reduce)

if [ "$EP_SIZE" -gt 1 ]; then
  MOE_ARGS+=(--expert-model-parallel-size $EP_SIZE)
fi

torchrun $options "${MOE_ARGS[@]}" pretrain_gpt.py \
  --tokenizer-type Llama2Tokenizer --tokenizer-model /models/tokenizer.model \
  --tensor-model-parallel-size $TP_SIZE --pipeline-model-parallel-size $((2 * 2)) \
  --num-layers-per-virtual-pipeline-stage 4 --use-distributed-optimizer --sequence-parallel \
  --micro-batch-size 1 --global-batch-size 256 --train-samples 25600000 \
  --bf16 --lr 1e-4 --my-own-flag 17
