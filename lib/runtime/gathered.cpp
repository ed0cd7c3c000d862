#include "runtime/gathered.hpp"

#include <cstddef>
#include <cstdint>

namespace redlock::runtime {

using core::NodeIndex;

void Gathered::begin(core::NodeSet nodes) {
  if (nodes == for_) return;
  send();
  for_ = nodes;
}

void Gathered::add(std::string_view encoded, const core::Stamp& stamp) {
  close_call();
  bytes_.append(encoded);
  requests_.push_back({stamp});
}

void Gathered::add_release(const core::Request& request) {
  const core::Terms& terms = request.terms;
  const bool differs = releases_.size() > 0 && terms.reserved_for != reserved_for_;
  if (fenced_sets_.size() > 0 || releases_.full() || differs) close_call();
  reserved_for_ = terms.reserved_for;
  releases_.add(terms.resource, terms.token);
  in_call_.push_back({request.stamp});
}

void Gathered::add_fenced_set(std::string_view set, const core::Request& request,
                              redis::Dialect dialect) {
  if (releases_.size() > 0 || fenced_sets_.full()) close_call();
  const core::Terms& terms = request.terms;
  fenced_sets_.add(set, terms.resource, terms.token,
                   static_cast<std::int64_t>(terms.fencing_number));
  in_call_.push_back({request.stamp});
  dialect_ = dialect;
}

void Gathered::send() {
  close_call();
  hand_over();
}

void Gathered::close_call() {
  if (in_call_.empty()) return;
  for (redis::Sent& request : in_call_) {
    request.together = static_cast<std::uint8_t>(in_call_.size());
  }
  if (releases_.size() > 0) {
    close_releases();
  } else {
    close_fenced_sets();
  }
  in_call_.clear();
}

void Gathered::close_releases() {
  core::NodeSet in_full;
  for_.each([&](NodeIndex node) {
    const bool ready = nodes_[node]->ready();
    if (ready && nodes_[node]->connection().releases_form() == core::ScriptForm::text) {
      in_full.add(node);
    }
  });
  if (in_full.empty()) {
    bytes_.append(releases_.encode(core::ScriptForm::digest, reserved_for_));
    requests_.insert(requests_.end(), in_call_.begin(), in_call_.end());
  } else {
    hand_over();
    for_.each([&](NodeIndex node) {
      if (!nodes_[node]->ready()) return;
      redis::Connection& connection = nodes_[node]->connection();
      const core::ScriptForm form = connection.releases_form();
      connection.send(releases_.encode(form, reserved_for_), in_call_);
    });
  }
  releases_.clear();
}

void Gathered::close_fenced_sets() {
  hand_over();
  fenced_sets_.encode(bytes_);
  requests_.assign(in_call_.begin(), in_call_.end());
  yes_.clear();
  fenced_sets_.encode_yes(yes_, redis::yes_to_set(dialect_, redis::Protocol::resp3));
  hand_over(yes_);
  fenced_sets_.clear();
}

void Gathered::hand_over(std::string_view yes) {
  if (requests_.empty()) return;
  for_.each([&](NodeIndex node) {
    // It may have gone since.
    if (nodes_[node]->ready()) nodes_[node]->connection().send(bytes_, requests_, yes);
  });
  bytes_.clear();
  requests_.clear();
}

}  // namespace redlock::runtime
