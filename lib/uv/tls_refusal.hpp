#pragma once

#include <openssl/x509.h>

#include <string>

#include "uv/tls_context.hpp"

namespace redlock::uv {

/// Why the peer's certificate was refused, in one line: which check failed, and what was expected.
/// For the callback of a verification, while `verified` has the certificate at fault.
[[nodiscard]] std::string explain_refusal(X509_STORE_CTX* verified, const TlsFiles& files,
                                          const std::string& expected);

}  // namespace redlock::uv
