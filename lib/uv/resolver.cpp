#include "uv/resolver.hpp"

#include <netdb.h>

#include <cstring>
#include <memory>
#include <utility>

namespace redlock::uv {
namespace {

struct FreeAddrinfo {
  void operator()(addrinfo* list) const noexcept { uv_freeaddrinfo(list); }
};

Addresses copy_addresses(const addrinfo* found) {
  Addresses addresses;
  for (; found != nullptr; found = found->ai_next) {
    sockaddr_storage storage{};
    if (found->ai_addrlen > sizeof storage) continue;
    std::memcpy(&storage, found->ai_addr, found->ai_addrlen);
    addresses.emplace_back(storage);
  }
  return addresses;
}

}  // namespace

Resolver::~Resolver() {
  if (request_ == nullptr) return;
  request_->data = nullptr;
  // EBUSY: a worker thread is at it already. on_done runs in either case and frees the request.
  static_cast<void>(uv_cancel(reinterpret_cast<uv_req_t*>(request_)));
}

int Resolver::start(uv_loop_t* loop, const std::string& host, std::uint16_t port) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV;
  auto request = std::make_unique<uv_getaddrinfo_t>();
  request->data = this;
  const int status = uv_getaddrinfo(loop, request.get(), on_done, host.c_str(),
                                    std::to_string(port).c_str(), &hints);
  if (status == 0) request_ = request.release();
  return status;
}

void Resolver::on_done(uv_getaddrinfo_t* request, int status, addrinfo* found) noexcept {
  const std::unique_ptr<uv_getaddrinfo_t> reclaimed(request);
  const std::unique_ptr<addrinfo, FreeAddrinfo> list(found);
  auto* self = static_cast<Resolver*>(request->data);
  if (self == nullptr) return;
  self->request_ = nullptr;
  self->listener_->on_resolved(status, status == 0 ? copy_addresses(found) : Addresses());
}

}  // namespace redlock::uv
