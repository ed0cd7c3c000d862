#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "common/session/exit_code.hpp"
#include "common/session/settings.hpp"
#include "redlock/client.hpp"
#include "redlock/inspection.hpp"
#include "redlock/token.hpp"

namespace redlock::cli {

/// All tokens that any node stores.
[[nodiscard]] std::vector<Token> tokens_on(const Inspection& inspection);

/// Whether a node has more holds than it listed.
[[nodiscard]] bool has_unlisted_holds(const Inspection& inspection);

/// Whether a node stores something that no token deletes: a key that is not a lock, or a hold
/// without a token, which the node counts but does not list. A reservation for a writer or for
/// readers can take the place of one hold in the list.
[[nodiscard]] bool has_what_is_no_token(const Inspection& inspection);

/// The lock to break, and the terms.
struct Breaking {
  std::string resource{};
  std::vector<Token> tokens{};        ///< the tokens that were shown
  std::chrono::nanoseconds delay{0};  ///< zero: none
  bool has_unlisted_holds = false;    ///< the delay begins after the last one
};

/// The result.
struct BreakVerdict {
  std::string_view outcome{};         ///< the outcome for break_json()
  std::vector<Token> tokens{};        ///< the tokens that are gone
  std::chrono::nanoseconds delay{0};  ///< the delay that was imposed; zero: none
  Inspection after{};                 ///< the state of the nodes now
  std::string why{};                  ///< why it was not broken, or not as requested
  ExitCode exit_code = ExitCode::done;
  bool deleted_any = false;  ///< false: no node that answered had any of the tokens
};

/// Nothing was broken.
[[nodiscard]] BreakVerdict not_broken(std::string_view outcome, Inspection inspection,
                                      std::string why, ExitCode exit_code);

/// Deletes exactly these tokens. Errors: as `Client::inspect`.
[[nodiscard]] Result<BreakVerdict> break_tokens(Client& client, const Breaking& what);

/// How long the holder's lease can remain valid after the delay, so that two clients may work at
/// once; zero: not at all.
[[nodiscard]] std::chrono::nanoseconds lease_beyond_delay(const Inspection& before,
                                                          std::chrono::nanoseconds delay);

/// For people, a line for each token.
[[nodiscard]] std::string broken_text(const Breaking& what, const BreakVerdict& verdict);

/// Asks on standard error, so that it is seen when standard output goes to a file. `what`: "it".
[[nodiscard]] bool confirm_break(std::string_view what, std::chrono::nanoseconds delay);

}  // namespace redlock::cli
