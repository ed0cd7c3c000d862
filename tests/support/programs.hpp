#pragma once

#include <string>

/// Programs of this build that tests run, and files of the project that they read. Empty: not built
/// here.
namespace redlock::test {

[[nodiscard]] std::string quorum_lock_program();
/// A client with a wall clock of its own.
[[nodiscard]] std::string skewed_client_program();
/// The library that moves the wall clock of the program that it is preloaded into.
[[nodiscard]] std::string clock_preload();
/// The library that resolves host names of a test.
[[nodiscard]] std::string hosts_preload();
/// Programs in C: one that uses all of redlock.h, and the example of tools/docs/C.md.
[[nodiscard]] std::string c_interface_program();
[[nodiscard]] std::string c_example_program();
/// A command that an ordinary user may not signal.
[[nodiscard]] std::string other_user_program();
[[nodiscard]] std::string readme();
/// The folder of the pages for operators, tools/docs.
[[nodiscard]] std::string pages_folder();
/// A contender of `quorum-lock chaos` that is not our own.
[[nodiscard]] std::string foreign_contender_script();

}  // namespace redlock::test
