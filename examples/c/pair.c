/* A host and an agent in one process, wired back to back: the handshake, one command, its answer.
 *
 * The loop is the one that every host has; only the transport is missing. What goes through `carry`
 * goes through the pipes of a child process elsewhere, and the answer comes from a browser.
 */

#include <sgclaw/sgclaw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT(literal) (literal), (sizeof(literal) - 1)
#define SHOWN(view) (int)(view).len, (view).data

static const char kPolicy[] =
    "{\"version\": 1, \"domains\": [{\"pattern\": \"erp.example.com\", \"actions\": [\"getText\"]}]}";

/* Ends the program where a call fails that must not. */
static void must(sgclaw_status status, const char *what) {
  if (status != SGCLAW_STATUS_OK) {
    sgclaw_str meaning = sgclaw_status_meaning(status);
    fprintf(stderr, "%s: %.*s\n", what, SHOWN(meaning));
    exit(EXIT_FAILURE);
  }
}

#define MUST(call) must((call), #call)

static sgclaw_policy *read_policy(void) {
  sgclaw_policy *policy = NULL;
  sgclaw_text *why = NULL;
  if (sgclaw_policy_parse(TEXT(kPolicy), NULL, &policy, &why) != SGCLAW_STATUS_OK) {
    sgclaw_str message = {NULL, 0};
    sgclaw_text_str(why, &message);
    fprintf(stderr, "%.*s\n", SHOWN(message));
    exit(EXIT_FAILURE);
  }
  return policy;
}

static void read_seed(uint8_t *seed, size_t len) {
  FILE *random = fopen("/dev/urandom", "rb");
  if (random == NULL || fread(seed, 1, len, random) != len) {
    fprintf(stderr, "no random source\n");
    exit(EXIT_FAILURE);
  }
  fclose(random);
}

static sgclaw_host *make_host(void) {
  sgclaw_registry *registry = NULL;
  sgclaw_policy *policy = read_policy();
  sgclaw_host *host = NULL;
  sgclaw_host_config config;
  uint8_t seed[32];

  read_seed(seed, sizeof seed);
  MUST(sgclaw_registry_standard(&registry));
  MUST(sgclaw_host_config_init(&config));
  config.session = (sgclaw_str){TEXT("pair")};
  config.seed = (sgclaw_bytes){seed, sizeof seed};
  config.registry = registry;
  config.policy = policy;
  MUST(sgclaw_host_new(&config, &host));
  /* The host has copies. */
  memset(seed, 0, sizeof seed);
  MUST(sgclaw_registry_free(&registry));
  MUST(sgclaw_policy_free(&policy));
  return host;
}

static sgclaw_agent *make_agent(void) {
  const sgclaw_str actions[] = {{TEXT("getText")}, {TEXT("click")}};
  sgclaw_agent *agent = NULL;
  sgclaw_agent_config config;

  MUST(sgclaw_agent_config_init(&config));
  config.agent_id = (sgclaw_str){TEXT("0b7e2a54-3c1d-4e8f-9a6b-5c4d3e2f1a0b")};
  config.supported_actions = actions;
  config.supported_actions_count = sizeof actions / sizeof *actions;
  MUST(sgclaw_agent_new(&config, &agent));
  return agent;
}

/* Does what the host asks for. */
static void handle_host_event(sgclaw_host *host, const sgclaw_host_event *event, uint64_t now) {
  sgclaw_str name;
  switch (event->kind) {
    case SGCLAW_HOST_EVENT_KIND_STATE_CHANGED:
      name = sgclaw_state_name(event->state);
      printf("host: %.*s: %.*s\n", SHOWN(name), SHOWN(event->message));
      break;
    case SGCLAW_HOST_EVENT_KIND_EXECUTE:
      printf("host: executes %.*s %.*s on %.*s\n", SHOWN(event->action), SHOWN(event->params),
             SHOWN(event->expected_domain));
      MUST(sgclaw_host_complete(host, event->seq, TEXT("{\"text\":\"Orders\",\"truncated\":false}"), now));
      break;
    case SGCLAW_HOST_EVENT_KIND_CLOSE_STDIN:
      /* Here no child has to exit. */
      break;
    default:
      /* Kinds that came after this program. */
      break;
  }
}

/* Asks once the handshake is done; whether the session has given its answer. */
static bool handle_agent_event(sgclaw_agent *agent, const sgclaw_agent_event *event, uint64_t now) {
  uint64_t call = 0;
  sgclaw_str code;
  switch (event->kind) {
    case SGCLAW_AGENT_EVENT_KIND_READY:
      MUST(sgclaw_agent_request(agent, TEXT("getText"), TEXT("{\"selector\": \"h1\"}"),
                                TEXT("erp.example.com"), now, &call));
      return false;
    case SGCLAW_AGENT_EVENT_KIND_DONE:
      if (event->code == 0) {
        printf("agent: seq %llu answered: %.*s\n", (unsigned long long)event->seq, SHOWN(event->data));
      } else {
        code = sgclaw_error_code_name(event->code);
        printf("agent: seq %llu failed: %.*s: %.*s\n", (unsigned long long)event->seq, SHOWN(code),
               SHOWN(event->message));
      }
      return true;
    default:
      return false;
  }
}

/* Moves the bytes that wait, from the host to the agent and back; whether there were any. */
static bool carry(sgclaw_host *host, sgclaw_agent *agent, uint64_t now) {
  sgclaw_bytes bytes;
  bool moved = false;

  MUST(sgclaw_host_output(host, &bytes));
  if (bytes.len > 0) {
    MUST(sgclaw_agent_handle_input(agent, bytes.data, bytes.len, now));
    MUST(sgclaw_host_output_written(host, bytes.len));
    moved = true;
  }
  MUST(sgclaw_agent_output(agent, &bytes));
  if (bytes.len > 0) {
    MUST(sgclaw_host_handle_input(host, bytes.data, bytes.len, now));
    MUST(sgclaw_agent_output_written(agent, bytes.len));
    moved = true;
  }
  return moved;
}

int main(void) {
  uint64_t now = 0; /* A clock that the program moves: a test needs no other. */
  sgclaw_host *host = make_host();
  sgclaw_agent *agent = make_agent();
  sgclaw_host_event host_event;
  sgclaw_agent_event agent_event;
  sgclaw_str line;
  bool answered = false;

  if (sgclaw_abi_version() != SGCLAW_ABI_VERSION) {
    fprintf(stderr, "the library has another ABI than the header\n");
    return EXIT_FAILURE;
  }
  MUST(sgclaw_host_set_page(host, TEXT("erp.example.com")));
  MUST(sgclaw_host_start(host, now));
  do {
    now += 1000;
    while (sgclaw_host_poll_event(host, &host_event) == SGCLAW_STATUS_OK) {
      handle_host_event(host, &host_event, now);
    }
    while (sgclaw_agent_poll_event(agent, &agent_event) == SGCLAW_STATUS_OK) {
      answered |= handle_agent_event(agent, &agent_event, now);
    }
    while (sgclaw_host_poll_trace(host, &line) == SGCLAW_STATUS_OK) {
      fprintf(stderr, "%.*s", SHOWN(line));
    }
  } while (carry(host, agent, now));

  MUST(sgclaw_agent_free(&agent));
  MUST(sgclaw_host_free(&host));
  return answered ? EXIT_SUCCESS : EXIT_FAILURE;
}
