// Thousands of locks from one thread, on a loop that the application runs.

#include <uv.h>

#include <iostream>
#include <string>
#include <utility>

#include "nodes.hpp"
#include "redlock/redlock.hpp"

int main(int argc, char** argv) {
  const example::Nodes nodes(argc, argv);
  uv_loop_t loop;
  if (uv_loop_init(&loop) != 0) return 1;

  redlock::ClientOptions options;
  options.nodes = nodes.urls();
  auto client = redlock::AsyncClient::create(options, &loop);
  if (!client) {
    std::cerr << client.error().message << '\n';
    return 2;
  }

  constexpr int locks = 1000;
  int done = 0;
  for (int i = 0; i < locks; ++i) {
    client->acquire("item/" + std::to_string(i), {}, [&](redlock::Result<redlock::Lease> granted) {
      if (!granted) {
        std::cerr << granted.error().message << '\n';
        return;
      }
      client->release(*std::move(granted), [&](redlock::Result<redlock::Round> released) {
        if (released && ++done == locks) client->close([](const redlock::CloseReport&) {});
      });
    });
  }
  uv_run(&loop, UV_RUN_DEFAULT);  // until the client is closed and has nothing left on the loop

  std::cout << done << " locks\n";
  return uv_loop_close(&loop) == 0 && done == locks ? 0 : 3;
}
