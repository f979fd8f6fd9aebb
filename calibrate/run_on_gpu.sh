#!/usr/bin/env bash
# Builds, checks, measures and compares on a GPU machine in one call, so that little GPU time is needed.
#
#   calibrate/run_on_gpu.sh bundle [FOLDER]        where the packages are: build, and gather programs and libraries
#                                                  into FOLDER [build/bundle]; no GPU needed
#   calibrate/run_on_gpu.sh [--quick] [--seconds N] [--parts LIST] [--out FOLDER] [--bundle FOLDER]
#                                                  on the GPU machine; --parts: headway-calibrate's --only
#
# On the GPU machine it uses FOLDER of an earlier `bundle` if there is one (a machine without package index or
# compilers then needs nothing but the driver, CUDA's libraries and, for the PyTorch steps, PyTorch), else it builds.
# Steps: facts; check, every kernel's result at the smallest sizes; measure, the GPU's kernels; kernels, those of
# PyTorch; training, PyTorch steps; profile, what was measured as one profile; compare, predictions beside the
# steps. --seconds N [1500] bounds the whole but a build: a tenth of it at most checks, three tenths measure, two
# are PyTorch's kernels, the rest are training steps. Each step has a log in --out; one that cannot run is named at
# the end. Exit codes: 0 all steps ran, 1 a step failed, 2 nothing could be measured.
set -uo pipefail
cd "$(dirname "$0")/.."

build() {
  scripts/setup && cmake --build build/release -j "$(nproc)" --target headway_program headway_calibrate
}

# Everything a program loads but the C library, which must be the machine's own.
libraries_of() {
  ldd "$1" | awk '/=> \//{print $3}' | grep -vE '/(libc|libm|libdl|libpthread|librt|ld-linux[^/]*)\.so'
}

make_bundle() {
  local folder=$1 program
  build || exit 1
  rm -rf "$folder"
  mkdir -p "$folder/bin" "$folder/lib" "$folder/programs"
  for program in headway headway-calibrate; do
    cp "build/release/bin/$program" "$folder/programs/$program"
    strip "$folder/programs/$program"
    libraries_of "build/release/bin/$program" | xargs -r cp -Lt "$folder/lib"
    cat >"$folder/bin/$program" <<'WRAPPER'
#!/usr/bin/env bash
here="$(cd "$(dirname "$0")/.." && pwd)"
export HEADWAY_CONFIGS="${HEADWAY_CONFIGS:+$HEADWAY_CONFIGS:}$here/configs"
LD_LIBRARY_PATH="$here/lib:${HEADWAY_CUDA_LIBRARIES:-}:${LD_LIBRARY_PATH:-}" exec "$here/programs/$(basename "$0")" "$@"
WRAPPER
    chmod +x "$folder/bin/$program"
  done
  cp build/release/bin/headway_solver.so "$folder/programs" # which the fit loads
  libraries_of build/release/bin/headway_solver.so | xargs -r cp -Lt "$folder/lib"
  cp -r configs "$folder/configs"
  echo "bundle: $folder ($(du -sh "$folder" | cut -f1))"
}

# CUDA's libraries may lie in the toolkit or inside Python packages (nvidia-cublas, nvidia-cudnn, nvidia-nccl).
cuda_libraries() {
  local found=() folder
  for folder in /usr/local/cuda/lib64 /usr/local/nvidia/lib64; do
    [ -d "$folder" ] && found+=("$folder")
  done
  while IFS= read -r folder; do
    found+=("$folder")
  done < <(python3 - <<'PYTHON' 2>/dev/null
import glob, site, sys
for place in site.getsitepackages() + sys.path:
    for folder in sorted(glob.glob(place + "/nvidia/*/lib")):
        print(folder)
PYTHON
  )
  (IFS=:; echo "${found[*]}")
}

out=build/gpu quick=() parts=() bundle=build/bundle seconds=1500
if [ "${1:-}" = bundle ]; then
  make_bundle "${2:-build/bundle}"
  exit
fi
while [ $# -gt 0 ]; do
  case "$1" in
    --quick) quick=(--quick) ;;
    --seconds) seconds=$2; shift ;;
    --parts) parts=(--only "$2"); shift ;;
    --out) out=$2; shift ;;
    --bundle) bundle=$2; shift ;;
    *) echo "run_on_gpu: unknown argument '$1'" >&2; exit 2 ;;
  esac
  shift
done

mkdir -p "$out"
begin=$SECONDS
failed=() skipped=()

# step NAME SECONDS COMMAND...: runs it with a limit and a log; keeps going whatever happens.
step() {
  local name=$1 limit=$2 code
  shift 2
  timeout --signal=INT --kill-after=20 "$limit" "$@" >"$out/$name.log" 2>&1
  code=$?
  printf '%-12s %4d s  exit code %d\n' "$name" "$((SECONDS - begin))" "$code"
  [ "$code" = 0 ] && return 0
  tail -n 5 "$out/$name.log" | sed 's/^/    /'
  failed+=("$name ($code)")
  return "$code"
}

if command -v nvidia-smi >/dev/null; then
  step facts 30 nvidia-smi -q
else
  skipped+=("facts: nvidia-smi is not found")
fi

if [ -x "$bundle/bin/headway-calibrate" ]; then
  programs=$bundle/bin
  HEADWAY_CUDA_LIBRARIES=$(cuda_libraries)
  export HEADWAY_CUDA_LIBRARIES
elif export -f build && step build 1500 bash -c build; then
  programs=build/release/bin
else
  echo "run_on_gpu: no bundle in $bundle, and the build failed (see $out/build.log)" >&2
  exit 2
fi

measured=$SECONDS # the allowance begins when everything is built
step check "$((seconds / 10))" "$programs/headway-calibrate" --tiny --quiet --force --out "$out/check.yaml"
code=$?
if [ "$code" = 2 ]; then
  exit 2 # no usable GPU: the message is above
fi
samples=()
rm -f "$out/node.csv" "$out/pytorch.csv" "$out/steps.json"
step measure "$((seconds * 3 / 10 + 20))" "$programs/headway-calibrate" "${quick[@]}" "${parts[@]}" \
  --force --quiet --seconds "$((seconds * 3 / 10))" --out "$out/node.yaml"
[ -f "$out/node.csv" ] && samples+=("$out/node.csv") # wrong results are flagged, the others count
if python3 -c 'import torch, sys; sys.exit(0 if torch.cuda.is_available() else 1)' 2>/dev/null; then
  step kernels "$((seconds / 5 + 20))" python3 calibrate/pytorch/measure_pytorch.py --seconds "$((seconds / 5))" \
    --out "$out/pytorch.csv"
  [ -f "$out/pytorch.csv" ] && samples+=("$out/pytorch.csv")
  left=$((seconds - (SECONDS - measured) - 30))
  step training "$((left + 20))" python3 calibrate/validate/compare.py --only-measure "${quick[@]}" \
    --seconds "$left" --save "$out/steps.json"
else
  skipped+=("kernels, training: python3 has no PyTorch with CUDA")
fi
profile=() sheet=()
gpu=$(sed -n 's/^# catalogue: //p' "$out/node.csv" 2>/dev/null)
if [ -n "$gpu" ]; then
  sheet=(--gpu "$gpu")
else
  skipped+=("shares of the peaks: the catalogue has no data sheet of this GPU")
fi
if [ ${#samples[@]} -gt 0 ] && step profile 30 "$programs/headway" calibrate fit "${samples[@]}" "${sheet[@]}" \
    --name "measured node" --force --out "$out/profile.yaml"; then
  profile=(--profile "$out/profile.yaml")
fi
if [ -f "$out/steps.json" ]; then
  step compare 60 python3 calibrate/validate/compare.py --program "$programs/headway" --measured "$out/steps.json" \
    "${profile[@]}" --out "$out/steps.md"
fi

echo "results in $out after $((SECONDS - begin)) s"
[ ${#skipped[@]} -gt 0 ] && printf 'skipped: %s\n' "${skipped[@]}"
[ ${#failed[@]} -gt 0 ] && { printf 'failed: %s\n' "${failed[@]}"; exit 1; }
exit 0
