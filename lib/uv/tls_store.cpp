#include "uv/tls_store.hpp"

#include <uv.h>

namespace redlock::uv {
namespace {

[[nodiscard]] TlsStore::Stamp stamp_of(const std::string& file) {
  TlsStore::Stamp stamp;
  if (file.empty()) return stamp;
  uv_fs_t request;
  // Without a callback it needs no loop, and returns when it is done.
  if (uv_fs_stat(nullptr, &request, file.c_str(), nullptr) == 0) {
    const uv_stat_t& status = request.statbuf;
    stamp = {status.st_dev, status.st_ino, status.st_size, status.st_mtim.tv_sec,
             status.st_mtim.tv_nsec};
  }
  uv_fs_req_cleanup(&request);
  return stamp;
}

[[nodiscard]] TlsStore::Stamps stamps_of(const TlsFiles& files) {
  return {stamp_of(files.ca_file), stamp_of(files.cert_file), stamp_of(files.key_file)};
}

}  // namespace

TlsStore::Result TlsStore::create(const TlsFiles& files) {
  // Taken before the files are read, so that a change meanwhile is seen next time.
  const Stamps stamps = stamps_of(files);
  auto context = TlsContext::create(files);
  if (auto* why = std::get_if<std::string>(&context)) return std::move(*why);
  return std::make_shared<TlsStore>(Key{}, files, stamps, std::get<0>(std::move(context)));
}

std::shared_ptr<const TlsContext> TlsStore::current() {
  const Stamps stamps = stamps_of(files_);
  if (stamps == stamps_) {
    problem_.clear();
    return context_;
  }
  auto context = TlsContext::create(files_);
  if (auto* why = std::get_if<std::string>(&context)) {
    if (problem_ != *why) {
      warning_ = "the TLS files have changed, and the former ones stay in use: " + *why;
    }
    problem_ = std::move(*why);
    return context_;
  }
  context_ = std::get<0>(std::move(context));
  stamps_ = stamps;
  problem_.clear();
  return context_;
}

}  // namespace redlock::uv
