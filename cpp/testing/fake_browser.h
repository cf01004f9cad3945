#ifndef SGCLAW_CPP_TESTING_FAKE_BROWSER_H_
#define SGCLAW_CPP_TESTING_FAKE_BROWSER_H_

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "sgclaw/devtools_executor.h"

namespace sgclaw::testing {

// A browser with one page, as far as commands on one element need it. It
// answers within Send(), as a transport in the same process may.
class FakeBrowser : public DevToolsTransport {
 public:
  // Where answers go: DevToolsExecutor::HandleMessage().
  std::function<void(std::string_view)> answer;
  // Calls of this method, or of this function of the injected script, are not
  // answered.
  std::string held;
  // What was called, in order.
  std::vector<std::string> called;
  // Of the page.
  std::string origin = "https://erp.example.com";

  // An event of the page.
  void Event(std::string_view method, std::string_view params);

 private:
  void Send(std::string_view message) override;

  std::string Result(std::string_view method, std::string_view function) const;
};

}  // namespace sgclaw::testing

#endif  // SGCLAW_CPP_TESTING_FAKE_BROWSER_H_
