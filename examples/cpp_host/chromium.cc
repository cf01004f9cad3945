#include "chromium.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <thread>
#include <utility>
#include <vector>

#include "clock.h"
#include "file.h"

namespace cpp_host {

namespace {

namespace fs = std::filesystem;

using sgclaw::posix::ChildProcess;
using sgclaw::posix::ScopedFd;

// How long a browser may take until it takes commands.
constexpr uint64_t kStartUs = 30000000;
// How long the first page may take until it has a domain; then the agent starts
// all the same.
constexpr uint64_t kFirstPageUs = 10000000;
// How long the processes of a browser that was killed may take to go.
constexpr int kGoneTries = 400;
constexpr std::chrono::milliseconds kGonePause(5);
constexpr int kRemoveTries = 20;
constexpr std::chrono::milliseconds kRemovePause(25);

constexpr char kInstall[] = "(Debian: apt-get install chromium)";

// A headless shell starts four times faster, and has no window to show.
constexpr const char* kHeadlessNames[] = {"chromium-headless-shell",
                                          "chrome-headless-shell"};
constexpr const char* kNames[] = {"chromium", "chromium-browser",
                                  "google-chrome", "google-chrome-stable",
                                  "microsoft-edge"};

// The same as of `sgclaw host` (apps/sgclaw/src/chromium.rs).
constexpr const char* kFlags[] = {
    "--remote-debugging-pipe",
    "--disable-background-networking",
    "--disable-background-timer-throttling",
    "--disable-backgrounding-occluded-windows",
    "--disable-breakpad",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-dev-shm-usage",
    "--disable-extensions",
    // Pages restored from it or rendered ahead would be documents that no
    // navigation was seen for.
    "--disable-features=BackForwardCache,Prerender2,HttpsUpgrades,Translate",
    "--disable-hang-monitor",
    "--disable-quic",
    "--disable-renderer-backgrounding",
    "--disable-sync",
    "--no-default-browser-check",
    "--no-first-run",
    "--password-store=basic",
    "--use-mock-keychain",
    // The same on every machine, and no less than pages are made for.
    "--window-size=1280,900",
    // A frame of another site is a process and a session of its own, always.
    "--site-per-process",
};
constexpr const char* kHeadlessFlags[] = {"--headless", "--disable-gpu",
                                          "--hide-scrollbars", "--mute-audio"};

// Empty where there is none.
std::string OnPath(const std::string& name) {
  const char* path = getenv("PATH");
  std::string_view folders = path ? path : "";
  while (!folders.empty()) {
    size_t end = std::min(folders.find(':'), folders.size());
    fs::path program = fs::path(folders.substr(0, end)) / name;
    std::error_code none;
    if (fs::is_regular_file(program, none))
      return program.string();
    folders.remove_prefix(std::min(end + 1, folders.size()));
  }
  return "";
}

// Empty where there is none; `error` says what to do.
std::string Find(const std::string& wanted, bool headful, std::string* error) {
  if (wanted != "auto") {
    std::error_code none;
    bool is_path = wanted.find('/') != std::string::npos;
    std::string found = !is_path                            ? OnPath(wanted)
                        : fs::is_regular_file(wanted, none) ? wanted
                                                            : "";
    if (found.empty())
      *error = "there is no program " + wanted +
               ": name a Chromium with --browser, or install one " + kInstall;
    return found;
  }
  std::vector<std::string> names(std::begin(kNames), std::end(kNames));
  if (!headful)
    names.insert(names.begin(), std::begin(kHeadlessNames),
                 std::end(kHeadlessNames));
  for (const std::string& name : names) {
    std::string found = OnPath(name);
    if (!found.empty())
      return found;
  }
  *error = std::string("no Chromium on PATH: install one ") + kInstall +
           ", or name one with --browser";
  return "";
}

bool IsAliveIn(pid_t group, const std::string& process) {
  // `pid (name) state ppid pgrp …`; a name may hold anything, a parenthesis
  // too.
  std::string stat =
      ReadFile("/proc/" + process + "/stat").value_or(std::string());
  size_t name_end = stat.rfind(')');
  char state = 0;
  int its_group = 0;
  return name_end != std::string::npos &&
         sscanf(stat.c_str() + name_end, ") %c %*d %d", &state, &its_group) ==
             2 &&
         its_group == group && state != 'Z' && state != 'X';
}

// Whether a process of this group still runs. What is dead and waits to be
// reaped does not.
bool GroupIsAlive(pid_t group) {
  DIR* processes = opendir("/proc");
  if (!processes)
    return false;
  bool alive = false;
  while (dirent* process = alive ? nullptr : readdir(processes))
    alive = IsAliveIn(group, process->d_name);
  closedir(processes);
  return alive;
}

}  // namespace

bool Profile::Create() {
  std::error_code none;
  fs::path folder = fs::temp_directory_path(none);
  std::string path = (folder / "sgclaw-chromium-XXXXXX").string();
  // Cookies lie in it: mkdtemp makes it for this user's eyes only.
  if (!mkdtemp(path.data()))
    return false;
  path_ = path;
  return true;
}

Profile::~Profile() {
  for (int i = 0; !path_.empty() && i < kRemoveTries; ++i) {
    std::error_code error;
    fs::remove_all(path_, error);
    if (!error)
      return;
    std::this_thread::sleep_for(kRemovePause);
  }
}

Chromium::Chromium(const sgclaw::Policy& policy,
                   Browser::Delegate* delegate,
                   const sgclaw::Clock* clock)
    : delegate_(delegate),
      clock_(clock),
      pipe_(this),
      executor_({policy, nullptr}, &pipe_, this, clock) {}

Chromium::~Chromium() {
  if (!process_)
    return;
  // Its other processes die a moment later, and until then write to the
  // profile. Its first is not reaped before, so that the group's number is
  // ours.
  for (int i = 0; i < kGoneTries; ++i) {
    process_->SignalGroup(SIGKILL);
    if (!GroupIsAlive(process_->pid()))
      return;
    std::this_thread::sleep_for(kGonePause);
  }
}

bool Chromium::Start(const Options& options,
                     Signals* signals,
                     std::string* error) {
  std::string program = Find(options.program, options.headful, error);
  if (program.empty() || !Launch(program, options, error))
    return false;
  executor_.Start();
  return WaitUntilReady(options.url.has_value(), signals, error);
}

bool Chromium::Launch(const std::string& program,
                      const Options& options,
                      std::string* error) {
  ScopedFd commands, messages;
  // Its stderr has no bound and nobody reads it.
  ScopedFd null(open("/dev/null", O_RDWR | O_CLOEXEC));
  if (!profile_.Create() || !null.is_valid() ||
      !pipe_.Open(&commands, &messages)) {
    *error = "cannot start " + program + ": " + strerror(errno);
    return false;
  }
  std::vector<std::string> argv = {program};
  argv.insert(argv.end(), std::begin(kFlags), std::end(kFlags));
  argv.push_back("--user-data-dir=" + profile_.path());
  if (!options.headful)
    argv.insert(argv.end(), std::begin(kHeadlessFlags),
                std::end(kHeadlessFlags));
  if (geteuid() == 0)
    argv.push_back("--no-sandbox");
  argv.push_back(options.url.value_or("about:blank"));
  std::string why;
  std::optional<ChildProcess> process = ChildProcess::Spawn(
      argv,
      {{STDIN_FILENO, null.get()},
       {STDOUT_FILENO, null.get()},
       {STDERR_FILENO, null.get()},
       {sgclaw::posix::kDevToolsCommandsFd, commands.get()},
       {sgclaw::posix::kDevToolsMessagesFd, messages.get()}},
      &why);
  if (!process) {
    *error = "cannot start " + program + ": " + why;
    return false;
  }
  process_.emplace(std::move(*process));
  return true;
}

bool Chromium::WaitUntilReady(bool for_page,
                              Signals* signals,
                              std::string* error) {
  const sgclaw::Time page_by = After(clock_->Now(), kFirstPageUs);
  const sgclaw::Time ready_by = After(clock_->Now(), kStartUs);
  for (;;) {
    sgclaw::Time now = clock_->Now();
    if (gone_) {
      *error = "the browser ended while it was starting";
      return false;
    }
    if (ready_ && (!for_page || has_page_ || page_by <= now))
      return true;
    if (ready_by <= now) {
      *error = "the browser did not answer within 30 s";
      return false;
    }
    sgclaw::posix::WaitSet wait_set;
    AddTo(&wait_set);
    signals->AddTo(&wait_set);
    wait_set.WaitUntil(ready_ ? page_by : ready_by);
    if (!wait_set.Wait(*clock_)) {
      *error = std::string("cannot wait for the browser: ") + strerror(errno);
      return false;
    }
    Turn();
    if (signals->Take().stop) {
      *error = "a signal asked to stop while the browser was starting";
      return false;
    }
  }
}

void Chromium::Execute(sgclaw::Command command, sgclaw::Completion completion) {
  executor_.Execute(std::move(command), std::move(completion));
}

void Chromium::Cancel(uint64_t seq) {
  executor_.Cancel(seq);
}

void Chromium::SetPolicy(const sgclaw::Policy& policy) {
  executor_.SetPolicy(policy);
}

void Chromium::AddTo(sgclaw::posix::WaitSet* wait_set) const {
  pipe_.AddTo(wait_set);
  wait_set->WaitUntil(deadline_);
}

void Chromium::Turn() {
  pipe_.Turn();
  if (deadline_ && *deadline_ <= clock_->Now())
    executor_.HandleTimeout();
}

void Chromium::OnReady() {
  ready_ = true;
}

void Chromium::OnPageChanged(std::optional<std::string_view> domain) {
  has_page_ = domain.has_value();
  delegate_->OnPageChanged(domain);
}

void Chromium::OnDisconnected() {
  gone_ = true;
  // Before it is ready Start() tells.
  if (ready_)
    delegate_->OnBrowserGone();
}

void Chromium::OnDeadlineChanged(std::optional<sgclaw::Time> deadline) {
  deadline_ = deadline;
}

void Chromium::OnMessage(std::string_view message) {
  executor_.HandleMessage(message);
}

void Chromium::OnClosed() {
  executor_.HandleDisconnect();
}

}  // namespace cpp_host
