/* Generated from src/ffi/c/ by `cargo xtask generate`. Do not edit.
 *
 * The C interface of sgclaw. docs/c-api.md holds the conventions: results, ownership, NULL, text,
 * lifetimes of views, threads, time, versions. What stands here is particular to each function.
 */

#ifndef SGCLAW_SGCLAW_H_
#define SGCLAW_SGCLAW_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The version of this interface: the number in the name of the shared library.
#define SGCLAW_ABI_VERSION 0

// What became of a call. Numbers keep their meaning; those of removed ones are not used again.
enum sgclaw_status
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // Done.
  SGCLAW_STATUS_OK = 0,
  // Nothing there: the queue is drained, or the index is past the end.
  SGCLAW_STATUS_NONE = 1,
  // A pointer is NULL that must not be.
  SGCLAW_STATUS_NULL_POINTER = 2,
  // A pointer is not aligned for what it points to.
  SGCLAW_STATUS_MISALIGNED_POINTER = 3,
  // The handle is of another kind.
  SGCLAW_STATUS_WRONG_HANDLE = 4,
  // Another call is using the handle: of another thread, or the one that called this callback.
  SGCLAW_STATUS_BUSY = 5,
  // A length is above PTRDIFF_MAX, leads past the end of memory, or is more than there is.
  SGCLAW_STATUS_INVALID_LENGTH = 6,
  // A text is not UTF-8.
  SGCLAW_STATUS_INVALID_UTF8 = 7,
  // A number is none of those that the parameter or the field may have.
  SGCLAW_STATUS_INVALID_NUMBER = 8,
  // A reserved field is not zero: was the struct initialized, or is the library too old?
  SGCLAW_STATUS_RESERVED_NOT_ZERO = 9,
  // The call does not belong to the state of the handle.
  SGCLAW_STATUS_WRONG_STATE = 10,
  // No URL parser was given, and the library was built without one of its own.
  SGCLAW_STATUS_NO_URL_PARSER = 11,
  // The text is not one strict JSON value, or not an object where one is expected.
  SGCLAW_STATUS_INVALID_JSON = 12,
  // The text is no name of an action: a letter, then at most 63 letters, digits or '_'.
  SGCLAW_STATUS_INVALID_ACTION_NAME = 13,
  // The registry has an action of this name.
  SGCLAW_STATUS_ACTION_EXISTS = 14,
  // The schema does not compile, or does not say what becomes of further fields.
  SGCLAW_STATUS_INVALID_SCHEMA = 15,
  // The document is not a policy.
  SGCLAW_STATUS_INVALID_POLICY = 16,
  // A seed has 16 to 64 bytes.
  SGCLAW_STATUS_INVALID_SEED = 17,
  // The text is not a host as a browser writes it: lower case, ASCII, no port, no trailing dot.
  SGCLAW_STATUS_INVALID_DOMAIN = 18,
  // The URL parser refuses the URL, or it is relative.
  SGCLAW_STATUS_INVALID_URL = 19,
  // The agent stopped the action after INTERNAL_* failures; see `sgclaw_agent_reset_action`.
  SGCLAW_STATUS_ACTION_STOPPED = 20,
  // The command would be longer than 1,048,576 bytes.
  SGCLAW_STATUS_TOO_LARGE = 21,
  // The params nest deeper than 63 levels.
  SGCLAW_STATUS_TOO_DEEP = 22,
  // The session has used all its seqs.
  SGCLAW_STATUS_SEQ_EXHAUSTED = 23,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum sgclaw_status sgclaw_status;
#else
typedef uint32_t sgclaw_status;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// What the embedder of a host has to do. Ignore kinds that you do not know.
enum sgclaw_host_event_kind
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // The session entered `state`; `code` is the reason of a crash; `message` is worth a line in the
  // log.
  SGCLAW_HOST_EVENT_KIND_STATE_CHANGED = 1,
  // Execute `action` with `params` on `expected_domain` within `timeout_us`, and answer `seq` with
  // `sgclaw_host_complete` or `sgclaw_host_fail`. See `sgclaw_host_take_command`.
  SGCLAW_HOST_EVENT_KIND_EXECUTE = 2,
  // Tell the executor to leave `seq`; its completion would be dropped.
  SGCLAW_HOST_EVENT_KIND_CANCEL = 3,
  // Ask a person about `seq`, `action`, `expected_domain`, `params`; the answer goes to
  // `sgclaw_host_allow` or `sgclaw_host_deny`.
  SGCLAW_HOST_EVENT_KIND_CONFIRMATION_ASKED = 4,
  // Take the question of `seq` down: it was answered, cancelled, or nobody came.
  SGCLAW_HOST_EVENT_KIND_CONFIRMATION_OVER = 5,
  // `action` failed more than 10 times in a row and is off until `sgclaw_host_reset_breaker`.
  SGCLAW_HOST_EVENT_KIND_BREAKER_OPENED = 6,
  // Close the child's stdin once the output is written.
  SGCLAW_HOST_EVENT_KIND_CLOSE_STDIN = 7,
  // Ask the child's process group to terminate.
  SGCLAW_HOST_EVENT_KIND_TERMINATE = 8,
  // Write what output can be written without waiting, then kill the child's process group.
  SGCLAW_HOST_EVENT_KIND_KILL = 9,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum sgclaw_host_event_kind sgclaw_host_event_kind;
#else
typedef uint32_t sgclaw_host_event_kind;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// Where a session stands.
enum sgclaw_state
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // Not started.
  SGCLAW_STATE_IDLE = 0,
  // `init` is written; a valid `init_ack` is awaited.
  SGCLAW_STATE_HANDSHAKING = 1,
  // Commands are taken.
  SGCLAW_STATE_RUNNING = 2,
  // The end is on its way; lines that come are dropped.
  SGCLAW_STATE_STOPPING = 3,
  // Ended as it should.
  SGCLAW_STATE_STOPPED = 4,
  // Ended otherwise.
  SGCLAW_STATE_CRASHED = 5,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum sgclaw_state sgclaw_state;
#else
typedef uint32_t sgclaw_state;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// What happened at an executor. Ignore kinds that you do not know.
enum sgclaw_executor_event_kind
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // The first tab is attached; commands that waited begin.
  SGCLAW_EXECUTOR_EVENT_KIND_READY = 1,
  // The top document of the tab is on `domain`, or on no host where that is empty: give it to
  // `sgclaw_host_set_page`.
  SGCLAW_EXECUTOR_EVENT_KIND_PAGE_CHANGED = 2,
  // The command `seq` is done. `code` is 0 and `data` for `sgclaw_host_complete`; or `code`,
  // `message` and `details` are for `sgclaw_host_fail`.
  SGCLAW_EXECUTOR_EVENT_KIND_COMPLETED = 3,
  // The browser is gone; nothing will be executed any more.
  SGCLAW_EXECUTOR_EVENT_KIND_DISCONNECTED = 4,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum sgclaw_executor_event_kind sgclaw_executor_event_kind;
#else
typedef uint32_t sgclaw_executor_event_kind;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// What happened at an agent. Ignore kinds that you do not know.
enum sgclaw_agent_event_kind
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // The handshake is done; `sgclaw_agent_request` works.
  SGCLAW_AGENT_EVENT_KIND_READY = 1,
  // `call` was answered for good, after `attempts` commands, the last one with `seq`. `code` is 0
  // and `data` what came, perhaps nothing; or `code`, `message` and perhaps `details` say why not.
  SGCLAW_AGENT_EVENT_KIND_DONE = 2,
  // `action` failed with INTERNAL_* after its retry and is refused until
  // `sgclaw_agent_reset_action`.
  SGCLAW_AGENT_EVENT_KIND_ACTION_STOPPED = 3,
  // `message` is worth a line in the agent's log.
  SGCLAW_AGENT_EVENT_KIND_LOG = 4,
  // The session is over. `code` 0: exit with 0; else exit with another status, `message` says why.
  SGCLAW_AGENT_EVENT_KIND_ENDED = 5,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum sgclaw_agent_event_kind sgclaw_agent_event_kind;
#else
typedef uint32_t sgclaw_agent_event_kind;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// The error codes of the contract (sections 6 to 10), with the numbers that C and C++ know
// them by.
enum sgclaw_error_code
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint8_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // The line is not one strict JSON object in UTF-8.
  SGCLAW_ERROR_CODE_PIPE_INVALID_JSON = 1,
  // The line is longer than 1,048,576 bytes.
  SGCLAW_ERROR_CODE_PIPE_MESSAGE_TOO_LARGE = 2,
  // A field of the message is missing, unknown or of the wrong shape.
  SGCLAW_ERROR_CODE_PIPE_SCHEMA_INVALID = 3,
  // The message does not belong to this direction or this state.
  SGCLAW_ERROR_CODE_PIPE_UNEXPECTED_MESSAGE = 4,
  // security.hmac is missing, ill-formed or does not match.
  SGCLAW_ERROR_CODE_PIPE_HMAC_INVALID = 5,
  // The seq was used in this session. The answer speaks of the duplicate, never of the original.
  SGCLAW_ERROR_CODE_PIPE_SEQ_DUPLICATE = 6,
  // The seq is not above the last one, or the first is not 1.
  SGCLAW_ERROR_CODE_PIPE_SEQ_OUT_OF_ORDER = 7,
  // No valid init_ack came within 5000 ms.
  SGCLAW_ERROR_CODE_PIPE_HANDSHAKE_TIMEOUT = 8,
  // The two sides speak different versions.
  SGCLAW_ERROR_CODE_PIPE_VERSION_MISMATCH = 9,
  // The agent ended, or closed its side of the pipe.
  SGCLAW_ERROR_CODE_PIPE_CLOSED = 10,
  // security.expected_domain is missing or is not a lower-case ASCII host.
  SGCLAW_ERROR_CODE_MAC_EXPECTED_DOMAIN_INVALID = 11,
  // The action was not negotiated, or the policy does not allow it on this domain.
  SGCLAW_ERROR_CODE_MAC_ACTION_DENIED = 12,
  // The policy does not allow the scheme of the URL.
  SGCLAW_ERROR_CODE_MAC_URL_DENIED = 13,
  // The policy does not know the domain.
  SGCLAW_ERROR_CODE_MAC_DOMAIN_DENIED = 14,
  // The document acted upon is not on expected_domain.
  SGCLAW_ERROR_CODE_MAC_DOMAIN_MISMATCH = 15,
  // A person refused the command.
  SGCLAW_ERROR_CODE_MAC_CONFIRMATION_DENIED = 16,
  // Nobody confirmed the command in time.
  SGCLAW_ERROR_CODE_MAC_CONFIRMATION_TIMEOUT = 17,
  // The host has no such action.
  SGCLAW_ERROR_CODE_CMD_ACTION_UNKNOWN = 18,
  // The params do not satisfy the schema of the action; details.errors says where.
  SGCLAW_ERROR_CODE_CMD_PARAMS_INVALID = 19,
  // The selector is not CSS.
  SGCLAW_ERROR_CODE_CMD_SELECTOR_INVALID = 20,
  // The element was not there, or not ready for the action, in time; details.reason says why.
  SGCLAW_ERROR_CODE_CMD_SELECTOR_TIMEOUT = 21,
  // The navigation did not arrive; details.reason says why.
  SGCLAW_ERROR_CODE_CMD_NAVIGATION_FAILED = 22,
  // The command was not completed by its deadline.
  SGCLAW_ERROR_CODE_CMD_TIMEOUT = 23,
  // The host cancelled the command: a person stopped it, or its tab closed.
  SGCLAW_ERROR_CODE_CMD_CANCELLED = 24,
  // The result does not fit into a message.
  SGCLAW_ERROR_CODE_CMD_RESULT_TOO_LARGE = 25,
  // The action could not be carried out on this element; details.reason says why.
  SGCLAW_ERROR_CODE_CMD_EXECUTION_FAILED = 26,
  // The renderer of the page died.
  SGCLAW_ERROR_CODE_CMD_PAGE_CRASHED = 27,
  // The host failed in a way it has no name for.
  SGCLAW_ERROR_CODE_INTERNAL_UNKNOWN = 28,
  // The action failed more than 10 times in a row and is switched off.
  SGCLAW_ERROR_CODE_INTERNAL_CIRCUIT_OPEN = 29,
  // Too many commands are in flight.
  SGCLAW_ERROR_CODE_INTERNAL_OVERLOADED = 30,
  // What executes the commands (the browser) is gone.
  SGCLAW_ERROR_CODE_INTERNAL_EXECUTOR_GONE = 31,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum sgclaw_error_code sgclaw_error_code;
#else
typedef uint8_t sgclaw_error_code;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// How the key of a session comes from its seed (contract section 5). Both sides must agree.
enum sgclaw_key_derivation
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // HKDF-SHA256: the default.
  SGCLAW_KEY_DERIVATION_HKDF = 0,
  // The decoded seed itself, for peers that were built that way.
  SGCLAW_KEY_DERIVATION_SEED = 1,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum sgclaw_key_derivation sgclaw_key_derivation;
#else
typedef uint32_t sgclaw_key_derivation;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// The agent's side of a session: numbers, signs, correlates and retries (contract sections 4, 5
// and 10).
//
// After each call that changes something, drain `sgclaw_agent_poll_event` and
// `sgclaw_agent_output`, then ask `sgclaw_agent_poll_timeout`.
typedef struct sgclaw_agent sgclaw_agent;

// A command that has passed every check: the only thing that an executor takes.
typedef struct sgclaw_command sgclaw_command;

// Runs authorized commands in a Chromium, over DevTools protocol messages (contract section 8),
// whatever carries them.
//
// After each call that changes something, drain `sgclaw_executor_poll_message` and
// `sgclaw_executor_poll_event`, then ask `sgclaw_executor_poll_timeout`.
typedef struct sgclaw_executor sgclaw_executor;

// The host's side of a session (contract section 4): bytes of an untrusted process go in, commands
// that have earned their execution come out.
//
// After each call that changes something, drain `sgclaw_host_poll_event`, `sgclaw_host_poll_trace`
// and `sgclaw_host_output`, then ask `sgclaw_host_poll_timeout`.
typedef struct sgclaw_host sgclaw_host;

// Where a URL parser puts what it found.
typedef struct sgclaw_parsed_url sgclaw_parsed_url;

// What an agent may do, and where (contract section 9).
typedef struct sgclaw_policy sgclaw_policy;

// The actions that a host knows, and the schemas of their params.
typedef struct sgclaw_registry sgclaw_registry;

// A text that the caller owns.
typedef struct sgclaw_text sgclaw_text;

// A view of text in UTF-8, without a zero byte at its end. `data` is NULL where there is none.
typedef struct sgclaw_str {
  // The first byte.
  const char *data;
  // How many bytes.
  size_t len;
} sgclaw_str;

// The URL parser of the host: in a browser the browser's own, so that no second one can disagree
// with it about where a URL leads. Where a pointer to one is NULL, the library's own serves.
typedef struct sgclaw_url_parser {
  // Given to `parse`.
  void *context;
  // Parses an absolute URL and calls `sgclaw_parsed_url_set`, or does not where it refuses the
  // URL. `url` and `parsed` are good until it returns.
  void (*parse)(void *context, const char *url, size_t url_len, struct sgclaw_parsed_url *parsed);
} sgclaw_url_parser;

// A view of bytes. `data` is NULL where there are none.
typedef struct sgclaw_bytes {
  // The first byte.
  const uint8_t *data;
  // How many.
  size_t len;
} sgclaw_bytes;

// What a session is made with. Begin with `sgclaw_host_config_init`.
typedef struct sgclaw_host_config {
  // The session's name in the trace: letters, digits, '_', '-', at most 64; others are left out.
  struct sgclaw_str session;
  // 16 to 64 bytes, best 32, of the system's random source, new for each session. Wipe your copy.
  struct sgclaw_bytes seed;
  // The actions of this host. Copied.
  const struct sgclaw_registry *registry;
  // What the agent may do. Copied.
  const struct sgclaw_policy *policy;
  // The browser's own URL parser, which must outlive the host; NULL: the library's.
  const struct sgclaw_url_parser *urls;
  // A `sgclaw_key_derivation`.
  uint32_t key_derivation;
  // 1: refuse a seq that is not the last one + 1. Default 0.
  uint32_t contiguous_seq;
  // Rejected lines in a row that end the session: 16.
  uint32_t max_rejections;
  // Commands in flight, waiting for confirmation included: 64.
  size_t capacity;
  // Commands that the executor has at a time: 1.
  size_t concurrency;
  // Bytes of answers that may wait before `sgclaw_host_wants_input` says no: 4 MiB.
  size_t max_output_bytes;
  // From `init` to a valid `init_ack`: 5 s.
  uint64_t handshake_timeout_us;
  // How long a person may take to confirm: 60 s.
  uint64_t confirmation_timeout_us;
  // What the executor gets beyond the command's own time: 1 s.
  uint64_t grace_us;
  // From the end of stdin to the next step of a stop: 2 s.
  uint64_t stop_grace_us;
  // From the request to terminate to the kill: 1 s.
  uint64_t terminate_grace_us;
  // Zero.
  uint64_t reserved[8];
} sgclaw_host_config;

// What the embedder of a host has to do. Fields that the kind does not name are zero.
typedef struct sgclaw_host_event {
  // Which.
  sgclaw_host_event_kind kind;
  // The state that was entered.
  sgclaw_state state;
  // A `sgclaw_error_code`, or 0.
  uint32_t code;
  // Which command.
  uint64_t seq;
  // How long the executor may take.
  uint64_t timeout_us;
  // The name of an action.
  struct sgclaw_str action;
  // The domain that the document acted upon must have.
  struct sgclaw_str expected_domain;
  // Canonical JSON. It may hold typed text.
  struct sgclaw_str params;
  // One readable line.
  struct sgclaw_str message;
  // Zero.
  uint64_t reserved[8];
} sgclaw_host_event;

// What an executor is made with. Begin with `sgclaw_executor_config_init`.
typedef struct sgclaw_executor_config {
  // The policy in force until `sgclaw_executor_set_policy`. Copied.
  const struct sgclaw_policy *policy;
  // The browser's own URL parser, which must outlive the executor; NULL: the library's.
  const struct sgclaw_url_parser *urls;
  // Commands that wait for their turn, at most: 64.
  size_t max_waiting;
  // 0: the messages go to the browser's DevTools session, and every tab is in reach. 1: to the
  // session of one page, which is the only tab there is; the embedder keeps it from opening windows
  // and refuses its downloads.
  uint64_t one_page;
  // Zero.
  uint64_t reserved[7];
} sgclaw_executor_config;

// What happened at an executor. Fields that the kind does not name are zero.
typedef struct sgclaw_executor_event {
  // What.
  sgclaw_executor_event_kind kind;
  // A `sgclaw_error_code`, or 0.
  uint32_t code;
  // Which command.
  uint64_t seq;
  // A host.
  struct sgclaw_str domain;
  // A JSON object.
  struct sgclaw_str data;
  // For people.
  struct sgclaw_str message;
  // A JSON object.
  struct sgclaw_str details;
  // Zero.
  uint64_t reserved[8];
} sgclaw_executor_event;

// What an agent says of itself. Begin with `sgclaw_agent_config_init`.
typedef struct sgclaw_agent_config {
  // A UUID of version 4. The host refuses anything else.
  struct sgclaw_str agent_id;
  // The names of the actions that it may ask for; at least one, or the host refuses.
  const struct sgclaw_str *supported_actions;
  // How many.
  size_t supported_actions_count;
  // The URL parser, which must outlive the agent; NULL: the library's.
  const struct sgclaw_url_parser *urls;
  // A `sgclaw_key_derivation`.
  uint32_t key_derivation;
  // Zero.
  uint64_t reserved[8];
} sgclaw_agent_config;

// What happened at an agent. Fields that the kind does not name are zero.
typedef struct sgclaw_agent_event {
  // What.
  sgclaw_agent_event_kind kind;
  // A `sgclaw_error_code`, or 0.
  uint32_t code;
  // What `sgclaw_agent_request` gave.
  uint64_t call;
  // The seq of the last attempt.
  uint64_t seq;
  // How many commands it took.
  uint32_t attempts;
  // The name of an action.
  struct sgclaw_str action;
  // A JSON object.
  struct sgclaw_str data;
  // For people.
  struct sgclaw_str message;
  // A JSON object.
  struct sgclaw_str details;
  // Zero.
  uint64_t reserved[8];
} sgclaw_agent_event;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// `SGCLAW_ABI_VERSION` of the library that is linked.
uint32_t sgclaw_abi_version(void);

// The version of the library, such as "0.1.0".
struct sgclaw_str sgclaw_version(void);

// The version of the pipe contract, such as "1.0".
struct sgclaw_str sgclaw_contract_version(void);

// The name of a `sgclaw_status`, such as "NULL_POINTER"; empty for other numbers.
struct sgclaw_str sgclaw_status_name(uint32_t status);

// What a `sgclaw_status` says, for a log; empty for other numbers.
struct sgclaw_str sgclaw_status_meaning(uint32_t status);

// The code as it stands on the wire, such as "CMD_TIMEOUT"; empty for a number that is no code.
struct sgclaw_str sgclaw_error_code_name(uint32_t code);

// What the code says, in one sentence; empty for a number that is no code.
struct sgclaw_str sgclaw_error_code_meaning(uint32_t code);

// A view of the text.
sgclaw_status sgclaw_text_str(const struct sgclaw_text *text, struct sgclaw_str *str);

// Frees the text and sets the variable to NULL.
sgclaw_status sgclaw_text_free(struct sgclaw_text **text);

// Writes JSON in canonical form: what an HMAC covers (contract section 5).
//
// `json` is one value. `INVALID_JSON` where it is not strict JSON; `why` names the byte.
sgclaw_status sgclaw_canonicalize(const char *json,
                                  size_t json_len,
                                  struct sgclaw_text **canonical,
                                  struct sgclaw_text **why);

// Called by a URL parser: `scheme` in lower case without the colon, `host` as the browser writes
// it, empty where the URL has none (about:blank, file:).
sgclaw_status sgclaw_parsed_url_set(struct sgclaw_parsed_url *parsed,
                                    const char *scheme,
                                    size_t scheme_len,
                                    const char *host,
                                    size_t host_len);

// The core actions and the standard extras of contract section 8.
sgclaw_status sgclaw_registry_standard(struct sgclaw_registry **registry);

// No actions.
sgclaw_status sgclaw_registry_empty(struct sgclaw_registry **registry);

// Adds an action of the host's own.
//
// `schema` is a JSON Schema (draft 2020-12) of the params. Its root is of type `object`, and
// wherever an object is admitted it says what becomes of further fields.
// `INVALID_ACTION_NAME`, `ACTION_EXISTS`; `INVALID_SCHEMA`, and `why` says where.
sgclaw_status sgclaw_registry_add(struct sgclaw_registry *registry,
                                  const char *name,
                                  size_t name_len,
                                  const char *schema,
                                  size_t schema_len,
                                  struct sgclaw_text **why);

// The name of the action at `index`, in alphabetical order from 0; `NONE` past the last one.
sgclaw_status sgclaw_registry_name(const struct sgclaw_registry *registry,
                                   size_t index,
                                   struct sgclaw_str *name);

// The schema of an action as it was added; `NONE` where there is no such action.
sgclaw_status sgclaw_registry_schema(const struct sgclaw_registry *registry,
                                     const char *name,
                                     size_t name_len,
                                     struct sgclaw_str *schema);

// Frees the registry and sets the variable to NULL.
sgclaw_status sgclaw_registry_free(struct sgclaw_registry **registry);

// Reads a policy document.
//
// `INVALID_POLICY` where it is not strict JSON or does not satisfy
// `schemas/pipe/1.0/policy.schema.json`; `why` says where.
sgclaw_status sgclaw_policy_parse(const char *document,
                                  size_t document_len,
                                  const struct sgclaw_url_parser *urls,
                                  struct sgclaw_policy **policy,
                                  struct sgclaw_text **why);

// A policy that allows nothing.
sgclaw_status sgclaw_policy_deny_all(struct sgclaw_policy **policy);

// A policy that allows every action on `localhost`, `127.0.0.1` and `[::1]`, and nothing else.
sgclaw_status sgclaw_policy_loopback(const struct sgclaw_url_parser *urls,
                                     struct sgclaw_policy **policy);

// The name at `index` among those that the policy uses and the registry does not have: misspelt,
// perhaps. Worth a warning. `NONE` past the last one.
sgclaw_status sgclaw_policy_unknown_action(const struct sgclaw_policy *policy,
                                           const struct sgclaw_registry *registry,
                                           size_t index,
                                           struct sgclaw_str *name);

// Whether `action` is allowed on `domain`, for an executor that asks again right before it acts.
//
// `code` is 0, or the `sgclaw_error_code` of the refusal.
sgclaw_status sgclaw_policy_check_domain(const struct sgclaw_policy *policy,
                                         const char *domain,
                                         size_t domain_len,
                                         const char *action,
                                         size_t action_len,
                                         uint32_t *code);

// Whether a page may be opened at `url`: the rule for `navigate` and each of its redirects.
//
// `code` is 0, or the `sgclaw_error_code` of the refusal. `INVALID_URL`.
sgclaw_status sgclaw_policy_check_navigation(const struct sgclaw_policy *policy,
                                             const char *url,
                                             size_t url_len,
                                             const struct sgclaw_url_parser *urls,
                                             uint32_t *code);

// Frees the policy and sets the variable to NULL.
sgclaw_status sgclaw_policy_free(struct sgclaw_policy **policy);

// The command's seq.
sgclaw_status sgclaw_command_seq(const struct sgclaw_command *command, uint64_t *seq);

// The name of a registered, negotiated action.
sgclaw_status sgclaw_command_action(const struct sgclaw_command *command,
                                    struct sgclaw_str *action);

// Params that satisfy the action's schema, as canonical JSON. They may hold typed text.
sgclaw_status sgclaw_command_params(const struct sgclaw_command *command,
                                    struct sgclaw_str *params);

// The domain that the document acted upon must have.
sgclaw_status sgclaw_command_expected_domain(const struct sgclaw_command *command,
                                             struct sgclaw_str *expected_domain);

// How long the executor may take, in microseconds.
sgclaw_status sgclaw_command_timeout(const struct sgclaw_command *command, uint64_t *timeout_us);

// Frees the command and sets the variable to NULL. The host still waits for its completion.
sgclaw_status sgclaw_command_free(struct sgclaw_command **command);

// Writes the defaults. `seed`, `registry` and `policy` have none.
sgclaw_status sgclaw_host_config_init(struct sgclaw_host_config *config);

// A session that is not started.
//
// `INVALID_SEED`; `INVALID_NUMBER` for `key_derivation` or `contiguous_seq`; `NO_URL_PARSER`;
// `RESERVED_NOT_ZERO`.
sgclaw_status sgclaw_host_new(const struct sgclaw_host_config *config, struct sgclaw_host **host);

// The child runs: writes `init`. `WRONG_STATE` where the session was started before.
sgclaw_status sgclaw_host_start(struct sgclaw_host *host, uint64_t now_us);

// Bytes of the child's stdout, split anywhere.
sgclaw_status sgclaw_host_handle_input(struct sgclaw_host *host,
                                       const uint8_t *bytes,
                                       size_t bytes_len,
                                       uint64_t now_us);

// The child's stdout has ended. Once; later calls do nothing.
sgclaw_status sgclaw_host_handle_end_of_input(struct sgclaw_host *host, uint64_t now_us);

// Writing to the child's stdin failed: it is closed (EPIPE). Output that waits is lost.
sgclaw_status sgclaw_host_handle_output_closed(struct sgclaw_host *host, uint64_t now_us);

// The child has exited with `exit_status` and was reaped; what its stdout still held was handed in
// before.
sgclaw_status sgclaw_host_handle_child_exited(struct sgclaw_host *host,
                                              int32_t exit_status,
                                              uint64_t now_us);

// The same for a child that was ended by a signal.
sgclaw_status sgclaw_host_handle_child_signalled(struct sgclaw_host *host,
                                                 int32_t signal,
                                                 uint64_t now_us);

// The time that `sgclaw_host_poll_timeout` named has come; calling it earlier does no harm.
sgclaw_status sgclaw_host_handle_timeout(struct sgclaw_host *host, uint64_t now_us);

// When to call `sgclaw_host_handle_timeout` at the latest; UINT64_MAX: not at all.
sgclaw_status sgclaw_host_poll_timeout(const struct sgclaw_host *host, uint64_t *at_us);

// The next thing to do. Call until `NONE`.
sgclaw_status sgclaw_host_poll_event(struct sgclaw_host *host, struct sgclaw_host_event *event);

// The command of the `EXECUTE` event that was polled last, for a `sgclaw_executor`. The caller owns
// it. The views of the event stay good.
//
// `WRONG_STATE` where that event was another one, or the command was taken.
sgclaw_status sgclaw_host_take_command(struct sgclaw_host *host, struct sgclaw_command **command);

// The next record of the trace: a line of JSON with its LF. Call until `NONE`.
sgclaw_status sgclaw_host_poll_trace(struct sgclaw_host *host, struct sgclaw_str *line);

// Bytes for the child's stdin, of length 0 where none wait; more may follow once these are
// written. The first ones hold the seed.
sgclaw_status sgclaw_host_output(const struct sgclaw_host *host, struct sgclaw_bytes *output);

// `count` bytes of `sgclaw_host_output` are written. `INVALID_LENGTH` where that is more than there
// are.
sgclaw_status sgclaw_host_output_written(struct sgclaw_host *host, size_t count);

// Whether to read from the child's stdout: not while too many answers wait to be written, so that
// an agent that does not read cannot make the host's memory grow.
sgclaw_status sgclaw_host_wants_input(const struct sgclaw_host *host, bool *wants);

// The executor is done with `seq`; `data` is a JSON object (contract section 8).
//
// For a seq that is not in flight this changes nothing and is recorded in the trace.
// `INVALID_JSON`: nothing is answered yet.
sgclaw_status sgclaw_host_complete(struct sgclaw_host *host,
                                   uint64_t seq,
                                   const char *data,
                                   size_t data_len,
                                   uint64_t now_us);

// The executor failed at `seq`, with a `sgclaw_error_code`, a message for people, and details: a
// JSON object, or empty.
//
// As `sgclaw_host_complete`. The message goes to the agent: no typed text, no text of a page.
// `INVALID_NUMBER` where `code` is none.
sgclaw_status sgclaw_host_fail(struct sgclaw_host *host,
                               uint64_t seq,
                               uint32_t code,
                               const char *message,
                               size_t message_len,
                               const char *details,
                               size_t details_len,
                               uint64_t now_us);

// A person allowed what `CONFIRMATION_ASKED` asked. For a seq of which nobody is asked this does
// nothing.
sgclaw_status sgclaw_host_allow(struct sgclaw_host *host, uint64_t seq, uint64_t now_us);

// A person refused it.
sgclaw_status sgclaw_host_deny(struct sgclaw_host *host, uint64_t seq, uint64_t now_us);

// The executor will not answer `seq`: it dropped it, or is gone. Answered with
// `INTERNAL_EXECUTOR_GONE`. For a seq that is not in flight this does nothing.
sgclaw_status sgclaw_host_abandon(struct sgclaw_host *host, uint64_t seq, uint64_t now_us);

// Cancels a command: a person stopped it, or its tab closed. For a seq that is not in flight this
// does nothing.
sgclaw_status sgclaw_host_cancel(struct sgclaw_host *host, uint64_t seq, uint64_t now_us);

// Puts another policy in force, for the next command and for those that wait. Copied.
sgclaw_status sgclaw_host_set_policy(struct sgclaw_host *host, const struct sgclaw_policy *policy);

// A copy of the policy in force, which the caller owns.
sgclaw_status sgclaw_host_policy(const struct sgclaw_host *host, struct sgclaw_policy **policy);

// The domain of the document that the tab shows now; empty where that has no host.
//
// `INVALID_DOMAIN`: the page is as it was.
sgclaw_status sgclaw_host_set_page(struct sgclaw_host *host, const char *domain, size_t domain_len);

// Lets an action work again whose breaker opened.
sgclaw_status sgclaw_host_reset_breaker(struct sgclaw_host *host,
                                        const char *action,
                                        size_t action_len);

// Ends the session: answers what is in flight, closes the child's stdin, later terminates it, then
// kills it. `Stopped` when it has exited.
sgclaw_status sgclaw_host_stop(struct sgclaw_host *host, uint64_t now_us);

// Where the session stands.
sgclaw_status sgclaw_host_state(const struct sgclaw_host *host, sgclaw_state *state);

// How many commands are in flight.
sgclaw_status sgclaw_host_in_flight(const struct sgclaw_host *host, size_t *count);

// The name of the action at `index` among those that both sides know, in alphabetical order from 0.
// `NONE` past the last one, and before `RUNNING`.
sgclaw_status sgclaw_host_negotiated_action(const struct sgclaw_host *host,
                                            size_t index,
                                            struct sgclaw_str *name);

// Frees the host and sets the variable to NULL. The child is the embedder's to end.
sgclaw_status sgclaw_host_free(struct sgclaw_host **host);

// The name of a `sgclaw_state` as it stands in the trace, such as "Running"; empty for other
// numbers.
struct sgclaw_str sgclaw_state_name(uint32_t state);

// Writes the defaults. `policy` has none.
sgclaw_status sgclaw_executor_config_init(struct sgclaw_executor_config *config);

// An executor that has not said anything to the browser yet. `NO_URL_PARSER`, `RESERVED_NOT_ZERO`.
sgclaw_status sgclaw_executor_new(const struct sgclaw_executor_config *config,
                                  struct sgclaw_executor **executor);

// Attaches to the first tab, or opens one; `READY` follows. Once; later calls do nothing.
sgclaw_status sgclaw_executor_start(struct sgclaw_executor *executor, uint64_t now_us);

// Takes one message of the browser: the JSON text, without framing. What is not JSON, or not an
// answer to anything, is ignored.
sgclaw_status sgclaw_executor_handle_message(struct sgclaw_executor *executor,
                                             const char *message,
                                             size_t message_len,
                                             uint64_t now_us);

// The browser is gone. Every command completes with INTERNAL_EXECUTOR_GONE, later ones too.
sgclaw_status sgclaw_executor_handle_disconnect(struct sgclaw_executor *executor, uint64_t now_us);

// The time that `sgclaw_executor_poll_timeout` named has come; calling it earlier does no harm.
sgclaw_status sgclaw_executor_handle_timeout(struct sgclaw_executor *executor, uint64_t now_us);

// When to call `sgclaw_executor_handle_timeout`; UINT64_MAX: not at all.
sgclaw_status sgclaw_executor_poll_timeout(const struct sgclaw_executor *executor, uint64_t *at_us);

// The next message for the browser: one JSON text, without framing. Call until `NONE`.
sgclaw_status sgclaw_executor_poll_message(struct sgclaw_executor *executor,
                                           struct sgclaw_str *message);

// What happened since. Call until `NONE`.
sgclaw_status sgclaw_executor_poll_event(struct sgclaw_executor *executor,
                                         struct sgclaw_executor_event *event);

// Runs a command when its turn comes. Takes the command over and sets the variable to NULL; where
// the call fails, the command stays the caller's. One `COMPLETED` follows, or a cancel.
sgclaw_status sgclaw_executor_execute(struct sgclaw_executor *executor,
                                      struct sgclaw_command **command,
                                      uint64_t now_us);

// Drops a command: what it has not done yet it will not do, and no `COMPLETED` follows. A seq that
// is not here is ignored.
sgclaw_status sgclaw_executor_cancel(struct sgclaw_executor *executor,
                                     uint64_t seq,
                                     uint64_t now_us);

// Replaces the policy; what runs is checked against it from now on. Copied.
sgclaw_status sgclaw_executor_set_policy(struct sgclaw_executor *executor,
                                         const struct sgclaw_policy *policy);

// Frees the executor and sets the variable to NULL. What it had begun is left as it is.
sgclaw_status sgclaw_executor_free(struct sgclaw_executor **executor);

// Writes the defaults. `agent_id` and `supported_actions` have none.
sgclaw_status sgclaw_agent_config_init(struct sgclaw_agent_config *config);

// An agent that waits for `init`.
//
// `INVALID_ACTION_NAME`; `INVALID_NUMBER` for `key_derivation`; `NO_URL_PARSER`;
// `RESERVED_NOT_ZERO`.
sgclaw_status sgclaw_agent_new(const struct sgclaw_agent_config *config,
                               struct sgclaw_agent **agent);

// Asks for an action; `params` is a JSON object. Answered by one `DONE` with this `call`.
//
// `INVALID_ACTION_NAME`, `INVALID_JSON`, `INVALID_DOMAIN`; `WRONG_STATE` before `READY` and after
// `ENDED`; `ACTION_STOPPED`, `TOO_LARGE`, `TOO_DEEP`, `SEQ_EXHAUSTED`. Nothing was sent then.
sgclaw_status sgclaw_agent_request(struct sgclaw_agent *agent,
                                   const char *action,
                                   size_t action_len,
                                   const char *params,
                                   size_t params_len,
                                   const char *expected_domain,
                                   size_t expected_domain_len,
                                   uint64_t now_us,
                                   uint64_t *call);

// Bytes of the host, split anywhere.
sgclaw_status sgclaw_agent_handle_input(struct sgclaw_agent *agent,
                                        const uint8_t *bytes,
                                        size_t bytes_len,
                                        uint64_t now_us);

// The host closed the pipe.
sgclaw_status sgclaw_agent_handle_end_of_input(struct sgclaw_agent *agent, uint64_t now_us);

// The time that `sgclaw_agent_poll_timeout` named has come: sends the retries that are due.
sgclaw_status sgclaw_agent_handle_timeout(struct sgclaw_agent *agent, uint64_t now_us);

// When to call `sgclaw_agent_handle_timeout` at the latest; UINT64_MAX: not at all.
sgclaw_status sgclaw_agent_poll_timeout(const struct sgclaw_agent *agent, uint64_t *at_us);

// The next thing that happened. Call until `NONE`.
sgclaw_status sgclaw_agent_poll_event(struct sgclaw_agent *agent, struct sgclaw_agent_event *event);

// Bytes for the host, of length 0 where none wait; more may follow once these are written.
sgclaw_status sgclaw_agent_output(const struct sgclaw_agent *agent, struct sgclaw_bytes *output);

// `count` bytes of `sgclaw_agent_output` are written. `INVALID_LENGTH` where that is more than
// there are.
sgclaw_status sgclaw_agent_output_written(struct sgclaw_agent *agent, size_t count);

// Lets an action be asked for again that was stopped.
sgclaw_status sgclaw_agent_reset_action(struct sgclaw_agent *agent,
                                        const char *action,
                                        size_t action_len);

// How many requests wait for their answer or their retry.
sgclaw_status sgclaw_agent_in_flight(const struct sgclaw_agent *agent, size_t *count);

// Frees the agent and sets the variable to NULL.
sgclaw_status sgclaw_agent_free(struct sgclaw_agent **agent);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* SGCLAW_SGCLAW_H_ */
