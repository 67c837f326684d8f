#!/bin/bash
# A Ray cluster inside a SLURM allocation, for one command: sbatch infra/slurm.sh [COMMAND ...], without one `dvc repro`.
# Submit it in the project's folder, which every node sees at the same path (docs/cluster.md). params.yaml: engine: {kind: ray}.
#SBATCH --job-name=hearsight
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=1
#SBATCH --cpus-per-task=32
#SBATCH --gpus-per-node=4
#SBATCH --time=24:00:00
#SBATCH --signal=B:USR1@300
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --output=hearsight-%j.log
set -euo pipefail
[ $# -gt 0 ] || set -- dvc repro
cd "${SLURM_SUBMIT_DIR:-.}"

nodes=$SLURM_JOB_NUM_NODES
head=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head --lines=1)
address=$(srun --nodes=1 --ntasks=1 --nodelist="$head" hostname --ip-address | cut --delimiter=' ' --fields=1)
# By the job's number, so that two jobs can share a machine.
port=${HEARSIGHT_RAY_PORT:-$((20000 + SLURM_JOB_ID % 20000))}
export RAY_ADDRESS=$address:$port RAY_USAGE_STATS_ENABLED=0
node=(--block --num-cpus="${SLURM_CPUS_PER_TASK:-1}" --num-gpus="${SLURM_GPUS_ON_NODE:-0}"
      --min-worker-port=0 --max-worker-port=0 --dashboard-agent-listen-port=0)

finish() {
    trap - EXIT
    # The steps of this job; ending them ends Ray on every node.
    jobs -p | xargs --no-run-if-empty kill 2>/dev/null || true
    wait || true
}
trap finish EXIT

requeue() {
    trap '' USR1 TERM
    echo "hearsight: the allocation ends soon; job $SLURM_JOB_ID is queued again and continues from what is finished" >&2
    kill -TERM "$run" 2>/dev/null || true
    wait "$run" || true
    finish
    scontrol requeue "$SLURM_JOB_ID"
    exit 0
}

# On a busy machine Ray may give up its start.
start_head() {
    local log head_step
    log=$(mktemp)
    for _ in 1 2 3; do
        srun --nodes=1 --ntasks=1 --nodelist="$head" \
            ray start --head --node-ip-address="$address" --port="$port" --ray-client-server-port=$((port + 20000)) \
            --include-dashboard=false "${node[@]}" >"$log" &
        head_step=$!
        while kill -0 "$head_step" 2>/dev/null; do
            ! grep --quiet "Ray runtime started" "$log" || { rm "$log"; return 0; }
            sleep 1
        done
    done
    echo "hearsight: Ray did not start on $head" >&2
    return 1
}

echo "hearsight: start ${SLURM_RESTART_COUNT:-0}, $nodes nodes, Ray at $RAY_ADDRESS" >&2
start_head
if [ "$nodes" -gt 1 ]; then
    srun --nodes=$((nodes - 1)) --ntasks=$((nodes - 1)) --exclude="$head" \
        ray start --address="$RAY_ADDRESS" "${node[@]}" >/dev/null &
fi

"$@" &
run=$!
trap requeue USR1
status=0
wait "$run" || status=$?
exit "$status"
