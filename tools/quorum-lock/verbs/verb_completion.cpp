#include <fmt/format.h>

#include <string_view>
#include <utility>

#include "common/session/session.hpp"
#include "common/text/text.hpp"
#include "common/text/usage_error.hpp"
#include "quorum-lock/completion_embedded.hpp"
#include "quorum-lock/verbs/verb.hpp"

namespace redlock::cli {

int verb_completion(const Arguments& given) {
  constexpr std::pair<std::string_view, std::string_view> shells[] = {
      {"bash", bash_completion}, {"zsh", zsh_completion}, {"fish", fish_completion}};
  if (given.words.empty()) throw UsageError("completion: allowed are bash, zsh and fish");
  if (given.words.size() > 1) {
    throw UsageError(fmt::format("completion: '{}' is one too many", as_printable(given.words[1])));
  }
  for (const auto& [shell, text] : shells) {
    if (shell == given.words.front()) return print_result(std::string(text));
  }
  throw UsageError(fmt::format("completion: '{}' is not known: allowed are bash, zsh and fish",
                               as_printable(given.words.front())));
}

}  // namespace redlock::cli
