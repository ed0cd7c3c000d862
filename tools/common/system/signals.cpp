#include "common/system/signals.hpp"

#include <poll.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <iterator>
#include <string_view>
#include <system_error>
#include <utility>

namespace redlock::cli {
namespace {

constexpr std::array taken_signals = {SIGINT,  SIGTERM,  SIGHUP,  SIGQUIT, SIGUSR1,
                                      SIGUSR2, SIGWINCH, SIGCONT, SIGTSTP};

constexpr std::pair<int, std::string_view> signal_names[] = {
    {SIGABRT, "SIGABRT"},     {SIGALRM, "SIGALRM"},   {SIGBUS, "SIGBUS"},   {SIGCHLD, "SIGCHLD"},
    {SIGCONT, "SIGCONT"},     {SIGFPE, "SIGFPE"},     {SIGHUP, "SIGHUP"},   {SIGILL, "SIGILL"},
    {SIGINT, "SIGINT"},       {SIGKILL, "SIGKILL"},   {SIGPIPE, "SIGPIPE"}, {SIGPROF, "SIGPROF"},
    {SIGQUIT, "SIGQUIT"},     {SIGSEGV, "SIGSEGV"},   {SIGSTOP, "SIGSTOP"}, {SIGSYS, "SIGSYS"},
    {SIGTERM, "SIGTERM"},     {SIGTRAP, "SIGTRAP"},   {SIGTSTP, "SIGTSTP"}, {SIGTTIN, "SIGTTIN"},
    {SIGTTOU, "SIGTTOU"},     {SIGURG, "SIGURG"},     {SIGUSR1, "SIGUSR1"}, {SIGUSR2, "SIGUSR2"},
    {SIGVTALRM, "SIGVTALRM"}, {SIGWINCH, "SIGWINCH"}, {SIGXCPU, "SIGXCPU"}, {SIGXFSZ, "SIGXFSZ"},
};

void require(int result, const char* what) {
  if (result < 0) throw std::system_error(errno, std::generic_category(), what);
}

bool is_ignored(int signal) {
  struct sigaction action {};
  require(::sigaction(signal, nullptr, &action), "sigaction");
  return action.sa_handler == SIG_IGN;
}

}  // namespace

Signals::Signals() {
  sigset_t taken;
  sigemptyset(&taken);
  sigaddset(&taken, SIGCHLD);
  for (const int signal : taken_signals) {
    // A blocked signal is queued even if it is ignored: taking it would undo nohup.
    if (!is_ignored(signal)) sigaddset(&taken, signal);
  }
  sigset_t blocked = taken;
  // Lets this process take the terminal back while it is in the background of it.
  sigaddset(&blocked, SIGTTOU);
  const int error = ::pthread_sigmask(SIG_BLOCK, &blocked, &original_.mask);
  if (error != 0) throw std::system_error(error, std::generic_category(), "pthread_sigmask");

  struct sigaction action {};
  action.sa_handler = SIG_IGN;
  require(::sigaction(SIGPIPE, &action, &original_.pipe), "sigaction");
  // Inherited as ignored, children would be reaped behind our back.
  action.sa_handler = SIG_DFL;
  require(::sigaction(SIGCHLD, &action, &original_.child), "sigaction");

  queue_.emplace(taken);
}

bool ends_process(int signal) noexcept {
  return signal == SIGINT || signal == SIGTERM || signal == SIGHUP || signal == SIGQUIT ||
         signal == SIGUSR1 || signal == SIGUSR2;
}

std::string name_of_signal(int signal) {
  const auto* const found = std::find_if(std::begin(signal_names), std::end(signal_names),
                                         [signal](const auto& one) { return one.first == signal; });
  if (found == std::end(signal_names)) return "signal " + std::to_string(signal);
  return std::string(found->second);
}

SignalWatcher::SignalWatcher(const Signals& signals, std::function<void(int)> on_end)
    : signals_(signals), on_end_(std::move(on_end)) {
  thread_ = std::thread([this] { watch(); });
}

SignalWatcher::~SignalWatcher() { static_cast<void>(finish()); }

int SignalWatcher::finish() {
  if (thread_.joinable()) {
    finish_.notify();
    thread_.join();
  }
  return seen_;
}

void SignalWatcher::watch() {
  std::array<pollfd, 2> watched = {pollfd{signals_.fd(), POLLIN, 0},
                                   pollfd{finish_.fd(), POLLIN, 0}};
  for (;;) {
    if (::poll(watched.data(), watched.size(), -1) < 0) {
      if (errno == EINTR) continue;
      return;
    }
    if (watched[1].revents != 0) return;
    const auto signal = signals_.take();
    if (!signal) continue;
    if (*signal == SIGTSTP) static_cast<void>(::kill(::getpid(), SIGSTOP));
    if (ends_process(*signal)) {
      seen_ = *signal;
      on_end_(*signal);
      return;
    }
  }
}

}  // namespace redlock::cli
