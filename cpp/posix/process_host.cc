#include "sgclaw/posix/process_host.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "sgclaw/posix/printable.h"

namespace sgclaw::posix {

namespace {

constexpr uint64_t kMicrosecondsPerSecond = 1000000;
// How much of the agent's stderr is passed on at once, and how much more a
// second: a long session keeps its log, and a flood does not fill the disk.
constexpr uint64_t kStderrBurst = 1048576;
constexpr uint64_t kStderrPerSecond = 65536;
constexpr size_t kMaxStderrLine = 4096;
constexpr size_t kReadSize = 65536;
// Reads of what a dead agent left in its pipes: as much as a pipe holds. A
// process that escaped the group must not keep the host reading for ever.
constexpr int kMaxLastReads = 16;
// How long the output that waits may take when the agent is about to be killed:
// it says why.
constexpr uint64_t kLastWordsUs = 100000;
// An agent that exits closes its stdin a moment before its stdout. Only where
// the stdout stays open for so long is a closed stdin a fault of its own.
constexpr uint64_t kExitingUs = 50000;
constexpr std::string_view kReplacement = "\xef\xbf\xbd";

Time After(Time time, uint64_t microseconds) {
  return Time::FromMicroseconds(time.InMicroseconds() + microseconds);
}

bool EndsWith(std::string_view text, std::string_view end) {
  return text.size() >= end.size() &&
         text.substr(text.size() - end.size()) == end;
}

// A pipe between us and the child whose end of ours does not block.
bool MakeChildInput(ScopedFd* child, ScopedFd* ours) {
  return MakePipe(child, ours) && SetNonBlocking(ours->get());
}

bool MakeChildOutput(ScopedFd* ours, ScopedFd* child) {
  return MakePipe(ours, child) && SetNonBlocking(ours->get());
}

}  // namespace

void ProcessHost::Delegate::OnCancel(uint64_t) {}

void ProcessHost::Delegate::OnStateChanged(HostState,
                                           std::optional<ErrorCode>,
                                           std::string_view) {}

void ProcessHost::Delegate::OnConfirmationOver(uint64_t) {}

void ProcessHost::Delegate::OnBreakerOpened(std::string_view) {}

void ProcessHost::Delegate::OnTraceRecord(const TraceRecord&) {}

void ProcessHost::Delegate::OnAgentLine(std::string_view) {}

ProcessHost::ProcessHost(HostOptions options,
                         HmacSeed seed,
                         Delegate* delegate,
                         const Clock* clock)
    : delegate_(delegate),
      clock_(clock),
      host_(std::move(options), seed, this, clock) {}

ProcessHost::~ProcessHost() = default;

bool ProcessHost::Start(const std::vector<std::string>& argv,
                        std::string* error) {
  if (agent_ || ended_) {
    if (error)
      *error = "an agent was started already: a host serves one";
    return false;
  }
  ScopedFd child_stdin, child_stdout, child_stderr;
  if (!MakeChildInput(&child_stdin, &stdin_) ||
      !MakeChildOutput(&stdout_, &child_stdout) ||
      !MakeChildOutput(&stderr_, &child_stderr)) {
    if (error)
      *error = std::string("no pipe to it can be made: ") + strerror(errno);
    return false;
  }
  std::optional<ChildProcess> agent =
      ChildProcess::Spawn(argv,
                          {{STDIN_FILENO, child_stdin.get()},
                           {STDOUT_FILENO, child_stdout.get()},
                           {STDERR_FILENO, child_stderr.get()}},
                          error);
  if (!agent)
    return false;
  agent_.emplace(std::move(*agent));
  host_.Start();
  return true;
}

void ProcessHost::AddTo(WaitSet* wait_set) const {
  if (!agent_ || ended_)
    return;
  agent_->AddTo(wait_set, clock_->Now());
  // An agent that does not read its answers is not listened to either.
  if (host_.wants_input())
    wait_set->WaitToRead(stdout_.get());
  wait_set->WaitToRead(stderr_.get());
  if (!host_.output().empty())
    wait_set->WaitToWrite(stdin_.get());
  wait_set->WaitUntil(deadline_);
  wait_set->WaitUntil(kill_at_);
  wait_set->WaitUntil(stdin_fault_at_);
}

void ProcessHost::Turn() {
  if (!agent_ || ended_)
    return;
  ReadAgent();
  HandleDeadlines();
  WriteAgent();
  Reap();
}

// One read of each, so that a flood leaves room for deadlines and signals.
void ProcessHost::ReadAgent() {
  char buffer[kReadSize];
  if (stdout_.is_valid() && host_.wants_input()) {
    IoResult read = ReadOnce(stdout_.get(), buffer, sizeof(buffer));
    if (read.status == IoStatus::kMoved) {
      host_.HandleInput({buffer, read.count});
    } else if (read.status == IoStatus::kClosed) {
      stdout_.Close();
      stdin_fault_at_.reset();
      host_.HandleEndOfInput();
    }
  }
  if (stderr_.is_valid()) {
    IoResult read = ReadOnce(stderr_.get(), buffer, sizeof(buffer));
    if (read.status == IoStatus::kMoved)
      stderr_lines_.Take({buffer, read.count}, clock_->Now(), delegate_);
    else if (read.status == IoStatus::kClosed)
      stderr_.Close();
  }
}

void ProcessHost::WriteAgent() {
  while (stdin_.is_valid() && !host_.output().empty()) {
    IoResult written = WriteOnce(stdin_.get(), host_.output());
    if (written.status == IoStatus::kWouldBlock)
      return;
    if (written.status == IoStatus::kClosed) {
      stdin_.Close();
      if (stdout_.is_valid())
        stdin_fault_at_ = After(clock_->Now(), kExitingUs);
      return;
    }
    host_.OutputWritten(written.count);
  }
  if (close_stdin_)
    stdin_.Close();
}

void ProcessHost::HandleDeadlines() {
  if (Take(&stdin_fault_at_))
    host_.HandleOutputClosed();
  // The host replaces this deadline itself.
  if (deadline_ && *deadline_ <= clock_->Now())
    host_.HandleTimeout();
  if (Take(&kill_at_))
    agent_->SignalGroup(SIGKILL);
}

void ProcessHost::Reap() {
  std::optional<ExitStatus> exit = agent_->TryReap();
  if (!exit)
    return;
  // What it wrote before it exited still counts.
  for (int i = 0; i < kMaxLastReads; ++i)
    ReadAgent();
  stdin_.Close();
  stdout_.Close();
  stderr_.Close();
  if (exit->by_signal)
    host_.HandleExitSignal(exit->value);
  else
    host_.HandleExitCode(exit->value);
  stderr_lines_.Finish(delegate_);
  ended_ = true;
  end_.agent = *exit;
  end_.dropped_stderr = stderr_lines_.dropped();
  delegate_->OnEnded(end_);
}

bool ProcessHost::Take(std::optional<Time>* deadline) {
  if (!*deadline || clock_->Now() < **deadline)
    return false;
  deadline->reset();
  return true;
}

void ProcessHost::OnCommand(Command command, Completion completion) {
  delegate_->OnCommand(std::move(command), std::move(completion));
}

void ProcessHost::OnCancel(uint64_t seq) {
  delegate_->OnCancel(seq);
}

void ProcessHost::OnOutputReady() {
  WriteAgent();
}

void ProcessHost::OnDeadlineChanged(std::optional<Time> deadline) {
  deadline_ = deadline;
}

void ProcessHost::OnStateChanged(HostState state,
                                 std::optional<ErrorCode> code,
                                 std::string_view message) {
  end_.state = state;
  end_.code = code;
  end_.message = message;
  delegate_->OnStateChanged(state, code, message);
}

void ProcessHost::OnConfirmationAsked(const ConfirmationRequest& request) {
  delegate_->OnConfirmationAsked(request);
}

void ProcessHost::OnConfirmationOver(uint64_t seq) {
  delegate_->OnConfirmationOver(seq);
}

void ProcessHost::OnBreakerOpened(std::string_view action) {
  delegate_->OnBreakerOpened(action);
}

void ProcessHost::OnCloseAgentInput() {
  close_stdin_ = true;
  WriteAgent();
}

void ProcessHost::OnTerminateAgent() {
  if (agent_)
    agent_->SignalGroup(SIGTERM);
}

void ProcessHost::OnKillAgent() {
  kill_at_ = After(clock_->Now(), kLastWordsUs);
  close_stdin_ = true;
  WriteAgent();
}

void ProcessHost::OnTraceRecord(const TraceRecord& record) {
  delegate_->OnTraceRecord(record);
}

void ProcessHost::Stderr::Take(std::string_view bytes,
                               Time now,
                               Delegate* delegate) {
  uint64_t elapsed = now.InMicroseconds() - since_.InMicroseconds();
  // So long makes up for everything, and longer would overflow.
  elapsed = std::min(elapsed,
                     kStderrBurst / kStderrPerSecond * kMicrosecondsPerSecond);
  owed_ -= std::min(owed_, elapsed * kStderrPerSecond / kMicrosecondsPerSecond);
  since_ = now;
  for (char byte : bytes) {
    if (owed_ >= kStderrBurst) {
      ++dropped_;
      continue;
    }
    ++owed_;
    if (byte != '\n')
      line_.push_back(byte);
    if (byte == '\n' || line_.size() >= kMaxStderrLine)
      Pass(delegate);
  }
}

void ProcessHost::Stderr::Finish(Delegate* delegate) {
  if (!line_.empty())
    Pass(delegate);
}

void ProcessHost::Stderr::Pass(Delegate* delegate) {
  std::string line = Printable(line_);
  line_.clear();
  // What a CR before the LF has become, or a character that the bound has cut.
  while (EndsWith(line, kReplacement))
    line.resize(line.size() - kReplacement.size());
  delegate->OnAgentLine(line);
}

}  // namespace sgclaw::posix
