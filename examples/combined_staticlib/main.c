/* Uses both halves of libcombined.a. */

#include <sgclaw/sgclaw.h>
#include <stdio.h>

size_t own_digits(uint64_t number);

int main(void) {
  sgclaw_str version = sgclaw_version();
  sgclaw_registry *registry = NULL;
  if (sgclaw_registry_standard(&registry) != SGCLAW_STATUS_OK || own_digits(1234) != 4) {
    return 1;
  }
  printf("sgclaw %.*s and other Rust in one library\n", (int)version.len, version.data);
  return (int)sgclaw_registry_free(&registry);
}
