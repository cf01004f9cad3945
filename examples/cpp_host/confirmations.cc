#include "confirmations.h"

#include <poll.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <string_view>

#include "json.h"
#include "log.h"
#include "sgclaw/posix/fd.h"
#include "sgclaw/posix/printable.h"

namespace cpp_host {

namespace {

using sgclaw::posix::IoStatus;

constexpr size_t kMaxShown = 200;
constexpr std::string_view kSpace = " \t\r\n";

// Cut so that no character of UTF-8 is cut.
std::string_view Beginning(std::string_view text) {
  if (text.size() <= kMaxShown)
    return text;
  size_t end = kMaxShown;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80)
    --end;
  return text.substr(0, end);
}

// What a person who is asked should see of the params: the URL or the element,
// not a typed text.
std::string Objects(const Params& params) {
  std::string shown;
  for (const char* name : {"url", "selector"}) {
    if (std::optional<std::string> text = params.String(name))
      shown += " (" + sgclaw::posix::Printable(Beginning(*text)) + ")";
  }
  return shown;
}

bool MeansYes(std::string_view line) {
  size_t begin = std::min(line.find_first_not_of(kSpace), line.size());
  std::string_view word = line.substr(begin);
  word = word.substr(0, word.find_last_not_of(kSpace) + 1);
  std::string lower(word);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z')
      c = static_cast<char>(c - 'A' + 'a');
  }
  return lower == "y" || lower == "yes";
}

}  // namespace

Confirmations::Confirmations(ConfirmMode mode)
    : mode_(mode), has_terminal_(isatty(STDIN_FILENO) == 1) {}

std::optional<bool> Confirmations::Ask(
    const sgclaw::ConfirmationRequest& request) {
  std::string question = "seq " + std::to_string(request.seq) + ": allow " +
                         request.action + " on " + request.expected_domain +
                         "?";
  if (mode_ == ConfirmMode::kAsk && has_terminal_) {
    asked_.push_back({request.seq, question + Objects(Params(request.params))});
    if (asked_.size() == 1)
      Show();
    return std::nullopt;
  }
  bool allow = mode_ == ConfirmMode::kAllow;
  Log(question + (allow ? " allowed" : " denied") + " without asking");
  return allow;
}

void Confirmations::Withdraw(uint64_t seq) {
  bool shown = !asked_.empty() && asked_.front().seq == seq;
  asked_.erase(std::remove_if(asked_.begin(), asked_.end(),
                              [seq](const Question& question) {
                                return question.seq == seq;
                              }),
               asked_.end());
  if (shown)
    Show();
}

void Confirmations::AddTo(sgclaw::posix::WaitSet* wait_set) const {
  if (!asked_.empty())
    wait_set->WaitToRead(STDIN_FILENO);
}

std::optional<Confirmations::Answer> Confirmations::Read() {
  // The terminal is not made non-blocking, since others share it: a look first.
  pollfd terminal = {STDIN_FILENO, POLLIN, 0};
  if (asked_.empty() || poll(&terminal, 1, 0) != 1)
    return std::nullopt;
  // It hands out whole lines.
  char buffer[256];
  auto read = sgclaw::posix::ReadOnce(STDIN_FILENO, buffer, sizeof(buffer));
  line_.append(buffer, read.count);
  if (read.status == IoStatus::kWouldBlock ||
      (read.status == IoStatus::kMoved &&
       line_.find('\n') == std::string::npos))
    return std::nullopt;
  Answer answer = {asked_.front().seq, MeansYes(line_)};
  line_.clear();
  return answer;
}

// Puts the next question on the screen. What was typed before is no answer to
// it.
void Confirmations::Show() {
  if (asked_.empty())
    return;
  line_.clear();
  tcflush(STDIN_FILENO, TCIFLUSH);
  Log(asked_.front().text +
      " Type y and Enter to allow, anything else denies.");
}

}  // namespace cpp_host
