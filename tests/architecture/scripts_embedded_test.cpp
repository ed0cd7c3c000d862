#include "redis/scripts_embedded.hpp"

#include <gtest/gtest.h>
#include <openssl/evp.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
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

TEST(EmbeddedScripts, AreTheFilesByteForByteWithTheirParts) {
  for (const auto& script : redis::scripts::all_scripts) {
    std::string text = text_of(std::string(script.name));
    constexpr std::string_view with = "-- with: ";
    for (std::size_t at = 0; (at = text.find(with)) != std::string::npos;) {
      const std::size_t name = at + with.size();
      const std::size_t end = text.find('\n', at);
      text.replace(at, end + 1 - at, text_of("parts/" + text.substr(name, end - name)));
    }
    EXPECT_EQ(script.text, text) << script.name;
  }
}

TEST(EmbeddedScripts, HashToTheirSha1SoThatEvalshaFindsThem) {
  for (const auto& script : redis::scripts::all_scripts) {
    EXPECT_EQ(script.sha1, sha1_hex(script.text)) << script.name;
  }
}

}  // namespace
}  // namespace redlock::test
