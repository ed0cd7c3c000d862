/* Takes a lock on the nodes given as arguments and checks that nobody else can have it. Shows that
   the header is C, that its functions are exported, and that results can be read from C. */

#include <redlock.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const int64_t second_ns = 1000000000;

static void expect(bool condition, const char* what) {
  if (condition) return;
  fprintf(stderr, "not as expected: %s\n", what);
  exit(1);
}

static void expect_ok(redlock_status status, const redlock_error* error) {
  if (status == REDLOCK_OK) return;
  fprintf(stderr, "%s: %s\n", redlock_status_name(status), error->message);
  exit(1);
}

static void lost(void* context, const redlock_error* error) {
  fprintf(stderr, "%s: %s\n", (const char*)context, error->message);
}

int main(int argc, char** argv) {
  redlock_client_options options;
  redlock_client_options_init(&options, sizeof options);
  options.nodes = (const char* const*)(argv + 1);
  options.node_count = (size_t)(argc - 1);
  options.name = "a program in C";
  options.name_holders = true;

  redlock_client* client = NULL;
  redlock_error* error = NULL;
  expect_ok(redlock_client_create(&options, &client, &error), error);

  char context[] = "lost";
  redlock_acquire_options terms;
  redlock_acquire_options_init(&terms, sizeof terms);
  terms.fencing = true;
  terms.renew = true;
  terms.on_lost = lost;
  terms.context = context;
  redlock_target target = redlock_exclusive("c/interface");
  redlock_lease* lease = NULL;
  redlock_stop* stop = redlock_stop_new();
  expect_ok(redlock_acquire(client, &target, &terms, stop, &lease, &error), error);
  expect(redlock_lease_valid(lease), "the lease is valid");
  expect(redlock_lease_fencing_token(lease) > 0, "it has a fencing token");

  redlock_lease* second = NULL;
  redlock_status status = redlock_try_acquire(client, &target, NULL, &second, &error);
  expect(status == REDLOCK_HELD && second == NULL, "a second lease is refused");
  expect(strcmp(error->holder_name, "a program in C") == 0, "the holder has a name");
  for (size_t i = 0; i < error->round->node_count; ++i) {
    const redlock_node_vote* node = redlock_round_node(error->round, i);
    printf("%s: %s\n", node->url, redlock_vote_name(node->vote));
  }
  redlock_error_free(error);

  redlock_inspection* inspection = NULL;
  expect_ok(redlock_inspect(client, "c/interface", &inspection, &error), error);
  expect(inspection->state == REDLOCK_STATE_HELD, "it is held");
  redlock_inspection_free(inspection);

  expect_ok(redlock_lease_extend(lease, 20 * second_ns, NULL, &error), error);
  expect_ok(redlock_lease_release(lease, NULL, &error), error);
  expect(!redlock_lease_valid(lease), "the lease is over");
  redlock_lease_free(lease);
  redlock_stop_free(stop);
  redlock_client_free(client);
  printf("acquired, refused to a second, released by version %s\n", redlock_version());
  return 0;
}
