#ifndef SGCLAW_EXAMPLES_CPP_HOST_CONFIRMATIONS_H_
#define SGCLAW_EXAMPLES_CPP_HOST_CONFIRMATIONS_H_

#include <cstdint>
#include <deque>
#include <optional>
#include <string>

#include "sgclaw/host.h"
#include "sgclaw/posix/wait_set.h"

namespace cpp_host {

// Who confirms where the policy asks for it.
enum class ConfirmMode {
  // The person at the terminal; nobody where there is none.
  kAsk,
  kAllow,
  kDeny,
};

// The questions to the person at the terminal, one at a time, in the order in
// which they came.
class Confirmations {
 public:
  struct Answer {
    uint64_t seq;
    bool allow;
  };

  explicit Confirmations(ConfirmMode mode);

  // Takes a question; the answer, where nobody needs to be asked.
  std::optional<bool> Ask(const sgclaw::ConfirmationRequest& request);
  // Takes it down.
  void Withdraw(uint64_t seq);

  void AddTo(sgclaw::posix::WaitSet* wait_set) const;
  // Reads what was typed; the answer to the question on the screen, where the
  // line is whole.
  std::optional<Answer> Read();

 private:
  struct Question {
    uint64_t seq;
    std::string text;
  };

  void Show();

  const ConfirmMode mode_;
  const bool has_terminal_;
  // The first one is on the screen.
  std::deque<Question> asked_;
  std::string line_;
};

}  // namespace cpp_host

#endif  // SGCLAW_EXAMPLES_CPP_HOST_CONFIRMATIONS_H_
