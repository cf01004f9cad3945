// Runs a recorded session through the C interface; README.md tells the form.

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sgclaw/sgclaw.h"

// Any status but OK is a fault of this program or of the library.
static void check(sgclaw_status status) {
  if (status != SGCLAW_STATUS_OK) {
    sgclaw_str name = sgclaw_status_name(status);
    fprintf(stderr, "%.*s\n", (int)name.len, name.data);
    exit(1);
  }
}

// The next word, which must be there.
static char *word(void) {
  char *next = strtok(NULL, " \n");
  if (next == NULL) {
    fputs("the recording ends inside a step\n", stderr);
    exit(1);
  }
  return next;
}

static uint64_t number(void) { return strtoull(word(), NULL, 10); }

// Reads hex in place: the bytes are shorter than their digits.
static size_t bytes(char **text) {
  char *hex = word();
  *text = hex;
  if (strcmp(hex, "-") == 0) return 0;
  size_t len = strlen(hex) / 2;
  for (size_t i = 0; i < len; i++) {
    char digits[3] = {hex[2 * i], hex[2 * i + 1], 0};
    hex[i] = (char)strtol(digits, NULL, 16);
  }
  return len;
}

static void print_str(const char *before, sgclaw_str text) {
  fputs(before, stdout);
  fwrite(text.data, 1, text.data == NULL ? 0 : text.len, stdout);
}

static void print_event(const sgclaw_host_event *event) {
  switch (event->kind) {
    case SGCLAW_HOST_EVENT_KIND_STATE_CHANGED:
      print_str("state ", sgclaw_state_name(event->state));
      printf(" %" PRIu32, event->code);
      print_str(" ", event->message);
      break;
    case SGCLAW_HOST_EVENT_KIND_EXECUTE:
      printf("execute %" PRIu64, event->seq);
      print_str(" ", event->action);
      print_str(" ", event->expected_domain);
      printf(" %" PRIu64, event->timeout_us);
      print_str(" ", event->params);
      break;
    case SGCLAW_HOST_EVENT_KIND_CANCEL:
      printf("cancel %" PRIu64, event->seq);
      break;
    case SGCLAW_HOST_EVENT_KIND_CONFIRMATION_ASKED:
      printf("ask %" PRIu64, event->seq);
      print_str(" ", event->action);
      print_str(" ", event->expected_domain);
      print_str(" ", event->params);
      break;
    case SGCLAW_HOST_EVENT_KIND_CONFIRMATION_OVER:
      printf("over %" PRIu64, event->seq);
      break;
    case SGCLAW_HOST_EVENT_KIND_BREAKER_OPENED:
      print_str("breaker ", event->action);
      break;
    case SGCLAW_HOST_EVENT_KIND_CLOSE_STDIN:
      fputs("close", stdout);
      break;
    case SGCLAW_HOST_EVENT_KIND_TERMINATE:
      fputs("terminate", stdout);
      break;
    case SGCLAW_HOST_EVENT_KIND_KILL:
      fputs("kill", stdout);
      break;
    default:
      fputs("an event that this program does not know\n", stderr);
      exit(1);
  }
  putchar('\n');
}

// What was printed last.
static uint64_t deadline = UINT64_MAX;
static char *output = NULL;
static size_t output_len = 0;

static void print(sgclaw_host *host) {
  sgclaw_str line;
  sgclaw_status status;
  while ((status = sgclaw_host_poll_trace(host, &line)) == SGCLAW_STATUS_OK)
    print_str("trace ", line);
  if (status != SGCLAW_STATUS_NONE) check(status);
  sgclaw_host_event event;
  while ((status = sgclaw_host_poll_event(host, &event)) == SGCLAW_STATUS_OK)
    print_event(&event);
  if (status != SGCLAW_STATUS_NONE) check(status);
  uint64_t at;
  check(sgclaw_host_poll_timeout(host, &at));
  if (at != deadline) {
    deadline = at;
    if (at == UINT64_MAX)
      puts("deadline -");
    else
      printf("deadline %" PRIu64 "\n", at);
  }
  sgclaw_bytes waiting;
  check(sgclaw_host_output(host, &waiting));
  if (waiting.len == output_len &&
      (output_len == 0 || memcmp(waiting.data, output, output_len) == 0))
    return;
  fputs("output ", stdout);
  for (size_t i = 0; i < waiting.len; i++) printf("%02x", waiting.data[i]);
  puts(waiting.len == 0 ? "-" : "");
  output = realloc(output, waiting.len + 1);
  if (waiting.len > 0) memcpy(output, waiting.data, waiting.len);
  output_len = waiting.len;
}

static sgclaw_policy *parse_policy(void) {
  char *document;
  size_t len = bytes(&document);
  sgclaw_policy *policy = NULL;
  check(sgclaw_policy_parse(document, len, NULL, &policy, NULL));
  return policy;
}

static void step(sgclaw_host *host, const char *verb, uint64_t now) {
  char *text;
  size_t len;
  uint64_t seq;
  if (strcmp(verb, "start") == 0) {
    check(sgclaw_host_start(host, now));
  } else if (strcmp(verb, "input") == 0) {
    len = bytes(&text);
    check(sgclaw_host_handle_input(host, (const uint8_t *)text, len, now));
  } else if (strcmp(verb, "end_of_input") == 0) {
    check(sgclaw_host_handle_end_of_input(host, now));
  } else if (strcmp(verb, "output_closed") == 0) {
    check(sgclaw_host_handle_output_closed(host, now));
  } else if (strcmp(verb, "exit") == 0) {
    check(sgclaw_host_handle_child_exited(host, (int32_t)number(), now));
  } else if (strcmp(verb, "signal") == 0) {
    check(sgclaw_host_handle_child_signalled(host, (int32_t)number(), now));
  } else if (strcmp(verb, "timeout") == 0) {
    check(sgclaw_host_handle_timeout(host, now));
  } else if (strcmp(verb, "succeed") == 0) {
    seq = number();
    len = bytes(&text);
    check(sgclaw_host_complete(host, seq, text, len, now));
  } else if (strcmp(verb, "fail") == 0) {
    seq = number();
    uint32_t code = (uint32_t)number();
    char *message;
    size_t message_len = bytes(&message);
    len = bytes(&text);
    check(sgclaw_host_fail(host, seq, code, message, message_len, text, len, now));
  } else if (strcmp(verb, "abandon") == 0) {
    check(sgclaw_host_abandon(host, number(), now));
  } else if (strcmp(verb, "confirm") == 0) {
    seq = number();
    check(number() == 1 ? sgclaw_host_allow(host, seq, now) : sgclaw_host_deny(host, seq, now));
  } else if (strcmp(verb, "cancel") == 0) {
    check(sgclaw_host_cancel(host, number(), now));
  } else if (strcmp(verb, "reset") == 0) {
    text = word();
    check(sgclaw_host_reset_breaker(host, text, strlen(text)));
  } else if (strcmp(verb, "page") == 0) {
    text = word();
    check(sgclaw_host_set_page(host, text, strcmp(text, "-") == 0 ? 0 : strlen(text)));
  } else if (strcmp(verb, "policy") == 0) {
    sgclaw_policy *policy = parse_policy();
    check(sgclaw_host_set_policy(host, policy));
    check(sgclaw_policy_free(&policy));
  } else if (strcmp(verb, "written") == 0) {
    check(sgclaw_host_output_written(host, (size_t)number()));
  } else if (strcmp(verb, "stop") == 0) {
    check(sgclaw_host_stop(host, now));
  } else {
    fprintf(stderr, "unknown step %s\n", verb);
    exit(1);
  }
}

static char *read_file(const char *path) {
  FILE *file = fopen(path, "rb");
  if (file == NULL) {
    perror(path);
    exit(1);
  }
  fseek(file, 0, SEEK_END);
  size_t len = (size_t)ftell(file);
  rewind(file);
  char *text = malloc(len + 1);
  len = fread(text, 1, len, file);
  text[len] = 0;
  fclose(file);
  return text;
}

int main(int argc, char **argv) {
  if (argc != 2) {
    fputs("usage: replay_c RECORDING\n", stderr);
    return 2;
  }
  char *recording = read_file(argv[1]);
  sgclaw_host_config config;
  check(sgclaw_host_config_init(&config));
  config.session = (sgclaw_str){"replay", 6};
  char *seed;
  strtok(recording, " \n");
  config.seed.len = bytes(&seed);
  config.seed.data = (const uint8_t *)seed;
  word();
  if (strcmp(word(), "seed") == 0) config.key_derivation = SGCLAW_KEY_DERIVATION_SEED;
  word();
  sgclaw_policy *policy = parse_policy();
  config.policy = policy;
  sgclaw_registry *registry = NULL;
  check(sgclaw_registry_standard(&registry));
  config.registry = registry;
  sgclaw_host *host = NULL;
  check(sgclaw_host_new(&config, &host));
  check(sgclaw_policy_free(&policy));
  check(sgclaw_registry_free(&registry));
  for (char *time; (time = strtok(NULL, " \n")) != NULL;) {
    uint64_t now = strtoull(time, NULL, 10);
    step(host, word(), now);
    print(host);
  }
  check(sgclaw_host_free(&host));
  free(recording);
  free(output);
  return 0;
}
