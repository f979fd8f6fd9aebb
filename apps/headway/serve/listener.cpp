// A library of its own, which open_listener.cpp opens.
#include "apps/headway/serve/listener.h"

#include <algorithm>
#include <fmt/format.h>
#include <httplib.h>
#include <string_view>
#include <utility>

#include "sim/core/error.h"

namespace headway::apps {

namespace {

/// A result with all its pictures is sent back to be made a report of.
constexpr std::size_t kLargestBody = std::size_t{16} << 20U;
constexpr int kPatience = 5;  ///< with a client that does not send or read [s]
/// At a time, each a thread: one that says nothing holds its own for as long as there is patience.
/// Source: chosen, more than a browser and a forgotten script open.
constexpr std::size_t kConnections = 256;
constexpr int kUnauthorized = 401, kForbidden = 403, kLengthRequired = 411, kMethodNotAllowed = 405;

/// What a browser may do with the page: nothing that leaves it, but for a frame of Perfetto's page
/// where somebody asks for it. Vega makes functions from texts.
constexpr const char* kPolicy =
    "default-src 'none'; script-src 'self' 'unsafe-eval'; style-src 'self' 'unsafe-inline'; "
    "img-src data:; connect-src 'self'; frame-src https://ui.perfetto.dev; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'";

/// Takes as long wherever the texts differ.
bool same_secret(std::string_view a, std::string_view b) {
  unsigned difference = a.size() == b.size() ? 0 : 1;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    difference |= static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(b[i]);
  }
  return difference == 0;
}

/// Decides before anything of a body is read.
class Gate {
 public:
  Gate(const std::string& host, int port, std::string token) : token_(std::move(token)) {
    for (const std::string& name : {host, std::string("127.0.0.1"), std::string("localhost")}) {
      hosts_.push_back(authority(name, port));
    }
  }

  /// Why the request is refused, with the status; an empty reason lets it in.
  [[nodiscard]] std::pair<int, std::string> refusal(const httplib::Request& request) const {
    const std::string host = request.get_header_value("Host");
    if (std::find(hosts_.begin(), hosts_.end(), host) == hosts_.end()) {
      return {kForbidden, "this address is not the one that headway serve printed"};
    }
    if (request.has_header("Origin") && request.get_header_value("Origin") != "http://" + host) {
      return {kForbidden, "a page of another site asked"};
    }
    if (request.method == "GET" || request.method == "HEAD") {
      return {0, ""};
    }
    if (request.method != "POST") {
      return {kMethodNotAllowed, "files are read by GET and HEAD, questions are asked by POST"};
    }
    if (!same_secret(request.get_header_value("Authorization"), "Bearer " + token_)) {
      return {kUnauthorized, "the token is missing or of another start of headway serve"};
    }
    if (!request.has_header("Content-Length") || request.has_header("Transfer-Encoding")) {
      return {kLengthRequired, "the request does not say how long it is"};
    }
    return {0, ""};
  }

 private:
  std::vector<std::string> hosts_;
  std::string token_;
};

void set_limits(httplib::Server& server) {
  server.new_task_queue = [] { return new httplib::ThreadPool(kConnections); };  // it owns it
  server.set_payload_max_length(kLargestBody);
  server.set_read_timeout(kPatience);
  server.set_write_timeout(kPatience);
  // The library would share the port with a server that has it already.
  server.set_socket_options([](socket_t socket) {
    const int yes = 1;
    ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  });
  // What is left of a refused request is never read as the next one, and no idle connection keeps
  // others waiting.
  server.set_keep_alive_max_count(1);
  server.set_default_headers({{"Content-Security-Policy", kPolicy},
                              {"X-Content-Type-Options", "nosniff"},
                              {"Referrer-Policy", "no-referrer"},
                              {"Cache-Control", "no-store"}});
}

/// Sent as it is: the library packs a content (the charts' script in 2.5 s of a processor), but
/// none that it is told the length of, and the browser is on this machine.
void set_unpacked(httplib::Response& response, Reply reply) {
  response.status = reply.status;
  const std::size_t length = reply.body.size();
  response.set_content_provider(
      length, reply.type,
      [body = std::move(reply.body)](std::size_t from, std::size_t count, httplib::DataSink& sink) {
        return sink.write(body.data() + from, count);
      });
}

void add_route(httplib::Server& server, const Route& route) {
  const auto handler = [answer = route.answer](const httplib::Request& request,
                                               httplib::Response& response) {
    set_unpacked(response, answer(request.body));
  };
  if (route.post) {
    server.Post(route.path, handler);
  } else {
    server.Get(route.path, handler);
  }
}

int bind(httplib::Server& server, const ListenOptions& options) {
  const int port = options.port == 0 ? server.bind_to_any_port(options.host)
                   : server.bind_to_port(options.host, options.port) ? options.port
                                                                     : -1;
  if (port < 0) {
    throw core::Error(fmt::format(
        "cannot listen at {}: the port is taken or the address is not of this machine; --port 0 "
        "takes a port that is free",
        authority(options.host, options.port)));
  }
  return port;
}

}  // namespace

extern "C" void headway_listen(const ListenOptions& options) {
  httplib::Server server;
  set_limits(server);
  const int port = bind(server, options);
  const Gate gate(options.host, port, options.token);
  server.set_pre_routing_handler([&](const auto& request, auto& response) {
    const auto [status, reason] = gate.refusal(request);
    if (reason.empty()) {
      return httplib::Server::HandlerResponse::Unhandled;
    }
    response.status = status;
    if (status == kMethodNotAllowed) {
      response.set_header("Allow", "GET, HEAD, POST");
    }
    response.set_content(reason + "\n", "text/plain");
    return httplib::Server::HandlerResponse::Handled;
  });
  for (const Route& route : options.routes) {
    add_route(server, route);
  }
  options.ready(port);
  server.listen_after_bind();
}

}  // namespace headway::apps
