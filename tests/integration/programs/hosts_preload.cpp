// A library for LD_PRELOAD: host names of a test, with the addresses and in the order that the test
// wants, without a name server. REDLOCK_TEST_HOSTS has them: "a.test=127.0.0.1,127.0.0.2 b.test=…".

#include <dlfcn.h>
#include <netdb.h>

#include <cstdlib>
#include <sstream>
#include <string>

extern "C" [[gnu::visibility("default")]] int getaddrinfo(const char* host, const char* service,
                                                          const addrinfo* wanted,
                                                          addrinfo** found) {
  using Lookup = int (*)(const char*, const char*, const addrinfo*, addrinfo**);
  static const auto system = reinterpret_cast<Lookup>(dlsym(RTLD_NEXT, "getaddrinfo"));
  const char* hosts = std::getenv("REDLOCK_TEST_HOSTS");
  std::istringstream entries(host != nullptr && hosts != nullptr ? hosts : "");
  for (std::string entry; entries >> entry;) {
    const std::size_t equals = entry.find('=');
    if (entry.substr(0, equals) != host) continue;
    std::istringstream addresses(entry.substr(equals + 1));
    // The system's lists can be joined: freeaddrinfo() frees their elements one by one.
    for (std::string address; std::getline(addresses, address, ',');) {
      const int status = system(address.c_str(), service, wanted, found);
      if (status != 0) return status;
      while (*found != nullptr) found = &(*found)->ai_next;
    }
    return 0;
  }
  return system(host, service, wanted, found);
}
