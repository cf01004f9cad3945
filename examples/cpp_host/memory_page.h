#ifndef SGCLAW_EXAMPLES_CPP_HOST_MEMORY_PAGE_H_
#define SGCLAW_EXAMPLES_CPP_HOST_MEMORY_PAGE_H_

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "browser.h"
#include "json.h"
#include "sgclaw/command_router.h"
#include "sgclaw/time.h"
#include "sgclaw/url_parser.h"

namespace cpp_host {

// A page in memory, for machines without a browser and for tests of the pipe.
// It is no browser and does not pretend to be one: it has h1, the fields #user
// and #password, the button #login, and #greeting after the click.
//
// It is also how an embedder carries actions out itself: a handler for each in
// a CommandRouter.
class MemoryPage : public Browser {
 public:
  // `delegate` and `clock` outlive this. The page has no host until Open().
  MemoryPage(Delegate* delegate, const sgclaw::Clock* clock);

  // Shows the page at `url` afresh.
  void Open(std::string_view url);

  // Browser:
  void Execute(sgclaw::Command command, sgclaw::Completion completion) override;
  void Cancel(uint64_t seq) override;
  void SetPolicy(const sgclaw::Policy&) override {}
  void AddTo(sgclaw::posix::WaitSet* wait_set) const override;
  void Turn() override;

 private:
  // A failure, or the action's data.
  struct Answer {
    std::optional<sgclaw::Failure> failure;
    std::string data = "{}";
  };

  // An action on an element. Empty: the element is not as it has to be, yet.
  using Action = std::optional<Answer> (MemoryPage::*)(const Params& params);

  // A command that waits for its element.
  struct Waiting {
    sgclaw::Command command;
    sgclaw::Completion completion;
    sgclaw::Time until;
  };

  // `action` is null where the page does not do it.
  void Handle(const std::string& name, Action action);
  void Act(Action action,
           sgclaw::Command command,
           sgclaw::Completion completion);
  void Navigate(sgclaw::Command command, sgclaw::Completion completion);

  std::optional<Answer> Click(const Params& params);
  std::optional<Answer> GetAttribute(const Params& params);
  std::optional<Answer> GetText(const Params& params);
  std::optional<Answer> Type(const Params& params);
  std::optional<Answer> WaitFor(const Params& params);

  // The text of the element; empty where it is not there.
  std::optional<std::string> Content(const Params& params) const;

  Delegate* const delegate_;
  const sgclaw::Clock* const clock_;
  const std::shared_ptr<sgclaw::UrlParser> url_parser_ =
      sgclaw::LibraryUrlParser();
  sgclaw::CommandRouter router_;
  std::vector<Waiting> waiting_;
  // Empty where the page has none.
  std::string host_;
  std::string user_;
  std::string password_;
  std::optional<std::string> greeting_;
};

}  // namespace cpp_host

#endif  // SGCLAW_EXAMPLES_CPP_HOST_MEMORY_PAGE_H_
