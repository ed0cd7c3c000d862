#include <redlock/deployment.hpp>
#include <redlock/redlock.hpp>

#include <chrono>
#include <iostream>
#include <string>

// Opens the nodes given as arguments as a deployment, unless they are one; takes a lock, checks
// that nobody else can have it, and releases it.
int main(int argc, char** argv) {
  if (redlock::library_version() != redlock::version) {
    std::cerr << "compiled with " << redlock::version << ", runs with "
              << redlock::library_version() << '\n';
    return 1;
  }

  redlock::ClientOptions options;
  options.nodes.assign(argv + 1, argv + argc);
  if (const auto opened = redlock::admin::bootstrap(options); !opened) {
    std::cerr << "bootstrap: " << opened.error().message << '\n';
    return 1;
  }
  auto client = redlock::Client::create(options);
  if (!client) {
    std::cerr << "create: " << client.error().message << '\n';
    return 1;
  }

  auto granted = client->acquire("consumer", {.ttl = std::chrono::seconds{10}});
  if (!granted) {
    std::cerr << "acquire: " << granted.error().message << '\n';
    return 1;
  }
  if (!granted->valid()) {
    std::cerr << "acquire: the lease is not valid\n";
    return 1;
  }

  auto second = client->try_acquire("consumer");
  if (second || second.error().code != redlock::Errc::held) {
    std::cerr << "try_acquire: expected held\n";
    return 1;
  }

  auto released = granted->release();
  if (!released) {
    std::cerr << "release: " << released.error().message << '\n';
    return 1;
  }
  std::cout << "acquired, refused to a second, released\n";
  return 0;
}
