#include "common/servers/private_server.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <fstream>
#include <stdexcept>
#include <thread>
#include <variant>

#include "common/system/child_process.hpp"
#include "common/system/descriptor.hpp"

namespace redlock::cli {
namespace {

constexpr auto start_limit = std::chrono::seconds{10};

/// As a word in the server's configuration file.
std::string as_configuration_word(std::string_view text) {
  std::string word = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') word += '\\';
    word += c;
  }
  return word + '"';
}

/// Only its owner can read the file, from the moment when it is there.
void write_private_file(const std::string& path, const std::string& content) {
  const Descriptor file(
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, S_IRUSR | S_IWUSR));
  if (!file.valid() ||
      ::write(file.get(), content.data(), content.size()) != static_cast<ssize_t>(content.size())) {
    const std::string problem = std::strerror(errno);
    throw std::runtime_error(path + " cannot be written: " + problem);
  }
}

}  // namespace

std::string find_server() {
  for (const char* const name : {"redis-server", "valkey-server"}) {
    const FoundProgram server = find_program(name);
    if (server.problem == 0) return server.path;
  }
  return {};
}

std::string PrivateServer::file(std::string_view ending) const {
  return directory + '/' + std::to_string(number) + '.' + std::string(ending);
}

void PrivateServer::launch(const ChildSignals& signals) {
  std::string configuration =
      address.path.empty()
          ? "port " + std::to_string(address.port) + "\nbind 127.0.0.1\nrequirepass " +
                address.password + '\n'
          : "port 0\nunixsocket " + as_configuration_word(address.path) + "\nunixsocketperm 700\n";
  if (!is_sentinel) configuration += "save \"\"\nappendonly no\n";
  configuration += settings + "daemonize no\ndir " + as_configuration_word(directory) +
                   "\nlogfile " + as_configuration_word(file("log")) + '\n';
  write_private_file(file("conf"), configuration);

  ChildRequest request;
  request.program = program;
  request.arguments = {program.substr(program.rfind('/') + 1), file("conf")};
  if (is_sentinel) request.arguments.emplace_back("--sentinel");
  request.environment = environment_of_helper();
  request.streams = ChildRequest::Streams::none;
  const auto started = ChildProcess::start(request, signals);
  if (const int* error = std::get_if<int>(&started)) {
    throw std::runtime_error(program + " cannot be started: " + std::strerror(*error));
  }
  pid = std::get<ChildProcess>(started).pid();
}

bool PrivateServer::wait_until_ready() const {
  const auto deadline = std::chrono::steady_clock::now() + start_limit;
  while (!has_ended(pid)) {
    if (answers_as(address, pid)) return true;
    if (std::chrono::steady_clock::now() > deadline) {
      throw std::runtime_error("redis-server does not answer: " + last_log_line());
    }
    std::this_thread::sleep_for(std::chrono::milliseconds{2});
  }
  return false;
}

std::string PrivateServer::last_log_line() const {
  std::ifstream log(file("log"));
  std::string last = "it left no log";
  for (std::string line; std::getline(log, line);) {
    if (!line.empty()) last = line;
  }
  return last;
}

void PrivateServer::end() noexcept {
  kill_and_reap(pid);
  pid = -1;
}

}  // namespace redlock::cli
