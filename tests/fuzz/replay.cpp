// Feeds every file of the given folders to the target, whole and cut off at every byte: what was
// found once stays fixed, with any compiler.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

void feed(const std::string& bytes, std::size_t size) {
  // In memory of its own size, so that reading past the end is noticed.
  const std::vector<std::uint8_t> exact(bytes.begin(),
                                        bytes.begin() + static_cast<std::ptrdiff_t>(size));
  static_cast<void>(LLVMFuzzerTestOneInput(exact.data(), exact.size()));
}

std::size_t replay(const std::filesystem::path& folder) {
  constexpr std::size_t cut_everywhere = 1024;
  constexpr std::size_t cuts = 64;
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  for (const auto& path : files) {
    // Printed before the call, because a target that finds a bug does not return.
    std::printf("%s\n", path.c_str());
    std::fflush(stdout);
    std::ifstream file(path, std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    const std::size_t step = bytes.size() <= cut_everywhere ? 1 : bytes.size() / cuts;
    for (std::size_t size = 0; size < bytes.size(); size += step) feed(bytes, size);
    feed(bytes, bytes.size());
  }
  return files.size();
}

}  // namespace

int main(int argc, char** argv) {
  try {
    std::size_t files = 0;
    for (int i = 1; i < argc; ++i) files += replay(argv[i]);
    std::printf("%zu file(s) replayed\n", files);
    return files == 0 ? 1 : 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
