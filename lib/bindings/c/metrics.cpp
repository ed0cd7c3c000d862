#include "redlock/metrics.hpp"

#include "bindings/c/answers.hpp"
#include "bindings/c/boundary.hpp"

redlock_status redlock_client_prometheus(redlock_client* client, const char* const* label_names,
                                         const char* const* label_values, size_t label_count,
                                         char** text, redlock_error** error) {
  return redlock::bindings::guarded(error, [&] {
    auto*& out = redlock::bindings::required_out(text, "text");
    auto& caller = redlock::bindings::required(client, "client").client;
    const auto names = redlock::bindings::texts(label_names, label_count, "label_names");
    const auto values = redlock::bindings::texts(label_values, label_count, "label_values");
    std::vector<redlock::MetricLabel> labels;
    for (std::size_t i = 0; i < label_count; ++i) labels.push_back({names[i], values[i]});
    const std::string made = to_prometheus(redlock::bindings::unwrapped(caller.metrics()), labels);
    out = std::make_unique<char[]>(made.size() + 1).release();
    std::memcpy(out, made.c_str(), made.size() + 1);
  });
}

void redlock_text_free(char* text) { const std::unique_ptr<char[]> owned(text); }
