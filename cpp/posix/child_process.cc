#include "sgclaw/posix/child_process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#if defined(__linux__)
#include <sys/syscall.h>
#endif

extern char** environ;

namespace sgclaw::posix {

namespace {

// Where there is no pidfd: how often to look whether the child has exited.
constexpr uint64_t kLookEveryUs = 20000;

void IgnoreSigpipe() {
  struct sigaction action = {};
  if (sigaction(SIGPIPE, nullptr, &action) == 0 &&
      action.sa_handler == SIG_DFL) {
    action.sa_handler = SIG_IGN;
    sigaction(SIGPIPE, &action, nullptr);
  }
}

ScopedFd OpenPidfd(pid_t pid) {
#if defined(SYS_pidfd_open)
  // Close-on-exec by itself. The number is the child's: it was not reaped yet.
  return ScopedFd(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
#else
  (void)pid;
  return ScopedFd();
#endif
}

// posix_spawn's two parameter objects, freed on every way out.
struct SpawnParameters {
  SpawnParameters() {
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
  }
  SpawnParameters(const SpawnParameters&) = delete;
  SpawnParameters& operator=(const SpawnParameters&) = delete;
  ~SpawnParameters() {
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
  }

  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
};

// A group of its own, and signals as a program expects them at its start.
void SetAttributes(posix_spawnattr_t* attributes) {
  posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETPGROUP |
                                           POSIX_SPAWN_SETSIGDEF |
                                           POSIX_SPAWN_SETSIGMASK);
  posix_spawnattr_setpgroup(attributes, 0);
  sigset_t signals;
  sigemptyset(&signals);
  posix_spawnattr_setsigmask(attributes, &signals);
  sigfillset(&signals);
  posix_spawnattr_setsigdefault(attributes, &signals);
}

int Start(const std::vector<std::string>& argv,
          const std::vector<FdMapping>& fds,
          pid_t* pid) {
  SpawnParameters parameters;
  SetAttributes(&parameters.attributes);
  int last = STDERR_FILENO;
  for (const FdMapping& fd : fds)
    last = std::max(last, fd.child_fd);
  // Copies above all of the child's numbers, so that no mapping overwrites what
  // the next one reads.
  std::vector<ScopedFd> copies;
  for (const FdMapping& fd : fds) {
    copies.emplace_back(fcntl(fd.our_fd, F_DUPFD_CLOEXEC, last + 1));
    if (!copies.back().is_valid())
      return errno;
    if (int error = posix_spawn_file_actions_adddup2(
            &parameters.actions, copies.back().get(), fd.child_fd))
      return error;
  }
#if defined(__GLIBC_PREREQ)
#if __GLIBC_PREREQ(2, 34)
  if (int error = posix_spawn_file_actions_addclosefrom_np(&parameters.actions,
                                                           last + 1))
    return error;
#endif
#endif
  std::vector<char*> arguments;
  for (const std::string& argument : argv)
    arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  return posix_spawnp(pid, arguments[0], &parameters.actions,
                      &parameters.attributes, arguments.data(), environ);
}

}  // namespace

std::string ExitStatus::ToString() const {
  return (by_signal ? "was ended by signal " : "exited with status ") +
         std::to_string(value);
}

// static
std::optional<ChildProcess> ChildProcess::Spawn(
    const std::vector<std::string>& argv,
    const std::vector<FdMapping>& fds,
    std::string* error) {
  IgnoreSigpipe();
  pid_t pid = -1;
  int failed = argv.empty() ? EINVAL : Start(argv, fds, &pid);
  if (failed != 0) {
    if (error)
      *error = strerror(failed);
    return std::nullopt;
  }
  return ChildProcess(pid);
}

ChildProcess::ChildProcess(pid_t pid) : pid_(pid), pidfd_(OpenPidfd(pid)) {}

ChildProcess::ChildProcess(ChildProcess&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)), pidfd_(std::move(other.pidfd_)) {}

ChildProcess::~ChildProcess() {
  if (pid_ < 0)
    return;
  SignalGroup(SIGKILL);
  while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

void ChildProcess::SignalGroup(int signal) const {
  // Until the leader is reaped its group keeps the number; afterwards it might
  // be another's.
  if (pid_ > 0)
    killpg(pid_, signal);
}

std::optional<ExitStatus> ChildProcess::TryReap() {
  if (pid_ < 0)
    return std::nullopt;
  // A look without reaping, so that the number stays ours until the rest of the
  // group is killed.
  siginfo_t info = {};
  if (waitid(P_PID, static_cast<id_t>(pid_), &info,
             WEXITED | WNOWAIT | WNOHANG) != 0) {
    if (errno != ECHILD)
      return std::nullopt;
    pid_ = -1;
    pidfd_.Close();
    return ExitStatus{false, -1};
  }
  if (info.si_pid == 0)
    return std::nullopt;
  SignalGroup(SIGKILL);
  while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
  pidfd_.Close();
  return ExitStatus{info.si_code != CLD_EXITED, info.si_status};
}

void ChildProcess::AddTo(WaitSet* wait_set, Time now) const {
  if (pid_ < 0)
    return;
  if (pidfd_.is_valid())
    wait_set->WaitToRead(pidfd_.get());
  else
    wait_set->WaitUntil(
        Time::FromMicroseconds(now.InMicroseconds() + kLookEveryUs));
}

}  // namespace sgclaw::posix
