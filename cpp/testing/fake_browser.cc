#include "third_party/sgclaw/cpp/testing/fake_browser.h"

#include "third_party/sgclaw/cpp/testing/host_bench.h"

namespace sgclaw::testing {

namespace {

constexpr std::string_view kSession = R"(,"sessionId":"S"})";

bool EndsWith(std::string_view text, std::string_view end) {
  return text.size() >= end.size() &&
         text.substr(text.size() - end.size()) == end;
}

}  // namespace

void FakeBrowser::Event(std::string_view method, std::string_view params) {
  answer(R"({"method":")" + std::string(method) + R"(","params":)" +
         std::string(params) + std::string(kSession));
}

void FakeBrowser::Send(std::string_view message) {
  std::string method = Field(message, "method");
  std::string name = method;
  constexpr std::string_view kFunction = R"("arguments":[{"value":")";
  size_t at = message.find(kFunction);
  if (at != std::string_view::npos) {
    std::string_view function = message.substr(at + kFunction.size());
    name = function.substr(0, function.find('"'));
  }
  called.push_back(name);
  if (name == held)
    return;
  bool of_page = EndsWith(message, kSession);
  std::string reply = R"({"id":)" + Field(message, "id") + R"(,"result":)" +
                      Result(method, name);
  answer(reply.append(of_page ? kSession : "}"));
  if (method == "Target.setAutoAttach" && !of_page) {
    answer(R"({"method":"Target.attachedToTarget","params":{"sessionId":"S",)"
           R"("waitingForDebugger":false,"targetInfo":{"targetId":"T",)"
           R"("type":"page","url":")" +
           origin + R"(/","title":""}}})");
  }
}

std::string FakeBrowser::Result(std::string_view method,
                                std::string_view function) const {
  if (method == "Page.getFrameTree") {
    return R"({"frameTree":{"frame":{"id":"T","loaderId":"L","url":")" +
           origin + R"(/","securityOrigin":")" + origin + R"("}}})";
  }
  if (method == "Page.createIsolatedWorld")
    return R"({"executionContextId":7})";
  if (method == "Runtime.evaluate")
    return R"({"result":{"objectId":"api"}})";
  if (method != "Runtime.callFunctionOn")
    return "{}";
  std::string value = "null";
  if (function == "text")
    value = R"({"ok":true,"text":"hi","truncated":false})";
  else if (function == "aim")
    value = R"({"ok":true,"x":5,"y":6,"width":800,"height":600})";
  else if (function == "disarm")
    value = R"({"seen":true,"reached":true})";
  return R"({"result":{"value":{"value":)" + value + R"(,"origin":")" + origin +
         R"(","href":")" + origin + R"(/","now":1.5}}})";
}

}  // namespace sgclaw::testing
