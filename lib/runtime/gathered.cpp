#include "runtime/gathered.hpp"

#include <cstddef>
#include <cstdint>

#include "redis/requests/row.hpp"

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

void Gathered::add_to_call(const core::Request& request) {
  const redis::SharedForm& form = *redis::row_of(request.stamp.verb).shared;
  if (fenced_sets_.size() > 0 || !shared_.fits(form, request.terms)) close_call();
  shared_.add(form, request.terms);
  in_call_.push_back({request.stamp});
}

void Gathered::add_fenced_set(std::string_view set, const core::Request& request,
                              redis::Dialect dialect) {
  if (!shared_.empty() || fenced_sets_.full()) close_call();
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
  if (!shared_.empty()) {
    close_shared_call();
  } else {
    close_fenced_sets();
  }
  in_call_.clear();
}

void Gathered::close_shared_call() {
  const core::Verb verb = in_call_.front().stamp.verb;
  core::NodeSet in_full;
  for_.each([&](NodeIndex node) {
    const bool ready = nodes_[node]->ready();
    if (ready && nodes_[node]->connection().form_of_call(verb) == core::ScriptForm::text) {
      in_full.add(node);
    }
  });
  if (in_full.empty()) {
    bytes_.append(shared_.encode(core::ScriptForm::digest));
    requests_.insert(requests_.end(), in_call_.begin(), in_call_.end());
  } else {
    hand_over();
    for_.each([&](NodeIndex node) {
      if (!nodes_[node]->ready()) return;
      redis::Connection& connection = nodes_[node]->connection();
      connection.send(shared_.encode(connection.form_of_call(verb)), in_call_);
    });
  }
  shared_.clear();
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
    // The node may have gone down since.
    if (nodes_[node]->ready()) nodes_[node]->connection().send(bytes_, requests_, yes);
  });
  bytes_.clear();
  requests_.clear();
}

}  // namespace redlock::runtime
