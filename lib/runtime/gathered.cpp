#include "runtime/gathered.hpp"

#include <cstddef>
#include <cstdint>

namespace redlock::runtime {

using core::NodeIndex;

void Gathered::begin(core::NodeSet nodes, core::Duration reserved_for) {
  if (nodes == for_) return;
  send(reserved_for);
  for_ = nodes;
}

void Gathered::add(std::string_view encoded, const core::Stamp& stamp,
                   core::Duration reserved_for) {
  close_call(reserved_for);
  bytes_.append(encoded);
  requests_.push_back({stamp});
}

void Gathered::add_release(std::string_view resource, std::string_view token,
                           const core::Stamp& stamp, core::Duration reserved_for) {
  if (releases_.full()) close_call(reserved_for);
  releases_.add(resource, token);
  of_releases_.push_back({stamp});
}

void Gathered::send(core::Duration reserved_for) {
  close_call(reserved_for);
  hand_over();
}

void Gathered::close_call(core::Duration reserved_for) {
  if (of_releases_.empty()) return;
  for (redis::Sent& release : of_releases_) {
    release.releases = static_cast<std::uint8_t>(of_releases_.size());
  }
  core::NodeSet in_full;
  for_.each([&](NodeIndex node) {
    const bool ready = nodes_[node]->ready();
    if (ready && nodes_[node]->connection().releases_form() == core::ScriptForm::text) {
      in_full.add(node);
    }
  });
  if (in_full.empty()) {
    bytes_.append(releases_.encode(core::ScriptForm::digest, reserved_for));
    requests_.insert(requests_.end(), of_releases_.begin(), of_releases_.end());
  } else {
    hand_over();
    for_.each([&](NodeIndex node) {
      if (!nodes_[node]->ready()) return;
      redis::Connection& connection = nodes_[node]->connection();
      const core::ScriptForm form = connection.releases_form();
      connection.send(releases_.encode(form, reserved_for), of_releases_);
    });
  }
  releases_.clear();
  of_releases_.clear();
}

void Gathered::hand_over() {
  if (requests_.empty()) return;
  for_.each([&](NodeIndex node) {
    // It may have gone since.
    if (nodes_[node]->ready()) nodes_[node]->connection().send(bytes_, requests_);
  });
  bytes_.clear();
  requests_.clear();
}

}  // namespace redlock::runtime
