#include "signals.h"

#include <errno.h>
#include <signal.h>
#include <unistd.h>

namespace cpp_host {

namespace {

int g_writer = -1;

void Tell(int signal) {
  int saved = errno;
  char byte = static_cast<char>(signal);
  // Where the pipe is full enough has been told.
  [[maybe_unused]] ssize_t told = write(g_writer, &byte, 1);
  errno = saved;
}

}  // namespace

bool Signals::Register() {
  if (!sgclaw::posix::MakePipe(&reader_, &writer_) ||
      !sgclaw::posix::SetNonBlocking(reader_.get()) ||
      !sgclaw::posix::SetNonBlocking(writer_.get()))
    return false;
  g_writer = writer_.get();
  struct sigaction action = {};
  action.sa_handler = Tell;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  for (int signal : {SIGINT, SIGTERM, SIGHUP}) {
    if (sigaction(signal, &action, nullptr) != 0)
      return false;
  }
  return true;
}

void Signals::AddTo(sgclaw::posix::WaitSet* wait_set) const {
  wait_set->WaitToRead(reader_.get());
}

Signals::Seen Signals::Take() {
  Seen seen;
  char buffer[64];
  for (;;) {
    auto read = sgclaw::posix::ReadOnce(reader_.get(), buffer, sizeof(buffer));
    if (read.status != sgclaw::posix::IoStatus::kMoved)
      return seen;
    for (size_t i = 0; i < read.count; ++i)
      (buffer[i] == SIGHUP ? seen.reload : seen.stop) = true;
  }
}

}  // namespace cpp_host
