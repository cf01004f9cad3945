#include "log.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "sgclaw/posix/fd.h"

namespace cpp_host {

using sgclaw::posix::IoResult;
using sgclaw::posix::IoStatus;

void LogLine(std::string_view line) {
  std::string text(line);
  text += '\n';
  std::string_view rest = text;
  while (!rest.empty()) {
    IoResult written = sgclaw::posix::WriteOnce(STDERR_FILENO, rest);
    if (written.status != IoStatus::kMoved)
      return;
    rest.remove_prefix(written.count);
  }
}

void Log(std::string_view line) {
  LogLine("sgclaw: " + std::string(line));
}

// static
std::optional<TraceFile> TraceFile::Create(const std::string& path) {
  // Close-on-exec: the agent has no business with it.
  FILE* file = fopen(path.c_str(), "we");
  if (!file)
    return std::nullopt;
  return TraceFile(file);
}

void TraceFile::Write(const sgclaw::TraceRecord& record) {
  std::string line = record.ToJsonLine();
  Note(fwrite(line.data(), 1, line.size(), file_.get()) == line.size());
}

void TraceFile::Flush() {
  Note(fflush(file_.get()) == 0);
}

void TraceFile::Note(bool ok) {
  if (ok || failed_)
    return;
  failed_ = true;
  Log(std::string("the trace is incomplete from here on: ") + strerror(errno));
}

}  // namespace cpp_host
