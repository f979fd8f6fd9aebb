#include "sim/report/points/sweep_jobs.h"

#include <fmt/format.h>

#include "sim/config/writer.h"
#include "sim/core/shown_text.h"

namespace headway::report {

namespace {

/// A word inside the double quotes of HTCondor's `arguments`: in single quotes, in which a quote of
/// either kind is written twice (HTCondor manual, condor_submit, "arguments").
std::string condor_word(const std::string& text) {
  std::string word = "'";
  for (const char c : text) {
    word += std::string(c == '\'' || c == '"' ? 2 : 1, c);
  }
  return word + "'";
}

/// A text in which no macro is expanded (HTCondor manual, "Using macros", $(DOLLAR)).
std::string condor_text(const std::string& text) {
  std::string out;
  for (const char c : text) {
    out += c == '$' ? std::string("$(DOLLAR)") : std::string(1, c);
  }
  return out;
}

}  // namespace

std::string job_file_name(JobSystem system) {
  switch (system) {
    case JobSystem::slurm:
      return "sweep.slurm";
    case JobSystem::k8s:
      return "sweep-job.yaml";
    case JobSystem::hq:
      return "sweep-hq.sh";
    case JobSystem::condor:
      return "sweep.condor";
  }
  return "";
}

std::string job_file(JobSystem system, const std::string& folder, std::int64_t shards) {
  switch (system) {
    case JobSystem::slurm:
      return fmt::format(
          "#!/bin/sh\n"
          "#SBATCH --job-name=headway-sweep\n"
          "#SBATCH --array=1-{0}\n"
          "#SBATCH --cpus-per-task=1\n"
          "#SBATCH --output=/dev/null\n"
          "#SBATCH --requeue\n"
          "# What a shard says that fails; no file of one that does not.\n"
          "errors={1}/\"shard-$SLURM_ARRAY_TASK_ID.err\"\n"
          "exec 2>\"$errors\"\n"
          "headway worker {1} --shard \"$SLURM_ARRAY_TASK_ID/{0}\" --threads "
          "\"${{SLURM_CPUS_PER_TASK:-1}}\" --quiet\n"
          "code=$?\n"
          "[ -s \"$errors\" ] || rm -f \"$errors\"\n"
          "exit $code\n",
          shards, core::shell_word(folder));
    case JobSystem::k8s:
      return fmt::format(
          "# The image must have headway; the volume must hold the folder at the same place.\n"
          "apiVersion: batch/v1\n"
          "kind: Job\n"
          "metadata: {{name: headway-sweep}}\n"
          "spec:\n"
          "  completions: {0}\n"
          "  parallelism: {0}\n"
          "  completionMode: Indexed\n"
          "  backoffLimit: {1}\n"
          "  template:\n"
          "    spec:\n"
          "      restartPolicy: Never\n"
          "      containers:\n"
          "        - name: worker\n"
          "          image: headway\n"
          "          command: [sh, -c, 'exec headway worker \"$0\" --shard "
          "\"$((JOB_COMPLETION_INDEX + 1))/{0}\" --threads 1 --quiet', {2}]\n"
          "          resources: {{requests: {{cpu: \"1\"}}}}\n"
          "          volumeMounts: [{{name: sweep, mountPath: {2}}}]\n"
          "      volumes:\n"
          "        - {{name: sweep, persistentVolumeClaim: {{claimName: headway-sweep}}}}\n",
          shards, 3 * shards, config::quoted(folder));
    case JobSystem::hq:
      return fmt::format(
          "#!/bin/sh\n"
          "exec hq submit --array=1-{0} --cpus=1 --crash-limit=5 -- sh -c 'exec headway worker "
          "\"$0\" --shard \"$HQ_TASK_ID/{0}\" --threads 1 --quiet' {1}\n",
          shards, core::shell_word(folder));
    case JobSystem::condor:
      return fmt::format(
          "universe = vanilla\n"
          "executable = /usr/bin/env\n"
          "arguments = \"headway worker {1} --shard $INT(K)/{0} --threads 1 --quiet\"\n"
          "K = $(Process) + 1\n"
          "request_cpus = 1\n"
          "error = {2}\n"
          "getenv = True\n"
          "max_retries = 3\n"
          "queue {0}\n",
          shards, condor_text(condor_word(folder)), condor_text(folder) + "/sweep-$(Process).err");
  }
  return "";
}

std::string job_command(JobSystem system, const std::string& file) {
  switch (system) {
    case JobSystem::slurm:
      return "sbatch " + core::shell_word(file);
    case JobSystem::k8s:
      return "kubectl apply -f " + core::shell_word(file);
    case JobSystem::hq:
      return "sh " + core::shell_word(file);
    case JobSystem::condor:
      return "condor_submit " + core::shell_word(file);
  }
  return "";
}

}  // namespace headway::report
