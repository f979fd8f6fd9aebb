// The one HTTP listener: for one person's browser on this machine. It knows bytes and headers, not
// what is asked.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace headway::apps {

struct Reply {
  int status = 200;
  std::string type = "application/json";
  std::string body;
};

/// What stands at one path. GET: anybody on this machine may read it. POST: needs the token.
struct Route {
  std::string path;
  bool post = false;
  /// Called by several threads.
  std::function<Reply(const std::string& body)> answer;
};

struct ListenOptions {
  std::string host = "127.0.0.1";
  int port = 0;       ///< 0: any that is free
  std::string token;  ///< which POST requests carry as "Authorization: Bearer ..."
  std::vector<Route> routes;
  std::function<void(int port)> ready;  ///< called when connections are taken
};

/// "127.0.0.1:8080", "[::1]:8080": as an URL and the header Host have it.
inline std::string authority(const std::string& host, int port) {
  const bool ip_6 = host.find(':') != std::string::npos;
  return (ip_6 ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

/// Serves until the process ends. A request is refused that is not for `host` (another name that
/// leads here: 403), that a page of another origin sends (403), that has not the token (401), whose
/// body has no length (411) or more than 16 MiB (413), and whose parts take longer than 5 s.
/// @throws core::Error if the port cannot be had
void listen(const ListenOptions& options);

/// 128 random bits in hexadecimal digits.
std::string random_token();

}  // namespace headway::apps
