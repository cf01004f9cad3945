#include "sgclaw/command_router.h"

#include <utility>

namespace sgclaw {

CommandRouter::CommandRouter() = default;
CommandRouter::~CommandRouter() = default;

namespace {

bool IsThere(const CommandRouter::Handler& handler, std::string* error) {
  if (!handler && error)
    *error = "the handler is empty";
  return handler != nullptr;
}

}  // namespace

bool CommandRouter::Handle(std::string_view action,
                           Handler handler,
                           std::string* error) {
  if (!IsThere(handler, error) || !registry_.AddStandard(action, error))
    return false;
  handlers_.emplace(action, std::move(handler));
  return true;
}

bool CommandRouter::Handle(std::string_view action,
                           std::string_view schema,
                           Handler handler,
                           std::string* error) {
  if (!IsThere(handler, error) || !registry_.Add(action, schema, error))
    return false;
  handlers_.emplace(action, std::move(handler));
  return true;
}

void CommandRouter::SetCancelHandler(CancelHandler handler) {
  cancel_handler_ = std::move(handler);
}

void CommandRouter::Dispatch(Command command, Completion completion) const {
  auto found = handlers_.find(command.action());
  if (found == handlers_.end()) {
    completion.Fail(ErrorCode::kInternalExecutorGone,
                    "no handler is registered for the action: give the host "
                    "CommandRouter::registry()");
    return;
  }
  // A copy, since the handler may destroy the router.
  Handler handler = found->second;
  handler(std::move(command), std::move(completion));
}

void CommandRouter::Cancel(uint64_t seq) const {
  if (CancelHandler handler = cancel_handler_)
    handler(seq);
}

}  // namespace sgclaw
