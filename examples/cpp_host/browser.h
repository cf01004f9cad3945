#ifndef SGCLAW_EXAMPLES_CPP_HOST_BROWSER_H_
#define SGCLAW_EXAMPLES_CPP_HOST_BROWSER_H_

#include <cstdint>
#include <optional>
#include <string_view>

#include "sgclaw/command.h"
#include "sgclaw/policy.h"
#include "sgclaw/posix/wait_set.h"

namespace cpp_host {

// What carries the commands of a session out. In one loop around a WaitSet.
class Browser {
 public:
  class Delegate {
   public:
    virtual ~Delegate() = default;

    // The document is on this host now; on none where it is empty.
    virtual void OnPageChanged(std::optional<std::string_view> domain) = 0;
    // Commands fail from now on.
    virtual void OnBrowserGone() = 0;
  };

  virtual ~Browser() = default;

  virtual void Execute(sgclaw::Command command,
                       sgclaw::Completion completion) = 0;
  virtual void Cancel(uint64_t seq) = 0;
  virtual void SetPolicy(const sgclaw::Policy& policy) = 0;
  virtual void AddTo(sgclaw::posix::WaitSet* wait_set) const = 0;
  virtual void Turn() = 0;
};

}  // namespace cpp_host

#endif  // SGCLAW_EXAMPLES_CPP_HOST_BROWSER_H_
