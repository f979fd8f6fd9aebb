// headway serve: a page on this machine that predicts while somebody changes a scenario.
#include <chrono>
#include <filesystem>
#include <fmt/format.h>
#include <functional>
#include <iostream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "sim/core/error.h"
#include "sim/core/read_file.h"
#include "sim/report/served/served_page.h"

#include "apps/headway/options.h"
#include "apps/headway/output.h"
#include "apps/headway/report_file.h"
#include "apps/headway/serve/answers.h"
#include "apps/headway/serve/listener.h"
#include "apps/headway/serve/worker.h"
#include "apps/headway/verb.h"

namespace headway::apps {

namespace {

using report::Json;

constexpr int kDefaultPort = 8421;
constexpr double kLargestPort = 65535;
/// Of a question that was answered, be it with what is wrong with it or that a newer one took its
/// place: both happen while somebody types, and browsers log other codes as errors.
constexpr int kAnswered = 200;
constexpr int kBusy = 503, kLate = 504, kBroken = 500;
/// The scenario of whoever names none.
constexpr const char* kExample = "scenarios/small-llama-8b-64-h100.yaml";

struct ServeArguments {
  CommonOptions common;
  std::string scenario;
  std::string host = "127.0.0.1";
  int port = kDefaultPort;
  int limit = 600;  ///< of one simulation [s]
  int workers = 2;
  bool answer = false;
};

std::string example() {
  for (const auto& root : config_roots()) {
    if (std::filesystem::exists(root / kExample)) {
      return (root / kExample).string();
    }
  }
  throw core::Error("this installation has no example; name a scenario: headway serve s.yaml");
}

Served served(const ServeArguments& given) {
  const std::string file = given.scenario.empty() ? example() : given.scenario;
  return {core::read_file(file, core::kLargestConfiguration), file, given.common.set,
          given.common.threads};
}

Reply refused(int status, const std::string& why) {
  const Json error = {{"field", ""}, {"message", why}, {"place", ""}};
  return {status, "application/json", Json{{"errors", Json::array({error})}}.dump()};
}

Reply replaced() {
  Json answer = Json::parse(refused(kAnswered, "a newer question took its place").body);
  answer["replaced"] = true;
  return {kAnswered, "application/json", answer.dump()};
}

/// Answers a question; what is wrong with it is said at its field.
template <class Answer>
std::function<Reply(const std::string&)> asking(const Served& served, Answer answer) {
  return [&served, answer](const std::string& body) -> Reply {
    Json question;
    try {
      question = read_question(body);
      return answer(question);
    } catch (const core::Error& error) {
      return {kAnswered, "application/json", errors_answer(served, question, error)};
    } catch (const std::exception& error) {
      return refused(kBroken, fmt::format("internal error: {}", error.what()));
    }
  };
}

/// Who asks: questions of one page and verb replace one another.
std::string slot_of(const Json& question) {
  return question.value("page", "") + " " + question.value("verb", "");
}

/// Of the scenario that is served, where a question brings none.
void add_text(const Served& served, Json& question) {
  if (!question.contains("text")) {
    question["text"] = served.text;
  }
}

Reply simulated(const Served& served,
                const ServeArguments& given,
                Workers& workers,
                Json question) {
  const std::string slot = slot_of(question);
  add_text(served, question);
  if (question.contains("pinned")) {
    add_text(served, question["pinned"]);
  }
  question["file"] = served.file.string();
  question["threads"] = std::to_string(served.threads);
  const Worked worked = workers.run(slot, question.dump());
  switch (worked.end) {
    case Worked::End::answered:
      return {kAnswered, "application/json", worked.text};
    case Worked::End::replaced:
      return replaced();
    case Worked::End::late:
      return refused(kLate, fmt::format("it took more than {} s (--limit)", given.limit));
    case Worked::End::busy:
      return refused(kBusy, "other simulations are running; wait or stop one");
    case Worked::End::failed:
      break;
  }
  return refused(kBroken, "the simulation ended without an answer; the terminal says why");
}

/// The files of the page, which hold nothing of the scenario.
std::vector<Route> page_routes() {
  std::vector<Route> routes;
  for (const auto& file : report::served_files(chart_library(ChartLibrary::script))) {
    routes.push_back({file.path, false, [type = file.type, text = file.text](const auto& /*body*/) {
                        return Reply{kAnswered, type, text};
                      }});
  }
  return routes;
}

Reply json(std::string body) { return {200, "application/json", std::move(body)}; }

std::vector<Route> routes(const Served& served, const ServeArguments& given, Workers& workers) {
  auto all = page_routes();
  const auto add = [&](const char* path, auto answer) {
    all.push_back({path, true, asking(served, answer)});
  };
  add("/api/start", [&served](const Json& /*question*/) { return json(start_answer(served)); });
  add("/api/estimate", [&served](const Json& q) { return json(estimate_answer(served, q)); });
  add("/api/text", [&served](const Json& q) { return json(text_answer(served, q)); });
  add("/api/report", [](const Json& q) {
    return Reply{200, "text/html; charset=utf-8", report_answer(q)};
  });
  add("/api/trace", [](const Json& q) {
    return Reply{200, "application/octet-stream", trace_answer(q)};
  });
  add("/api/simulate", [&](const Json& q) { return simulated(served, given, workers, q); });
  add("/api/stop", [&workers](const Json& q) {
    workers.stop(slot_of(q));
    return json("{}");
  });
  return all;
}

/// The process of one simulation: the question on standard input, the answer on standard output.
int answer_one() {
  const std::string text{std::istreambuf_iterator<char>(std::cin), {}};
  const Json question = read_question(text);
  Served served;
  served.file = question.value("file", "");
  served.threads = std::stoi(question.value("threads", "0"));
  try {
    print_result(simulated_answer(served, question));
    return 0;
  } catch (const core::Error& error) {
    print_result(errors_answer(served, question, error));
    return kUsage;
  }
}

void add_options(CLI::App& app, ServeArguments& given) {
  describe(app, "serve",
           "  headway serve configs/scenarios/llama-3.1-405b-16k-h100.yaml\n"
           "  headway serve s.yaml --port 0 --limit 60");
  app.add_option("SCENARIO", given.scenario, "Scenario to start from [an example]")
      ->transform(scenario_name())
      ->option_text(" ");
  app.add_option("--port", given.port, "Where to listen; 0: any that is free")
      ->transform(whole_number(0, kLargestPort))
      ->option_text(fmt::format("N [{}]", kDefaultPort));
  app.add_option("--host", given.host, "Address of this machine to listen at")
      ->check(file_name())
      ->option_text("ADDRESS [127.0.0.1]");
  app.add_option("--limit", given.limit, "Longest time of one simulation, in seconds")
      ->transform(whole_number(1, 86400))
      ->option_text("N [600]");
  app.add_option("--simulations", given.workers, "Simulations at a time; further ones are refused")
      ->transform(whole_number(1, 64))
      ->option_text("N [2]");
  app.add_option("--set", given.common.set, "Change a value, as cluster.nodes=64; may be repeated")
      ->allow_extra_args(false)
      ->option_text("PATH=VALUE");
  app.add_option("--threads", given.common.threads, "Threads of a simulation; 0: all cores")
      ->transform(whole_number(0, 4096))
      ->option_text("N [0]");
  app.add_flag("--answer", given.answer, "Answers one question from standard input")->group("");
}

}  // namespace

int run_serve(int argc, char** argv) {
  CLI::App app(
      "Serves a page to this machine's browser: a form of the scenario that predicts at every "
      "change, compares, plans and drills. Nothing leaves the machine, nothing is written. Ctrl-C "
      "ends it. docs/serve.md.");
  ServeArguments given;
  add_options(app, given);
  if (const auto code = parse(app, argc, argv, &given.common)) {
    return *code;
  }
  if (given.answer) {
    return answer_one();
  }
  const Served what = served(given);
  Workers workers(given.workers, std::chrono::seconds(given.limit));
  ListenOptions how;
  how.host = given.host;
  how.port = given.port;
  how.token = random_token();
  how.routes = routes(what, given, workers);
  how.ready = [&how](int port) {
    print_result(fmt::format("Open this page; Ctrl-C ends it:\n  http://{}/#token={}\n",
                             authority(how.host, port), how.token));
  };
  listen(how);
  return 0;
}

}  // namespace headway::apps
