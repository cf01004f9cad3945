#ifndef SGCLAW_EXAMPLES_CPP_HOST_FILE_H_
#define SGCLAW_EXAMPLES_CPP_HOST_FILE_H_

#include <optional>
#include <string>

namespace cpp_host {

// The whole file. Empty with errno where it cannot be read.
std::optional<std::string> ReadFile(const std::string& path);

}  // namespace cpp_host

#endif  // SGCLAW_EXAMPLES_CPP_HOST_FILE_H_
