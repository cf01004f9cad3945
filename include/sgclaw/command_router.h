#ifndef SGCLAW_COMMAND_ROUTER_H_
#define SGCLAW_COMMAND_ROUTER_H_

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "sgclaw/command.h"
#include "sgclaw/registry.h"

namespace sgclaw {

// Gives each command to the handler of its action: for a host that carries
// actions out by its own means instead of DevToolsExecutor.
class CommandRouter {
 public:
  // Carries a command out, now or later, and answers `completion`.
  using Handler = std::function<void(Command command, Completion completion)>;
  // Leaves a command that was answered otherwise.
  using CancelHandler = std::function<void(uint64_t seq)>;

  CommandRouter();
  CommandRouter(const CommandRouter&) = delete;
  CommandRouter& operator=(const CommandRouter&) = delete;
  ~CommandRouter();

  // An action of the contract. False where it has none of this name, where a
  // handler is there already, or where `handler` is empty; `error`, where it is
  // not null, says which.
  [[nodiscard]] bool Handle(std::string_view action,
                            Handler handler,
                            std::string* error = nullptr);

  // An action of the host's own; `schema` as in Registry::Add().
  [[nodiscard]] bool Handle(std::string_view action,
                            std::string_view schema,
                            Handler handler,
                            std::string* error = nullptr);

  // Called for every cancelled command, whatever its action.
  void SetCancelHandler(CancelHandler handler);

  // Exactly the actions that have a handler, for HostOptions::registry: what no
  // handler can do is then refused at the door.
  const Registry& registry() const { return registry_; }

  // From Host::Delegate::OnCommand(). A command without a handler is answered
  // INTERNAL_EXECUTOR_GONE.
  void Dispatch(Command command, Completion completion) const;

  // From Host::Delegate::OnCancel().
  void Cancel(uint64_t seq) const;

 private:
  Registry registry_;
  std::map<std::string, Handler, std::less<>> handlers_;
  CancelHandler cancel_handler_;
};

}  // namespace sgclaw

#endif  // SGCLAW_COMMAND_ROUTER_H_
