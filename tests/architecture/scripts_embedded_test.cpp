#include "redis/scripts_embedded.hpp"

#include <gtest/gtest.h>
#include <openssl/evp.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <sstream>
#include <string>
#include <string_view>

namespace redlock::test {
namespace {

std::string sha1_hex(std::string_view text) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int size = 0;
  EXPECT_EQ(EVP_Digest(text.data(), text.size(), digest.data(), &size, EVP_sha1(), nullptr), 1);
  constexpr std::string_view digits = "0123456789abcdef";
  std::string hex;
  for (unsigned int i = 0; i < size; ++i) {
    hex += digits.at(digest.at(i) >> 4U);
    hex += digits.at(digest.at(i) & 15U);
  }
  return hex;
}

std::string text_of(const std::string& name) {
  const auto path = std::filesystem::path(REDLOCK_SCRIPTS_FOLDER) / (name + ".lua");
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file) << path;
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Reads the texts for the names in the line "-- keys: …" or "-- args: …" that begins at `at`.
/// Returns the begin of the next line.
std::size_t read_head(const std::string& text, std::size_t at, const std::string& what,
                      const std::string& array, std::map<std::string, std::string>& names) {
  const std::size_t end = text.find('\n', at);
  const std::string line = text.substr(at, end - at);
  const std::regex entry("([a-z0-9_]+)(\\|([a-z0-9_]+))?(\\.\\.\\.)?");
  int place = 0;
  std::string offset;
  EXPECT_TRUE(line.starts_with("-- " + what + ": ")) << line;
  for (std::sregex_iterator i(line.begin() + 9, line.end(), entry), none; i != none; ++i) {
    const bool many = (*i)[4].matched;
    const std::string number = std::to_string(++place);
    const bool all = many && place == 1;
    const std::string stands_for = all ? array : array + '[' + offset + number + ']';
    names[what + '.' + (*i)[1].str()] = stands_for;
    if ((*i)[3].matched) names[what + '.' + (*i)[3].str()] = stands_for;
    if (many) names[what + '.' + (*i)[1].str() + ".first"] = number;
    if (many) {
      offset = "#KEYS + ";
      place = 0;
    }
  }
  return end + 1;
}

/// The text with what stands for each name.
std::string with_places(const std::string& text) {
  std::map<std::string, std::string> names;
  read_head(text, read_head(text, 0, "keys", "KEYS", names), "args", "ARGV", names);
  const std::regex name("\\b(keys|args)\\.[a-z0-9_]+(\\.first)?");
  std::string result;
  std::size_t end = 0;
  for (std::sregex_iterator i(text.begin(), text.end(), name), none; i != none; ++i) {
    const auto at = static_cast<std::size_t>(i->position());
    EXPECT_TRUE(names.contains(i->str())) << i->str();
    result.append(text, end, at - end).append(names[i->str()]);
    end = at + i->str().size();
  }
  return result.append(text, end);
}

std::string without_comments(const std::string& text) {
  std::istringstream lines(text);
  std::string result;
  for (std::string line; std::getline(lines, line);) {
    const std::size_t begin = line.find_first_not_of(' ');
    if (begin == std::string::npos || line.compare(begin, 2, "--") == 0) continue;
    result.append(line).append("\n");
  }
  return result;
}

TEST(EmbeddedScripts, AreTheFilesWithTheirPartsAndPlacesForNamesAndWithoutComments) {
  for (const auto& script : redis::scripts::all_scripts) {
    std::string text = with_places(text_of(std::string(script.name)));
    constexpr std::string_view with = "-- with: ";
    for (std::size_t at = 0; (at = text.find(with)) != std::string::npos;) {
      const std::size_t name = at + with.size();
      const std::size_t end = text.find('\n', at);
      text.replace(at, end + 1 - at, text_of("parts/" + text.substr(name, end - name)));
    }
    EXPECT_EQ(script.text, without_comments(text)) << script.name;
  }
}

TEST(EmbeddedScripts, HashToTheirSha1SoThatEvalshaFindsThem) {
  for (const auto& script : redis::scripts::all_scripts) {
    EXPECT_EQ(script.sha1, sha1_hex(script.text)) << script.name;
  }
}

}  // namespace
}  // namespace redlock::test
