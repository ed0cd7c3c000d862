#pragma once

#include <filesystem>

namespace redlock::test {

struct KeyPair {
  std::filesystem::path certificate;
  std::filesystem::path key;
};

/// The certificates and keys of a TLS test, as PEM files.
struct Certificates {
  std::filesystem::path ca;
  /// For localhost, 127.0.0.1 and ::1.
  KeyPair server;
  KeyPair client;
  /// Signed by the same CA for another name, "elsewhere.invalid".
  KeyPair other_host_server;
  /// A CA unrelated to the first, and the certificates that it signed for localhost and a client.
  std::filesystem::path other_ca;
  KeyPair other_ca_server;
  KeyPair other_ca_client;
};

/// Made with the openssl command line at the first call, removed when the process exits.
[[nodiscard]] const Certificates& certificates();

}  // namespace redlock::test
