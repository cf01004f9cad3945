#include "json.h"

#include <stdio.h>

#include <cstddef>

namespace cpp_host {

namespace {

// The escapes that have a letter, and what they stand for.
constexpr std::string_view kLetters = "\"\\bfnrt";
constexpr std::string_view kEscaped = "\"\\\b\f\n\r\t";

// Past the value that begins at `at`.
size_t SkipValue(std::string_view text, size_t at) {
  int depth = 0;
  bool in_string = false;
  for (; at < text.size(); ++at) {
    char c = text[at];
    if (in_string) {
      if (c == '\\')
        ++at;
      in_string = c != '"';
    } else if (c == '"') {
      in_string = true;
    } else if (c == '{' || c == '[') {
      ++depth;
    } else if (depth == 0 && (c == ',' || c == ':' || c == '}')) {
      break;
    } else if (c == '}' || c == ']') {
      --depth;
    }
  }
  return at;
}

int HexDigit(char c) {
  return c <= '9' ? c - '0' : c - 'a' + 10;
}

// `quoted` is a JSON string in canonical form.
std::string Unquote(std::string_view quoted) {
  std::string text;
  for (size_t i = 1; i + 1 < quoted.size(); ++i) {
    if (quoted[i] != '\\') {
      text += quoted[i];
      continue;
    }
    char letter = quoted[++i];
    size_t known = kLetters.find(letter);
    if (known != std::string_view::npos) {
      text += kEscaped[known];
    } else if (letter == 'u' && i + 4 < quoted.size()) {
      // Control characters alone are written so: \u00xx.
      text += static_cast<char>(HexDigit(quoted[i + 3]) * 16 +
                                HexDigit(quoted[i + 4]));
      i += 4;
    }
  }
  return text;
}

}  // namespace

std::string JsonString(std::string_view text) {
  std::string json = "\"";
  for (char c : text) {
    size_t known = kEscaped.find(c);
    if (known != std::string_view::npos) {
      json += '\\';
      json += kLetters[known];
    } else if (static_cast<unsigned char>(c) < 0x20) {
      char escape[8];
      snprintf(escape, sizeof(escape), "\\u%04x", static_cast<unsigned>(c));
      json += escape;
    } else {
      json += c;
    }
  }
  return json + '"';
}

std::optional<std::string> Params::String(std::string_view name) const {
  std::string_view value = Find(name);
  if (value.empty() || value[0] != '"')
    return std::nullopt;
  return Unquote(value);
}

std::string_view Params::Find(std::string_view name) const {
  std::string quoted = JsonString(name);
  // Past the '{', and then past each ','.
  for (size_t at = 1; at < canonical_.size(); ++at) {
    size_t colon = SkipValue(canonical_, at);
    size_t end = SkipValue(canonical_, colon + 1);
    if (canonical_.substr(at, colon - at) == quoted)
      return canonical_.substr(colon + 1, end - colon - 1);
    at = end;
  }
  return {};
}

}  // namespace cpp_host
