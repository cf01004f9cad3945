#ifndef SGCLAW_POSIX_PRINTABLE_H_
#define SGCLAW_POSIX_PRINTABLE_H_

#include <string>
#include <string_view>

namespace sgclaw::posix {

// `text` for a terminal that must not obey it: U+FFFD stands for each control
// character but the tab, and for what is not UTF-8.
std::string Printable(std::string_view text);

}  // namespace sgclaw::posix

#endif  // SGCLAW_POSIX_PRINTABLE_H_
