#include "support/certificates.hpp"

#include <stdexcept>
#include <string>
#include <vector>

#include "support/process.hpp"
#include "support/temp_dir.hpp"

namespace redlock::test {
namespace {

// A configuration of our own: the machine's default one differs between distributions.
constexpr std::string_view configuration = R"([req]
distinguished_name = name
prompt = no
[name]
CN = redlock test
[authority]
basicConstraints = critical, CA:TRUE
keyUsage = critical, keyCertSign, cRLSign
subjectKeyIdentifier = hash
[server]
basicConstraints = critical, CA:FALSE
keyUsage = critical, digitalSignature
extendedKeyUsage = serverAuth
subjectAltName = DNS:localhost, IP:127.0.0.1, IP:::1
[elsewhere]
basicConstraints = critical, CA:FALSE
keyUsage = critical, digitalSignature
extendedKeyUsage = serverAuth
subjectAltName = DNS:elsewhere.invalid
[client]
basicConstraints = critical, CA:FALSE
keyUsage = critical, digitalSignature
extendedKeyUsage = clientAuth
)";

class Workshop {
 public:
  Workshop() : config_(directory_.write("openssl.cnf", configuration)) {
    const KeyPair ca = make("ca", "authority", nullptr);
    const KeyPair other_ca = make("other-ca", "authority", nullptr);
    made_.ca = ca.certificate;
    made_.server = make("server", "server", &ca);
    made_.client = make("client", "client", &ca);
    made_.other_host_server = make("elsewhere", "elsewhere", &ca);
    made_.other_ca = other_ca.certificate;
    made_.other_ca_server = make("other-server", "server", &other_ca);
    made_.other_ca_client = make("other-client", "client", &other_ca);
  }

  [[nodiscard]] const Certificates& made() const noexcept { return made_; }

 private:
  // `issuer` is null for a certificate that signs itself.
  KeyPair make(const std::string& name, const std::string& extensions, const KeyPair* issuer) {
    KeyPair pair{directory_.path() / (name + ".crt"), directory_.path() / (name + ".key")};
    std::vector<std::string> words{"openssl",
                                   "req",
                                   "-x509",
                                   "-config",
                                   config_.native(),
                                   "-extensions",
                                   extensions,
                                   "-newkey",
                                   "ec",
                                   "-pkeyopt",
                                   "ec_paramgen_curve:prime256v1",
                                   "-nodes",
                                   "-days",
                                   "30",
                                   "-subj",
                                   "/CN=redlock test " + name,
                                   "-keyout",
                                   pair.key.native(),
                                   "-out",
                                   pair.certificate.native()};
    if (issuer != nullptr) {
      words.insert(words.end(),
                   {"-CA", issuer->certificate.native(), "-CAkey", issuer->key.native()});
    }
    const auto result = run_process(words);
    if (result.exit_code != 0) throw std::runtime_error("openssl failed: " + result.errors);
    return pair;
  }

  TempDir directory_;
  std::filesystem::path config_;
  Certificates made_;
};

}  // namespace

const Certificates& certificates() {
  static const Workshop workshop;
  return workshop.made();
}

}  // namespace redlock::test
