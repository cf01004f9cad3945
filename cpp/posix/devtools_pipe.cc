#include "sgclaw/posix/devtools_pipe.h"

namespace sgclaw::posix {

namespace {

constexpr size_t kReadSize = 65536;
constexpr size_t kMaxReadPerTurn = 4 * 1048576;
// A longer message means that something has gone wrong in the browser.
constexpr size_t kMaxMessage = 256 * 1048576;

}  // namespace

DevToolsPipe::DevToolsPipe(Delegate* delegate) : delegate_(delegate) {}

DevToolsPipe::~DevToolsPipe() = default;

bool DevToolsPipe::Open(ScopedFd* commands, ScopedFd* messages) {
  return MakePipe(commands, &writer_) && SetNonBlocking(writer_.get()) &&
         MakePipe(&reader_, messages) && SetNonBlocking(reader_.get());
}

void DevToolsPipe::Send(std::string_view message) {
  if (!writer_.is_valid())
    return;
  unwritten_.append(message);
  unwritten_.push_back('\0');
  Write();
}

void DevToolsPipe::AddTo(WaitSet* wait_set) const {
  wait_set->WaitToRead(reader_.get());
  if (!unwritten_.empty())
    wait_set->WaitToWrite(writer_.get());
}

void DevToolsPipe::Turn() {
  Write();
  char buffer[kReadSize];
  size_t total = 0;
  while (reader_.is_valid() && total < kMaxReadPerTurn) {
    IoResult read = ReadOnce(reader_.get(), buffer, sizeof(buffer));
    if (read.status == IoStatus::kWouldBlock)
      return;
    if (read.status == IoStatus::kClosed)
      return Close();
    total += read.count;
    read_.append(buffer, read.count);
    Deliver();
    if (read_.size() > kMaxMessage)
      return Close();
  }
}

void DevToolsPipe::Write() {
  while (writer_.is_valid() && !unwritten_.empty()) {
    IoResult written =
        WriteOnce(writer_.get(), std::string_view(unwritten_).substr(written_));
    if (written.status == IoStatus::kWouldBlock) {
      // A browser that is always a little behind must not keep all there was.
      if (written_ > unwritten_.size() / 2) {
        unwritten_.erase(0, written_);
        written_ = 0;
      }
      return;
    }
    if (written.status == IoStatus::kClosed) {
      // The end of the browser is told by the other pipe.
      writer_.Close();
      unwritten_.clear();
      return;
    }
    written_ += written.count;
    if (written_ == unwritten_.size()) {
      unwritten_.clear();
      written_ = 0;
    }
  }
}

void DevToolsPipe::Deliver() {
  size_t begin = 0;
  size_t end;
  while ((end = read_.find('\0', scanned_)) != std::string::npos) {
    delegate_->OnMessage(std::string_view(read_).substr(begin, end - begin));
    begin = scanned_ = end + 1;
  }
  read_.erase(0, begin);
  scanned_ = read_.size();
}

void DevToolsPipe::Close() {
  reader_.Close();
  writer_.Close();
  unwritten_.clear();
  delegate_->OnClosed();
}

}  // namespace sgclaw::posix
