// Standard streams, signals and files as hostile callers leave them.
#include <csignal>
#include <gmock/gmock.h>

#include "tests/apps/program.h"

namespace headway::apps {
namespace {

using testing::HasSubstr;

class Streams : public ProgramTest {
 protected:
  /// Exit code of a line of bash in which $P is the program; what it prints on stderr goes to
  /// `err`.
  [[nodiscard]] int shell(const std::string& line) const {
    const std::string command = "cd '" + folder_.string() +
                                "' && P='" HEADWAY_PROGRAM "' bash -c '" + line + "' >.out 2>err";
    const int status = std::system(command.c_str());
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
};

TEST_F(Streams, StandardErrorThatCannotBeWrittenKeepsTheExitCode) {
  write_small("s.yaml");
  EXPECT_EQ(shell("$P run nope.yaml 2>/dev/full"), 2);
  EXPECT_EQ(shell("$P run nope.yaml 2>&-"), 2);
  EXPECT_EQ(shell("$P rnu 2>/dev/full"), 2);
  EXPECT_EQ(shell("$P run s.yaml --progress plain --out r.json 2>/dev/full"), 0);
  EXPECT_TRUE(exists("r.json"));
  EXPECT_EQ(shell("$P run s.yaml --out closed.json 2>&-"), 0);
  // A remark must not land in the result because it got the number of standard error.
  EXPECT_EQ(read("closed.json").front(), '{');
  EXPECT_EQ(read("closed.json").find("wrote"), std::string::npos);
}

TEST_F(Streams, AReaderThatHasHadEnoughIsNoError) {
  EXPECT_EQ(shell("set -o pipefail; $P schema | head -c 1 | cat"), 0);
  EXPECT_EQ(read("err"), "");
}

TEST_F(Streams, StandardOutputThatTakesNothingIsCodeOne) {
  EXPECT_EQ(shell("$P --help >/dev/full"), 1);
  EXPECT_EQ(shell("$P schema >/dev/full"), 1);
  EXPECT_EQ(read("err"),
            "headway: the result could not be written to standard output: No space left on "
            "device\n");
  EXPECT_EQ(shell("$P schema >&-"), 1);
}

TEST_F(Streams, AJobStartedWithInterruptsIgnoredRunsToItsEnd) {
  write_small("s.yaml");
  // The pipe without a writer holds the program until the signal has been sent.
  EXPECT_EQ(shell("mkfifo f; trap \"\" INT; $P check f & pid=$!; exec 3>f; kill -INT $pid; "
                  "cat s.yaml >&3; exec 3>&-; wait $pid"),
            0)
      << read("err");
}

TEST_F(Streams, AnInterruptEndsWithItsCode) {
  // A shell ignores interrupts for what it starts in the background, unless it manages jobs;
  // whoever starts these tests in the background makes that last.
  EXPECT_EQ(shell("set -m; mkfifo f; env --default-signal=INT \"$P\" check f & pid=$!; exec 3>f; "
                  "kill -INT $pid; wait $pid"),
            130);
}

TEST_F(Streams, FilesThatAreNoFilesAreNamed) {
  const std::string long_name(300, 'x');
  EXPECT_EQ(run("check ''").code, 2);
  EXPECT_THAT(
      run("check ''").err,
      HasSubstr("the name of the file is empty; is a variable of the shell unset? Name a file"));
  EXPECT_THAT(
      run("topo ''").err,
      HasSubstr("the name of the file is empty; is a variable of the shell unset? Name a file"));
  EXPECT_EQ(run("topo " + long_name).code, 2);
  EXPECT_THAT(run("check " + long_name).err, HasSubstr("File name too long"));
  EXPECT_EQ(shell("ln -s loop loop; $P topo ./loop"), 2);
  EXPECT_THAT(read("err"), HasSubstr("Too many levels of symbolic links"));
  EXPECT_EQ(run("doctor", "HEADWAY_CONFIGS=" + long_name).code, 2);
  EXPECT_THAT(run("doctor", "HEADWAY_CONFIGS=./loop").err,
              HasSubstr("which is no folder: Too many levels of symbolic links"));
  EXPECT_EQ(shell("mkdir gone; cd gone; rmdir ../gone; $P check x.yaml"), 2);
  EXPECT_THAT(read("err"), HasSubstr("x.yaml: there is no such file"));
  EXPECT_EQ(shell("mkdir gone; cd gone; rmdir ../gone; $P schema --out x.json"), 2);
}

TEST_F(Streams, OutNeverReplacesWhatItWasNotToldTo) {
  EXPECT_EQ(shell("ln -s nowhere link; $P schema --out link --force"), 2);
  EXPECT_THAT(read("err"), HasSubstr("it is a link that leads nowhere"));
  EXPECT_EQ(shell("ln -s loop loop; $P schema --out loop --force"), 2);
  EXPECT_EQ(run("schema --out " + std::string(300, 'x')).code, 2);
  EXPECT_THAT(run("schema --out " + std::string(300, 'x')).err, HasSubstr("File name too long"));
  // A name of the full 255 bytes is a name like any other.
  EXPECT_EQ(run("schema --out " + std::string(255, 'x')).code, 0);
  // What another program wrote while this one worked stays: the pipe holds this one until then.
  write_small("s.yaml");
  EXPECT_EQ(shell("mkfifo f; $P run f --out r.json & pid=$!; exec 3>f; echo precious >r.json; "
                  "cat s.yaml >&3; exec 3>&-; wait $pid"),
            2);
  EXPECT_EQ(read("r.json"), "precious\n");
}

TEST_F(Streams, AResultDoesNotReplaceWhatIsRead) {
  write_small("s.yaml");
  const std::string before = read("s.yaml");
  for (const char* words :
       {"run s.yaml --out ./s.yaml --force", "compare s.yaml s.yaml --out s.yaml --force",
        "run s.yaml --report s.yaml --force"}) {
    const auto outcome = run(words);
    EXPECT_EQ(outcome.code, 2) << words;
    EXPECT_THAT(outcome.err, HasSubstr("s.yaml': it is what is read here; name another file"))
        << words;
  }
  EXPECT_EQ(read("s.yaml"), before);
}

TEST_F(Streams, TwoResultsDoNotGoToOneFile) {
  const auto outcome = run("topo rail-optimized-ndr --nodes 4 --dot ./f --graphml f");
  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("two results would go to this one file"));
  EXPECT_FALSE(exists("f"));
}

TEST_F(Streams, OptionsRefuseWhatIsNoNumber) {
  write_small("s.yaml");
  EXPECT_EQ(run("drill s.yaml --fault hang --hours nan").code, 2);
  EXPECT_EQ(run("collective all_reduce --cluster dgx-h100 -f nan").err,
            "headway collective: -f: 'nan' must be a number between 1.01 and 1000000\n");
  EXPECT_EQ(run("run s.yaml --trials 0").err,
            "headway run: --trials: '0' must be a whole number from 1 to 1,000,000\n");
}

TEST_F(Streams, AnEmptyNameOfATableIsNoTableOfOurOwn) {
  EXPECT_EQ(run("validate --goodput ''").err,
            "headway validate: --goodput: the name of the file is empty; is a variable of the "
            "shell unset? Name a file\n");
}

TEST_F(Streams, NamesCannotCommandTheTerminal) {
  write_small("s.yaml");
  const auto outcome = run("run s.yaml --set 'name=\"\\e[31mred\"'");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.out.find('\x1b'), std::string::npos);
  EXPECT_THAT(outcome.out, HasSubstr("\\x1b[31mred"));
  EXPECT_EQ(run("check '\x1b[31m.yaml'").err.find('\x1b'), std::string::npos);
}

TEST_F(Streams, AnImportedEntryPassesCheckWhateverTheNames) {
  write("t.conf", "SwitchName=s Nodes=n[1-8]\n");
  EXPECT_EQ(run("import slurm-topology t.conf --name '\xff'").err,
            "headway import: --name: '\\xff' is not valid UTF-8\n");
  write("\xff\x1b.conf", "SwitchName=s Nodes=n[1-8]\n");
  EXPECT_EQ(run("import slurm-topology '\xff\x1b.conf' --out f.yaml").code, 0);
  const auto check = run("check f.yaml");
  EXPECT_EQ(check.code, 0) << check.err;
}

TEST_F(Streams, AFileThatIsNoConfigurationIsNotShown) {
  write_small("s.yaml");
  write("secret", "root:x:0:0\n");
  for (const std::string key : {"model.use", "model.huggingface", "cluster.node.use"}) {
    const auto outcome = run("run s.yaml --set " + key + "=./secret");
    EXPECT_EQ(outcome.code, 2);
    EXPECT_EQ(outcome.err.find("root:x"), std::string::npos) << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr("'./secret' does not end in .")) << outcome.err;
  }
}

}  // namespace
}  // namespace headway::apps
