/* An agent over stdin and stdout, for any host of the pipe contract:
 *
 *   sgclaw host --browser memory -- ./agent
 *
 * It opens a page, reads its heading, and ends. stdout is the pipe: everything else goes to stderr.
 */

#define _POSIX_C_SOURCE 200809L

#include <errno.h>
#include <poll.h>
#include <sgclaw/sgclaw.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define TEXT(literal) (literal), (sizeof(literal) - 1)
#define SHOWN(view) (int)(view).len, (view).data

/* Ends the program where a call fails that must not. */
static void must(sgclaw_status status, const char *what) {
  if (status != SGCLAW_STATUS_OK) {
    sgclaw_str meaning = sgclaw_status_meaning(status);
    fprintf(stderr, "%s: %.*s\n", what, SHOWN(meaning));
    exit(EXIT_FAILURE);
  }
}

#define MUST(call) must((call), #call)

static uint64_t now_us(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

/* A UUID of version 4. */
static void new_agent_id(char id[37]) {
  uint8_t r[16];
  FILE *random = fopen("/dev/urandom", "rb");
  if (random == NULL || fread(r, 1, sizeof r, random) != sizeof r) {
    fprintf(stderr, "no random source\n");
    exit(EXIT_FAILURE);
  }
  fclose(random);
  r[6] = (uint8_t)((r[6] & 0x0f) | 0x40);
  r[8] = (uint8_t)((r[8] & 0x3f) | 0x80);
  snprintf(id, 37, "%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", r[0], r[1], r[2],
           r[3], r[4], r[5], r[6], r[7], r[8], r[9], r[10], r[11], r[12], r[13], r[14], r[15]);
}

static sgclaw_agent *make_agent(void) {
  const sgclaw_str actions[] = {{TEXT("navigate")}, {TEXT("getText")}};
  sgclaw_agent *agent = NULL;
  sgclaw_agent_config config;
  char id[37];

  new_agent_id(id);
  MUST(sgclaw_agent_config_init(&config));
  config.agent_id = (sgclaw_str){id, sizeof id - 1};
  config.supported_actions = actions;
  config.supported_actions_count = sizeof actions / sizeof *actions;
  MUST(sgclaw_agent_new(&config, &agent));
  return agent;
}

/* The steps, one after the other; false when they are done. */
static bool next_request(sgclaw_agent *agent, int step) {
  uint64_t call = 0;
  switch (step) {
    case 0:
      MUST(sgclaw_agent_request(agent, TEXT("navigate"), TEXT("{\"url\": \"http://localhost/\"}"),
                                TEXT("localhost"), now_us(), &call));
      return true;
    case 1:
      MUST(sgclaw_agent_request(agent, TEXT("getText"), TEXT("{\"selector\": \"h1\"}"), TEXT("localhost"),
                                now_us(), &call));
      return true;
    default:
      return false;
  }
}

/* Writes what waits. Blocking is fine here: this agent has nothing else to do. */
static void write_output(sgclaw_agent *agent) {
  sgclaw_bytes bytes;
  for (;;) {
    MUST(sgclaw_agent_output(agent, &bytes));
    if (bytes.len == 0) {
      return;
    }
    ssize_t count = write(STDOUT_FILENO, bytes.data, bytes.len);
    if (count < 0 && errno != EINTR) {
      exit(EXIT_FAILURE); /* The host has gone. */
    }
    MUST(sgclaw_agent_output_written(agent, count > 0 ? (size_t)count : 0));
  }
}

/* Waits for the host or for the time of a retry, and tells the agent which it was. */
static void wait_for_input(sgclaw_agent *agent) {
  uint8_t buffer[65536];
  struct pollfd host = {STDIN_FILENO, POLLIN, 0};
  uint64_t now = now_us();
  uint64_t at = UINT64_MAX;
  int wait_ms = -1;

  MUST(sgclaw_agent_poll_timeout(agent, &at));
  if (at != UINT64_MAX) {
    uint64_t left_ms = at > now ? (at - now + 999) / 1000 : 0;
    wait_ms = left_ms < 60000 ? (int)left_ms : 60000;
  }
  if (poll(&host, 1, wait_ms) > 0) {
    ssize_t count = read(STDIN_FILENO, buffer, sizeof buffer);
    if (count > 0) {
      MUST(sgclaw_agent_handle_input(agent, buffer, (size_t)count, now_us()));
    } else if (count == 0 || errno != EINTR) {
      MUST(sgclaw_agent_handle_end_of_input(agent, now_us()));
    }
  }
  MUST(sgclaw_agent_handle_timeout(agent, now_us()));
}

int main(void) {
  sgclaw_agent *agent = make_agent();
  sgclaw_agent_event event;
  sgclaw_str code;
  int step = 0;
  int status = EXIT_SUCCESS;
  bool running = true;

  while (running) {
    wait_for_input(agent);
    while (sgclaw_agent_poll_event(agent, &event) == SGCLAW_STATUS_OK) {
      switch (event.kind) {
        case SGCLAW_AGENT_EVENT_KIND_DONE:
          if (event.code == 0) {
            fprintf(stderr, "seq %llu: %.*s\n", (unsigned long long)event.seq, SHOWN(event.data));
          } else {
            code = sgclaw_error_code_name(event.code);
            fprintf(stderr, "seq %llu: %.*s: %.*s\n", (unsigned long long)event.seq, SHOWN(code),
                    SHOWN(event.message));
            status = EXIT_FAILURE;
          }
          running = next_request(agent, step++);
          break;
        case SGCLAW_AGENT_EVENT_KIND_READY:
          running = next_request(agent, step++);
          break;
        case SGCLAW_AGENT_EVENT_KIND_ENDED:
          if (event.code != 0) {
            fprintf(stderr, "the session failed: %.*s\n", SHOWN(event.message));
            status = EXIT_FAILURE;
          }
          running = false;
          break;
        case SGCLAW_AGENT_EVENT_KIND_LOG:
          fprintf(stderr, "%.*s\n", SHOWN(event.message));
          break;
        default:
          break; /* Kinds that came after this program. */
      }
    }
    write_output(agent);
  }
  MUST(sgclaw_agent_free(&agent));
  return status;
}
