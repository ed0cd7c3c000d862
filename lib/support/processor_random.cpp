#include "support/processor_random.hpp"

#ifdef __x86_64__
#include <cpuid.h>
#include <immintrin.h>

#include <algorithm>
#endif

namespace redlock::support {

#ifdef __x86_64__

namespace {

bool has_rdrand() noexcept {
  unsigned int eax = 0;
  unsigned int ebx = 0;
  unsigned int ecx = 0;
  unsigned int edx = 0;
  return __get_cpuid(1, &eax, &ebx, &ecx, &edx) != 0 && (ecx & bit_RDRND) != 0;
}

__attribute__((target("rdrnd"))) bool draw(std::uint64_t& word) noexcept {
  // Other processors may have emptied the generator. The makers say that ten failures in a row mean
  // that it is broken.
  constexpr int most_tries = 10;
  unsigned long long drawn = 0;
  for (int tries = 0; tries < most_tries; ++tries) {
    if (_rdrand64_step(&drawn) != 0) {
      word = drawn;
      return true;
    }
  }
  return false;
}

}  // namespace

bool draw_from_processor(Mask& mask) noexcept {
  static const bool available = has_rdrand();
  return available && std::all_of(mask.begin(), mask.end(), draw);
}

#else

bool draw_from_processor(Mask& /*mask*/) noexcept { return false; }

#endif

}  // namespace redlock::support
