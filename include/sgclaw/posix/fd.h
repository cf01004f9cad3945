#ifndef SGCLAW_POSIX_FD_H_
#define SGCLAW_POSIX_FD_H_

#include <cstddef>
#include <string_view>
#include <utility>

namespace sgclaw::posix {

// Owns a file descriptor.
class ScopedFd {
 public:
  ScopedFd() = default;
  explicit ScopedFd(int fd) : fd_(fd) {}
  ScopedFd(ScopedFd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  ScopedFd& operator=(ScopedFd&& other) noexcept;
  ~ScopedFd();

  // -1 where there is none.
  int get() const { return fd_; }
  bool is_valid() const { return fd_ >= 0; }
  void Close();

 private:
  int fd_ = -1;
};

// A pipe whose ends no other program inherits by accident (close-on-exec).
// False where the system has no more; errno says why.
[[nodiscard]] bool MakePipe(ScopedFd* reader, ScopedFd* writer);

// Makes reads and writes return instead of waiting. False with errno.
[[nodiscard]] bool SetNonBlocking(int fd);

enum class IoStatus {
  // Some bytes moved.
  kMoved,
  // None now.
  kWouldBlock,
  // None any more: end of file, or nobody at the other end. An error of a pipe
  // counts as its end.
  kClosed,
};

struct IoResult {
  IoStatus status;
  // How many bytes moved; 0 unless `status` is kMoved.
  size_t count = 0;
};

// One read(2) or write(2), repeated only where a signal interrupted it.
[[nodiscard]] IoResult ReadOnce(int fd, char* buffer, size_t size);
[[nodiscard]] IoResult WriteOnce(int fd, std::string_view bytes);

}  // namespace sgclaw::posix

#endif  // SGCLAW_POSIX_FD_H_
