#include "file.h"

#include <errno.h>
#include <stdio.h>

namespace cpp_host {

std::optional<std::string> ReadFile(const std::string& path) {
  FILE* file = fopen(path.c_str(), "re");
  if (!file)
    return std::nullopt;
  std::string content;
  char buffer[4096];
  while (size_t count = fread(buffer, 1, sizeof(buffer), file))
    content.append(buffer, count);
  int error = ferror(file) ? errno : 0;
  fclose(file);
  errno = error;
  if (error)
    return std::nullopt;
  return content;
}

}  // namespace cpp_host
