#include "redis/batches/encoder.hpp"

#include "redis/requests/row.hpp"

namespace redlock::redis {
namespace {

[[nodiscard]] std::size_t digits_of(std::uint64_t number) noexcept {
  return Decimal(static_cast<std::int64_t>(number)).view().size();
}

/// Whether the request differs from the frame's only in the letters of resource, token and number.
[[nodiscard]] bool fits(const Frame& frame, core::ScriptForm script_form, Dialect dialect,
                        const core::Terms& terms) noexcept {
  return frame.reusable && terms.are_usual() && !frame.bytes.empty() &&
         frame.script_form == script_form && frame.dialect == dialect && frame.ttl == terms.ttl &&
         (!frame.reserved_for || *frame.reserved_for == terms.reserved_for) &&
         frame.resource_size == terms.resource.size() && frame.token_size == terms.token.size() &&
         (frame.number.empty() || frame.number_size == digits_of(terms.fencing_number));
}

}  // namespace

std::string_view Encoder::encode(core::Verb verb, core::ScriptForm script_form, Dialect dialect,
                                 const core::Terms& terms) {
  Frame& frame = frames_[static_cast<std::size_t>(verb)][terms.resource.size() % lengths];
  const Row& row = row_of(verb);
  if (row.always_same && !frame.bytes.empty()) return frame.bytes;
  if (fits(frame, script_form, dialect, terms)) {
    frame.resource.write(frame.bytes, terms.resource);
    frame.token.write(frame.bytes, terms.token);
    if (!frame.number.empty()) {
      const Decimal number(static_cast<std::int64_t>(terms.fencing_number));
      frame.number.write(frame.bytes, number.view());
    }
    return frame.bytes;
  }
  frame.script_form = script_form;
  frame.dialect = dialect;
  frame.ttl = terms.ttl;
  frame.resource_size = terms.resource.size();
  frame.token_size = terms.token.size();
  frame.number_size = digits_of(terms.fencing_number);
  frame.reusable = terms.are_usual() && !core::is_upkeep(verb);
  Writer writer(frame, terms);
  row.encode(writer, terms);
  return frame.bytes;
}

}  // namespace redlock::redis
