#include "uv/tls_refusal.hpp"

#include <openssl/bio.h>
#include <openssl/x509v3.h>
#include <sys/socket.h>
#include <uv.h>

#include <array>
#include <cstddef>
#include <ctime>
#include <memory>
#include <string_view>
#include <vector>

namespace redlock::uv {
namespace {

constexpr std::size_t longest_name = 128;
constexpr std::size_t most_names = 4;

struct FreeNames {
  void operator()(GENERAL_NAMES* names) const noexcept { GENERAL_NAMES_free(names); }
};
struct FreeMemory {
  void operator()(BIO* bio) const noexcept { BIO_free(bio); }
};

/// An untrusted certificate can contain any bytes, so only printable ASCII is shown.
[[nodiscard]] std::string in_quotes(std::string_view text) {
  std::string out = "'";
  for (const char letter : text.substr(0, longest_name)) {
    out += letter >= ' ' && letter <= '~' ? letter : '?';
  }
  return out + (text.size() > longest_name ? "...'" : "'");
}

[[nodiscard]] std::string text_of(const X509_NAME* name) {
  const std::unique_ptr<BIO, FreeMemory> out(BIO_new(BIO_s_mem()));
  if (!out || X509_NAME_print_ex(out.get(), name, 0, XN_FLAG_RFC2253) < 0) return "'?'";
  char* data = nullptr;
  const long size = BIO_get_mem_data(out.get(), &data);
  return in_quotes(std::string_view(data, size > 0 ? static_cast<std::size_t>(size) : 0));
}

[[nodiscard]] std::string address_of(const ASN1_OCTET_STRING* bytes) {
  const unsigned char* const data = ASN1_STRING_get0_data(bytes);
  const int family = ASN1_STRING_length(bytes) == 4 ? AF_INET : AF_INET6;
  std::array<char, 64> text{};
  if (family == AF_INET6 && ASN1_STRING_length(bytes) != 16) return "?";
  if (uv_inet_ntop(family, data, text.data(), text.size()) != 0) return "?";
  return text.data();
}

/// The names to which the certificate was issued: "'a.example', '10.0.0.1' and 3 more".
[[nodiscard]] std::string names_in(X509* certificate) {
  const std::unique_ptr<GENERAL_NAMES, FreeNames> names(static_cast<GENERAL_NAMES*>(
      X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr)));
  std::vector<std::string> found;
  for (int i = 0; names && i < sk_GENERAL_NAME_num(names.get()); ++i) {
    const GENERAL_NAME* const name = sk_GENERAL_NAME_value(names.get(), i);
    if (name->type == GEN_DNS) {
      const auto* data = reinterpret_cast<const char*>(ASN1_STRING_get0_data(name->d.dNSName));
      const auto size = static_cast<std::size_t>(ASN1_STRING_length(name->d.dNSName));
      found.push_back(in_quotes(std::string_view(data, size)));
    } else if (name->type == GEN_IPADD) {
      found.push_back(in_quotes(address_of(name->d.iPAddress)));
    }
  }
  if (found.empty()) return text_of(X509_get_subject_name(certificate));
  std::string out;
  for (std::size_t i = 0; i < found.size() && i < most_names; ++i) {
    out += (i == 0 ? "" : ", ") + found[i];
  }
  if (found.size() > most_names)
    out += " and " + std::to_string(found.size() - most_names) + " more";
  return out;
}

[[nodiscard]] std::string date_of(const ASN1_TIME* time) {
  std::tm parts{};
  std::array<char, 32> text{};
  if (ASN1_TIME_to_tm(time, &parts) != 1 ||
      std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M:%S UTC", &parts) == 0) {
    return "an unknown date";
  }
  return text.data();
}

[[nodiscard]] std::string trusted_in(const TlsFiles& files) {
  return files.ca_file.empty() ? "the system's certificate store"
                               : "the CA file '" + files.ca_file + "'";
}

}  // namespace

std::string explain_refusal(X509_STORE_CTX* verified, const TlsFiles& files,
                            const std::string& expected) {
  const int error = X509_STORE_CTX_get_error(verified);
  X509* const certificate = X509_STORE_CTX_get_current_cert(verified);
  std::string general =
      std::string("certificate verify failed: ") + X509_verify_cert_error_string(error);
  if (certificate == nullptr) return general;
  const bool of_authority = X509_STORE_CTX_get_error_depth(verified) > 0;
  const std::string which =
      of_authority ? "certificate of the authority " + text_of(X509_get_subject_name(certificate))
                   : std::string("certificate");
  switch (error) {
    case X509_V_ERR_HOSTNAME_MISMATCH:
    case X509_V_ERR_IP_ADDRESS_MISMATCH:
      return "certificate is for " + names_in(certificate) + ", expected '" + expected + "'";
    case X509_V_ERR_CERT_HAS_EXPIRED:
      return which + " expired on " + date_of(X509_get0_notAfter(certificate));
    case X509_V_ERR_CERT_NOT_YET_VALID:
      return which + " is not valid before " + date_of(X509_get0_notBefore(certificate));
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
      return "certificate " + text_of(X509_get_subject_name(certificate)) +
             " signed itself, and is not in " + trusted_in(files);
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
      return "the certificate's issuer " + text_of(X509_get_issuer_name(certificate)) +
             " is not in " + trusted_in(files);
    default:
      return general + " (" + which + ")";
  }
}

}  // namespace redlock::uv
