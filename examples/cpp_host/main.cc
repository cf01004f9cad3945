// A process host in C++: `sgclaw host` (apps/sgclaw/src/host.rs), with the same
// options, log and exit statuses, through the C++ surface. The integration
// tests of that run on this program too.

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <optional>
#include <string>
#include <utility>

#include "json.h"
#include "log.h"
#include "options.h"
#include "session.h"
#include "sgclaw/url_parser.h"

namespace cpp_host {
namespace {

constexpr int kStopped = 0;
constexpr int kUsage = 2;
constexpr int kCrashed = 3;

int Usage(const std::string& error) {
  Log(error);
  return kUsage;
}

// Writes the last line and turns the end of a session into an exit status.
int Conclude(const Session::Ended& ended) {
  // On the wire and here a code is PIPE_…; what is no fault of the pipe stands
  // in the message.
  std::string code = "null";
  std::string message = ended.message;
  if (ended.code) {
    std::string name(sgclaw::ErrorCodeName(*ended.code));
    if (name.rfind("PIPE_", 0) == 0)
      code = JsonString(name);
    else
      message = name + ": " + message;
  }
  LogLine("{\"state\": " + JsonString(sgclaw::HostStateName(ended.state)) +
          ", \"code\": " + code + ", \"message\": " + JsonString(message) +
          "}");
  return ended.state == sgclaw::HostState::kStopped ? kStopped : kCrashed;
}

int Run(int argc, char** argv) {
  std::string error;
  std::optional<Options> options = Options::Parse(argc, argv, &error);
  if (!options)
    return Usage(error);
  if (options->help) {
    fputs(kHelp, stdout);
    return kStopped;
  }
  std::optional<sgclaw::Policy> policy = ReadPolicy(options->policy, &error);
  if (!policy)
    return Usage(error);
  sgclaw::ParsedUrl parsed;
  if (options->url &&
      !sgclaw::LibraryUrlParser()->Parse(*options->url, &parsed))
    return Usage("--url " + JsonString(*options->url) +
                 ": expected an absolute URL such as https://erp.example.com/");
  std::optional<TraceFile> trace;
  if (options->trace) {
    trace = TraceFile::Create(*options->trace);
    if (!trace)
      return Usage("--trace " + *options->trace + ": " + strerror(errno));
  }
  return Conclude(
      Session(*options, std::move(*policy), std::move(trace)).Run());
}

// A descriptor that is missing would be given to the first file that is opened,
// and the log written into that.
void OpenStandardFds() {
  int fd;
  do {
    fd = open("/dev/null", O_RDWR);
  } while (fd >= 0 && fd < STDERR_FILENO);
  if (fd > STDERR_FILENO)
    close(fd);
}

}  // namespace
}  // namespace cpp_host

int main(int argc, char** argv) {
  cpp_host::OpenStandardFds();
  // A log or an agent that nobody reads any more must not end the host.
  signal(SIGPIPE, SIG_IGN);
  return cpp_host::Run(argc, argv);
}
