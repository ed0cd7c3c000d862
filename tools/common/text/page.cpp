#include "common/text/page.hpp"

#include <fmt/format.h>

#include <iterator>

namespace redlock::cli {

std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      default:
        result += c;
    }
  }
  return result;
}

void begin_page(std::string& page, std::string_view title, std::string_view more_style) {
  fmt::format_to(std::back_inserter(page),
                 "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
                 "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                 "<title>{}</title>\n<style>{}{}</style></head><body>\n",
                 escaped(title), page_style, more_style);
}

void end_page(std::string& page) { page += "</body></html>\n"; }

void add_card(std::string& page, std::string_view value, std::string_view name) {
  fmt::format_to(std::back_inserter(page), "<div class=\"card\"><b>{}</b><span>{}</span></div>\n",
                 value, name);
}

}  // namespace redlock::cli
