#include "sgclaw/posix/printable.h"

#include <cstddef>
#include <cstdint>

namespace sgclaw::posix {

namespace {

constexpr std::string_view kReplacement = "\xef\xbf\xbd";

// How many bytes the character takes at the front of `text`, which is not
// empty, and which one it is. 0 where there is none in UTF-8.
size_t Decode(std::string_view text, uint32_t* character) {
  uint8_t first = static_cast<uint8_t>(text[0]);
  size_t length = first < 0x80   ? 1
                  : first < 0xc2 ? 0
                  : first < 0xe0 ? 2
                  : first < 0xf0 ? 3
                  : first < 0xf5 ? 4
                                 : 0;
  if (length == 0 || length > text.size())
    return 0;
  *character = length == 1 ? first : first & (0x7fu >> length);
  for (size_t i = 1; i < length; ++i) {
    uint8_t byte = static_cast<uint8_t>(text[i]);
    if ((byte & 0xc0) != 0x80)
      return 0;
    *character = (*character << 6) | (byte & 0x3fu);
  }
  bool too_long = (length == 3 && *character < 0x800) ||
                  (length == 4 && *character < 0x10000);
  bool surrogate = *character >= 0xd800 && *character <= 0xdfff;
  return too_long || surrogate || *character > 0x10ffff ? 0 : length;
}

bool IsControl(uint32_t character) {
  return (character < 0x20 && character != '\t') ||
         (character >= 0x7f && character < 0xa0);
}

}  // namespace

std::string Printable(std::string_view text) {
  std::string printable;
  printable.reserve(text.size());
  while (!text.empty()) {
    uint32_t character = 0;
    size_t length = Decode(text, &character);
    if (length == 0 || IsControl(character))
      printable += kReplacement;
    else
      printable += text.substr(0, length);
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return printable;
}

}  // namespace sgclaw::posix
