#ifndef SGCLAW_EXAMPLES_CPP_HOST_LOG_H_
#define SGCLAW_EXAMPLES_CPP_HOST_LOG_H_

#include <stdio.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "sgclaw/trace.h"

namespace cpp_host {

// Writes a line to stderr. Where that is closed or full the line is lost, and
// nothing else: a log must not end a session.
void LogLine(std::string_view line);

// The same, as the host's own word.
void Log(std::string_view line);

// A trace in a file. One that is lost on a full disk must not end the session:
// it is said once and goes on without.
class TraceFile {
 public:
  // Replaces what is at `path`. Empty with errno where that cannot be.
  static std::optional<TraceFile> Create(const std::string& path);

  void Write(const sgclaw::TraceRecord& record);
  void Flush();

 private:
  struct Closer {
    void operator()(FILE* file) const { fclose(file); }
  };

  explicit TraceFile(FILE* file) : file_(file) {}
  void Note(bool ok);

  std::unique_ptr<FILE, Closer> file_;
  bool failed_ = false;
};

}  // namespace cpp_host

#endif  // SGCLAW_EXAMPLES_CPP_HOST_LOG_H_
