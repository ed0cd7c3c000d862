#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <string>
#include <string_view>

#include "simulation/minimal.hpp"
#include "simulation/planted.hpp"
#include "simulation/seeds.hpp"

namespace {

using redlock::simulation::Length;

/// The number of lines that prints a whole story.
constexpr std::size_t whole = SIZE_MAX - 1;

constexpr std::array lengths{Length::minutes, Length::steady, Length::crowd, Length::replicated};

constexpr std::string_view option_of(Length length) {
  switch (length) {
    case Length::seconds:
      return "--soak";
    case Length::minutes:
      return "--long";
    case Length::steady:
      return "--steady";
    case Length::crowd:
      return "--crowd";
    case Length::replicated:
      return "--replicated";
  }
  return {};
}

/// Exit codes: 0 every promise kept, 1 one was broken, 2 misused; after a crash, the shell's code.
int soak(Length length, std::uint64_t first, std::uint64_t count) {
  const bool is_long = length == Length::minutes;
  constexpr std::uint64_t kinds = redlock::simulation::kinds;
  const std::uint64_t batch = length == Length::seconds ? 1000 : (is_long ? kinds : 10 * kinds);
  std::uint64_t events = 0;
  std::uint64_t grants = 0;
  std::uint64_t role_changes = 0;
  const auto start = std::chrono::steady_clock::now();
  for (std::uint64_t done = 0; count == 0 || done < count; done += batch) {
    const std::uint64_t size = count == 0 ? batch : std::min(batch, count - done);
    const auto verdict =
        redlock::simulation::run_seeds({.first = first + done, .count = size, .length = length});
    events += verdict.events;
    grants += verdict.grants;
    role_changes += verdict.role_changes;
    if (verdict.failing_seed != 0 && length != Length::seconds) {
      std::cout << redlock::simulation::story_of(verdict.failing_seed, length)
                << "again: " << option_of(length) << ' ' << verdict.failing_seed
                << " 1, whole: " << option_of(length) << "-seed " << verdict.failing_seed << '\n';
      return 1;
    }
    if (verdict.failing_seed != 0) {
      std::cout << redlock::simulation::story_of(verdict.failing_seed) << "again: --seed "
                << verdict.failing_seed << ", shorter: --minimize " << verdict.failing_seed << '\n';
      return 1;
    }
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    std::cout << "seeds " << first << " to " << first + done + size - 1 << ": kept; " << events
              << " events, "
              << static_cast<std::uint64_t>(static_cast<double>(events) / took.count())
              << " a second; without faults the longest wait was "
              << verdict.longest_wait / redlock::simulation::ms << " ms, the longest idle stretch "
              << verdict.longest_idle / redlock::simulation::ms << " ms; " << grants << " grants, "
              << role_changes << " changes of servers' roles" << std::endl;
  }
  return 0;
}

extern "C" void name_the_seed(int) {
  constexpr std::size_t enough = 8000;
  std::string_view story = redlock::simulation::running_story();
  if (story.size() > enough) story.remove_prefix(story.size() - enough);
  static_cast<void>(!write(STDERR_FILENO, story.data(), story.size()));
  std::array<char, 64> line{};
  const int size =
      std::snprintf(line.data(), line.size(), "in simulation seed %llu\n",
                    static_cast<unsigned long long>(redlock::simulation::running_seed()));
  static_cast<void>(!write(STDERR_FILENO, line.data(), static_cast<std::size_t>(size)));
  std::signal(SIGABRT, SIG_DFL);
}

/// Whether each deliberate fault is noticed. Exit code 1 if one is not.
int show_mutants() {
  int code = 0;
  for (const auto& fault : redlock::simulation::planted) {
    const auto verdict =
        redlock::simulation::run_seeds({.count = fault.budget, .mutant = fault.mutant});
    if (verdict.failing_seed == 0) {
      code = 1;
      std::cout << "MISSED  " << fault.name << " in " << verdict.seeds << " seeds" << std::endl;
    } else {
      std::cout << "caught  " << fault.name << " by seed " << verdict.failing_seed << ": "
                << verdict.violation << std::endl;
    }
  }
  return code;
}

int show_mutant(std::string_view name, std::uint64_t seed) {
  for (const auto& fault : redlock::simulation::planted) {
    if (name != fault.name) continue;
    std::cout << redlock::simulation::story_of(seed, fault.mutant, whole);
    return 0;
  }
  std::cerr << "no deliberate fault is named " << name << '\n';
  return 2;
}

int show_minimal(std::uint64_t seed, Length length) {
  const auto minimal =
      redlock::simulation::minimal_story(seed, redlock::simulation::Mutant::none, length);
  if (minimal.seed == 0) {
    std::cout << "seed " << seed << " keeps every promise\n";
    return 0;
  }
  std::cout << minimal.story << minimal.violation << "\nof seed " << seed
            << " this is left: " << minimal.left << '\n';
  return 1;
}

/// Prints the outcome of each seed on one line: two builds that behave the same print the same.
int print_outcomes(std::uint64_t first, std::uint64_t count) {
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    const auto outcome = redlock::simulation::outcome_of(seed);
    std::cout << seed << ' ' << outcome.print << ' ' << outcome.events << ' ' << outcome.grants
              << ' ' << outcome.losses << ' ' << outcome.violation << '\n';
  }
  return 0;
}

int usage() {
  std::cerr
      << "simulation_tests                        the tests\n"
         "simulation_tests --soak [FIRST [COUNT]]  seeds until one fails; COUNT 0: for ever\n"
         "simulation_tests --long [FIRST [COUNT]]  the same, each minutes of every fault\n"
         "simulation_tests --steady [FIRST [COUNT]] the same, each seconds without a fault\n"
         "simulation_tests --crowd [FIRST [COUNT]] the same, with up to 64 clients\n"
         "simulation_tests --replicated [FIRST [COUNT]] the same, with replicated nodes\n"
         "simulation_tests --seed SEED             the story of one seed\n"
         "simulation_tests --steady-seed SEED      the same, of one without a fault; also\n"
         "                                         --crowd-seed, --long-seed,\n"
         "                                         --replicated-seed\n"
         "simulation_tests --minimize SEED         the least that breaks the same promise; also\n"
         "                                         --minimize-replicated\n"
         "simulation_tests --outcomes FIRST COUNT  a line for each: to compare builds\n"
         "simulation_tests --mutants               deliberate faults: caught or missed\n"
         "simulation_tests --mutant NAME SEED      the story of one seed with that fault\n";
  return 2;
}

}  // namespace

int main(int count, char** words) {
  std::signal(SIGABRT, name_the_seed);
  const auto number = [&](int at, std::uint64_t otherwise) {
    return at < count ? std::strtoull(words[at], nullptr, 10) : otherwise;
  };
  if (count > 1 && std::string_view(words[1]) == "--soak") {
    return soak(Length::seconds, number(2, 1), number(3, 0));
  }
  for (const Length length : lengths) {
    const std::string option(option_of(length));
    if (count > 1 && words[1] == option) return soak(length, number(2, 1), number(3, 0));
    if (count != 3 || words[1] != option + "-seed") continue;
    std::cout << redlock::simulation::story_of(number(2, 1), length, whole);
    return 0;
  }
  if (count > 1 && std::string_view(words[1]) == "--seed") {
    if (count != 3) return usage();
    std::cout << redlock::simulation::story_of(number(2, 1), Length::seconds, whole);
    return 0;
  }
  if (count == 4 && std::string_view(words[1]) == "--outcomes") {
    return print_outcomes(number(2, 1), number(3, 0));
  }
  if (count == 3 && std::string_view(words[1]) == "--minimize") {
    return show_minimal(number(2, 1), Length::seconds);
  }
  if (count == 3 && std::string_view(words[1]) == "--minimize-replicated") {
    return show_minimal(number(2, 1), Length::replicated);
  }
  if (count == 2 && std::string_view(words[1]) == "--mutants") return show_mutants();
  if (count == 4 && std::string_view(words[1]) == "--mutant") {
    return show_mutant(words[2], number(3, 1));
  }
  ::testing::InitGoogleTest(&count, words);
  return count > 1 ? usage() : RUN_ALL_TESTS();
}
