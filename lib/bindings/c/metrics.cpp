#include "redlock/metrics.hpp"

#include "bindings/c/answers.hpp"
#include "bindings/c/boundary.hpp"

namespace {

using Labels = std::vector<redlock::MetricLabel>;

Labels labels_from(const char* const* names, const char* const* values, std::size_t count) {
  const auto all_names = bound::texts(names, count, "label_names");
  const auto all_values = bound::texts(values, count, "label_values");
  Labels labels;
  for (std::size_t i = 0; i < count; ++i) labels.push_back({all_names[i], all_values[i]});
  return labels;
}

char* text_of(const redlock::Metrics& metrics, const Labels& labels) {
  const std::string made = to_prometheus(metrics, labels);
  auto text = std::make_unique<char[]>(made.size() + 1);
  std::memcpy(text.get(), made.c_str(), made.size() + 1);
  return text.release();
}

}  // namespace

redlock_status redlock_client_prometheus(redlock_client* client, const char* const* label_names,
                                         const char* const* label_values, size_t label_count,
                                         char** text, redlock_error** error) {
  return bound::guarded(error, [&] {
    auto*& out = bound::required_out(text, "text");
    auto& caller = bound::required(client, "client").client;
    const Labels labels = labels_from(label_names, label_values, label_count);
    out = text_of(bound::unwrapped(caller.metrics()), labels);
  });
}

void redlock_async_prometheus(redlock_async* client, const char* const* label_names,
                              const char* const* label_values, size_t label_count,
                              redlock_text_done done, void* context) {
  const bound::Answer answer{done, context};
  bound::begin(answer, [&] {
    auto& caller = bound::asked(client);
    caller.metrics(bound::answering<redlock::Metrics>(
        client->dispatcher, answer,
        [labels = labels_from(label_names, label_values, label_count)](
            const redlock::Metrics& metrics) { return text_of(metrics, labels); }));
  });
}

void redlock_text_free(char* text) { const std::unique_ptr<char[]> owned(text); }
