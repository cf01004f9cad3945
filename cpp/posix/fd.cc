#include "sgclaw/posix/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

namespace sgclaw::posix {

namespace {

IoResult Result(ssize_t count) {
  if (count > 0)
    return {IoStatus::kMoved, static_cast<size_t>(count)};
  if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
    return {IoStatus::kWouldBlock};
  return {IoStatus::kClosed};
}

}  // namespace

ScopedFd& ScopedFd::operator=(ScopedFd&& other) noexcept {
  if (this != &other) {
    Close();
    fd_ = std::exchange(other.fd_, -1);
  }
  return *this;
}

ScopedFd::~ScopedFd() {
  Close();
}

void ScopedFd::Close() {
  // Not repeated on EINTR: the number may be another's by then.
  if (fd_ >= 0)
    close(fd_);
  fd_ = -1;
}

bool MakePipe(ScopedFd* reader, ScopedFd* writer) {
  int fds[2];
  if (pipe2(fds, O_CLOEXEC) != 0)
    return false;
  *reader = ScopedFd(fds[0]);
  *writer = ScopedFd(fds[1]);
  return true;
}

bool SetNonBlocking(int fd) {
  int flags = fcntl(fd, F_GETFL);
  return flags >= 0 && fcntl(fd, F_SETFL, flags | O_NONBLOCK) == 0;
}

IoResult ReadOnce(int fd, char* buffer, size_t size) {
  ssize_t count;
  do {
    count = read(fd, buffer, size);
  } while (count < 0 && errno == EINTR);
  return Result(count);
}

IoResult WriteOnce(int fd, std::string_view bytes) {
  ssize_t count;
  do {
    count = write(fd, bytes.data(), bytes.size());
  } while (count < 0 && errno == EINTR);
  return Result(count);
}

}  // namespace sgclaw::posix
