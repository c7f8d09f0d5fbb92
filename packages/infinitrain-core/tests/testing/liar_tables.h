/* The optional tables of the liar, honest: collectives between threads of one process, graphs as lists of
 * launches.
 *
 * They exist so that the kit's own tests of collectives and graphs run somewhere. */
#include <errno.h>

/* ---- collectives: every rank posts its operands, waits for the others, combines, waits, writes -------- */

#define MOST_RANKS 8

typedef struct message {
  struct message *next;
  size_t size;
  char data[];
} message;

typedef struct group {
  struct group *next;
  uint64_t name[2];
  int n, joined, waiting, generation;
  pthread_mutex_t lock;
  pthread_cond_t changed;
  const char *src[MOST_RANKS];
  message *box[MOST_RANKS][MOST_RANKS]; /* from, to; oldest first */
} group;

struct itp_comm_s {
  group *group;
  int rank, aborted;
};

static pthread_mutex_t groups_lock = PTHREAD_MUTEX_INITIALIZER;
static group *groups;
static uint64_t names;

static itp_status unique_id(void *self, void *buffer, uint64_t *size, itp_error *err) {
  const uint64_t room = *size;
  (void)self;
  *size = 16;
  if (room < 16) return ITP_FAIL(err, INVALID_ARGUMENT, "unique_id", "16 bytes of room expected");
  pthread_mutex_lock(&groups_lock);
  const uint64_t name[2] = {(uint64_t)getpid(), ++names};
  pthread_mutex_unlock(&groups_lock);
  memcpy(buffer, name, 16);
  return ITP_OK;
}

/* Wait until all ranks are here; false when this rank has been aborted. With the lock. */
static int barrier(itp_comm c) {
  group *g = c->group;
  const int generation = g->generation;
  if (++g->waiting == g->n) {
    g->waiting = 0;
    ++g->generation;
    pthread_cond_broadcast(&g->changed);
    return 1;
  }
  while (g->generation == generation && !c->aborted) pthread_cond_wait(&g->changed, &g->lock);
  return g->generation != generation;
}

static itp_status comm_init(void *self, int32_t device, int32_t n, int32_t rank, const void *id,
                            uint64_t id_size, itp_comm *out, itp_error *err) {
  (void)self;
  if (device != 0 || n < 1 || n > MOST_RANKS || rank < 0 || rank >= n || id_size != 16)
    return ITP_FAIL(err, INVALID_ARGUMENT, "comm_init", "device %d, rank %d of %d", (int)device, (int)rank,
                    (int)n);
  uint64_t name[2];
  memcpy(name, id, 16);
  if (name[0] != (uint64_t)getpid())
    return ITP_FAIL(err, UNAVAILABLE, "comm_init", "ranks are threads of one process");
  pthread_mutex_lock(&groups_lock);
  group *g = groups;
  while (g != NULL && (g->name[0] != name[0] || g->name[1] != name[1])) g = g->next;
  if (g == NULL) {
    g = calloc(1, sizeof *g);
    g->next = groups;
    groups = g;
    memcpy(g->name, name, 16);
    g->n = n;
    pthread_mutex_init(&g->lock, NULL);
    pthread_cond_init(&g->changed, NULL);
  }
  pthread_mutex_unlock(&groups_lock);
  itp_comm c = calloc(1, sizeof *c);
  c->group = g;
  c->rank = rank;
  pthread_mutex_lock(&g->lock);
  barrier(c);
  pthread_mutex_unlock(&g->lock);
  *out = c;
  return ITP_OK;
}

/* Handles are few and small: they stay, so that an abort from another thread finds its communicator. */
static itp_status comm_destroy(void *self, itp_comm c, itp_error *err) {
  (void)self, (void)c, (void)err;
  return ITP_OK;
}

static itp_status comm_abort(void *self, itp_comm c, itp_error *err) {
  (void)self, (void)err;
  pthread_mutex_lock(&c->group->lock);
  c->aborted = 1;
  pthread_cond_broadcast(&c->group->changed);
  pthread_mutex_unlock(&c->group->lock);
  return ITP_OK;
}

static itp_status comm_async_error(void *self, itp_comm c, itp_error *err) {
  (void)self;
  return c->aborted ? ITP_FAIL(err, ABORTED, "comm_async_error", "aborted") : ITP_OK;
}

static itp_status no_group(void *self, itp_error *err) {
  (void)self, (void)err;
  return ITP_OK;
}

/* Post src, then let `combine` write this rank's `size` bytes of result from everybody's src. */
typedef void (*combine_fn)(const group *g, int rank, uint64_t count, uint32_t op, int root, int dtype,
                           char *out);

static itp_status together(const char *slot, itp_comm c, const void *src, void *dst, uint64_t size,
                           uint64_t count, uint32_t op, int root, itp_dtype type, combine_fn combine,
                           int writes, itp_error *err) {
  group *g = c->group;
  char *result = malloc(size);
  pthread_mutex_lock(&g->lock);
  g->src[c->rank] = (const char *)src;
  int here = barrier(c);
  if (here) {
    if (writes) combine(g, c->rank, count, op, root, itp_dtype_bit(type), result);
    here = barrier(c);
  }
  if (here && writes) memcpy(dst, result, size);
  here = here && barrier(c);
  pthread_mutex_unlock(&g->lock);
  free(result);
  return here ? ITP_OK : ITP_FAIL(err, ABORTED, slot, "by comm_abort");
}

static double get(const char *p, int dtype, uint64_t i) {
  return dtype == ITP_DT_F32 ? (double)((const float *)(const void *)p)[i]
                             : (double)((const int32_t *)(const void *)p)[i];
}

static void put(char *p, int dtype, uint64_t i, double value) {
  if (dtype == ITP_DT_F32) {
    ((float *)(void *)p)[i] = (float)value;
  } else {
    ((int32_t *)(void *)p)[i] = (int32_t)value;
  }
}

static void reduce_from(const group *g, uint64_t begin, uint64_t count, uint32_t op, int dtype, char *out) {
  for (uint64_t i = 0; i < count; ++i) {
    double sum = get(g->src[0], dtype, begin + i);
    for (int r = 1; r < g->n; ++r) {
      const double x = get(g->src[r], dtype, begin + i);
      sum = op == ITP_REDUCE_PROD  ? sum * x
            : op == ITP_REDUCE_MAX ? (x > sum ? x : sum)
            : op == ITP_REDUCE_MIN ? (x < sum ? x : sum)
                                   : sum + x;
    }
    put(out, dtype, i, op == ITP_REDUCE_AVG ? sum / g->n : sum);
  }
}

static void combine_all(const group *g, int rank, uint64_t count, uint32_t op, int root, int dtype,
                        char *out) {
  (void)rank, (void)root;
  reduce_from(g, 0, count, op, dtype, out);
}
static void combine_part(const group *g, int rank, uint64_t count, uint32_t op, int root, int dtype,
                         char *out) {
  (void)root;
  reduce_from(g, (uint64_t)rank * count, count, op, dtype, out);
}
static void combine_root(const group *g, int rank, uint64_t count, uint32_t op, int root, int dtype,
                         char *out) {
  (void)rank, (void)op, (void)dtype;
  memcpy(out, g->src[root], count * 4);
}
static void combine_gather(const group *g, int rank, uint64_t count, uint32_t op, int root, int dtype,
                           char *out) {
  (void)rank, (void)op, (void)dtype, (void)root;
  for (int r = 0; r < g->n; ++r) memcpy(out + (uint64_t)r * count * 4, g->src[r], count * 4);
}
static void combine_exchange(const group *g, int rank, uint64_t count, uint32_t op, int root, int dtype,
                             char *out) {
  (void)op, (void)dtype, (void)root;
  for (int r = 0; r < g->n; ++r)
    memcpy(out + (uint64_t)r * count * 4, g->src[r] + (uint64_t)rank * count * 4, count * 4);
}

static itp_status check_type(const char *slot, itp_dtype type, uint32_t op, itp_error *err) {
  const int bit = itp_dtype_bit(type);
  if ((bit == ITP_DT_F32 || bit == ITP_DT_I32) && op <= ITP_REDUCE_AVG) return ITP_OK;
  return ITP_FAIL(err, UNIMPLEMENTED, slot, "dtype %d, operation %u", bit, op);
}

#define CHECK(slot, op)                                       \
  const itp_status checked = check_type(slot, type, op, err); \
  (void)self, (void)stream;                                   \
  if (checked != ITP_OK) return checked

static itp_status all_reduce(void *self, const void *src, void *dst, uint64_t count, itp_dtype type,
                             uint32_t op, itp_comm c, itp_stream stream, itp_error *err) {
  CHECK("all_reduce", op);
  return together("all_reduce", c, src, dst, count * 4, count, op, 0, type, combine_all, 1, err);
}
static itp_status broadcast(void *self, const void *src, void *dst, uint64_t count, itp_dtype type,
                            int32_t root, itp_comm c, itp_stream stream, itp_error *err) {
  CHECK("broadcast", 0);
  return together("broadcast", c, src, dst, count * 4, count, 0, root, type, combine_root, 1, err);
}
static itp_status reduce(void *self, const void *src, void *dst, uint64_t count, itp_dtype type, uint32_t op,
                         int32_t root, itp_comm c, itp_stream stream, itp_error *err) {
  CHECK("reduce", op);
  return together("reduce", c, src, dst, count * 4, count, op, 0, type, combine_all, c->rank == root, err);
}
static itp_status all_gather(void *self, const void *src, void *dst, uint64_t count, itp_dtype type,
                             itp_comm c, itp_stream stream, itp_error *err) {
  CHECK("all_gather", 0);
  const uint64_t size = count * 4 * (uint64_t)c->group->n;
  return together("all_gather", c, src, dst, size, count, 0, 0, type, combine_gather, 1, err);
}
static itp_status reduce_scatter(void *self, const void *src, void *dst, uint64_t count, itp_dtype type,
                                 uint32_t op, itp_comm c, itp_stream stream, itp_error *err) {
  CHECK("reduce_scatter", op);
  return together("reduce_scatter", c, src, dst, count * 4, count, op, 0, type, combine_part, 1, err);
}
static itp_status all_to_all(void *self, const void *src, void *dst, uint64_t count, itp_dtype type,
                             itp_comm c, itp_stream stream, itp_error *err) {
  CHECK("all_to_all", 0);
  const uint64_t size = count * 4 * (uint64_t)c->group->n;
  return together("all_to_all", c, src, dst, size, count, 0, 0, type, combine_exchange, 1, err);
}

static itp_status send_to(void *self, const void *src, uint64_t count, itp_dtype type, int32_t peer,
                          itp_comm c, itp_stream stream, itp_error *err) {
  CHECK("send", 0);
  message *m = malloc(sizeof *m + count * 4);
  m->next = NULL;
  memcpy(m->data, src, count * 4);
  pthread_mutex_lock(&c->group->lock);
  message **end = &c->group->box[c->rank][peer];
  while (*end != NULL) end = &(*end)->next;
  *end = m;
  pthread_cond_broadcast(&c->group->changed);
  pthread_mutex_unlock(&c->group->lock);
  return ITP_OK;
}
static itp_status recv_from(void *self, void *dst, uint64_t count, itp_dtype type, int32_t peer, itp_comm c,
                            itp_stream stream, itp_error *err) {
  CHECK("recv", 0);
  message **box = &c->group->box[peer][c->rank];
  pthread_mutex_lock(&c->group->lock);
  while (*box == NULL && !c->aborted) pthread_cond_wait(&c->group->changed, &c->group->lock);
  message *m = *box;
  if (m != NULL) *box = m->next;
  pthread_mutex_unlock(&c->group->lock);
  if (m == NULL) return ITP_FAIL(err, ABORTED, "recv", "by comm_abort");
  memcpy(dst, m->data, count * 4);
  free(m);
  return ITP_OK;
}

static const itp_ccl ccl = {
    sizeof(itp_ccl),  0,         0x1F,         UINT64_C(1) << ITP_DT_F32 | UINT64_C(1) << ITP_DT_I32,
    unique_id,        comm_init, comm_destroy, comm_abort,
    comm_async_error, no_group,  no_group,     all_reduce,
    broadcast,        reduce,    all_gather,   reduce_scatter,
    all_to_all,       send_to,   recv_from};

/* ---- graphs ----------------------------------------------------------------------------------------------
 */

#define MOST_LAUNCHES 256

struct itp_graph_s {
  struct itp_graph_s *next; /* of those that are being recorded */
  itp_stream stream;
  int n;
  const itp_launch *launches[MOST_LAUNCHES];
};

static itp_graph recording;

static itp_graph recorder(itp_stream stream) {
  itp_graph g = recording;
  while (g != NULL && g->stream != stream) g = g->next;
  return g;
}

static itp_status capture_begin(void *self, int32_t device, itp_stream stream, itp_error *err) {
  (void)self;
  if (device != 0 || stream == NULL || recorder(stream) != NULL)
    return ITP_FAIL(err, INVALID_ARGUMENT, "capture_begin", "a stream that does not record expected");
  itp_graph g = calloc(1, sizeof *g);
  g->stream = stream;
  g->next = recording;
  recording = g;
  return ITP_OK;
}
static itp_status capture_end(void *self, int32_t device, itp_stream stream, itp_graph *out, itp_error *err) {
  itp_graph *link = &recording;
  (void)self;
  while (*link != NULL && (*link)->stream != stream) link = &(*link)->next;
  if (device != 0 || *link == NULL)
    return ITP_FAIL(err, INVALID_ARGUMENT, "capture_end", "the stream does not record");
  *out = *link;
  *link = (*link)->next;
  return ITP_OK;
}
static itp_status replay(void *self, int32_t device, itp_graph g, itp_stream stream, itp_error *err) {
  itp_status status = device == 0 ? ITP_OK : ITP_FAIL(err, INVALID_ARGUMENT, "replay", "device of 1");
  for (int i = 0; i < g->n && status == ITP_OK; ++i) {
    itp_launch l = *g->launches[i];
    l.stream = stream;
    status = l.kernel->launch(self, &l, err);
  }
  return status;
}
static itp_status destroy(void *self, int32_t device, itp_graph g, itp_error *err) {
  (void)self;
  if (device != 0) return ITP_FAIL(err, INVALID_ARGUMENT, "destroy", "device of 1");
  free(g);
  return ITP_OK;
}
static const itp_graphs graphs = {sizeof(itp_graphs), 0, capture_begin, capture_end, replay, destroy};

static itp_status recording_sync(void *self, int32_t device, itp_stream stream, itp_error *err) {
  if (recorder(stream) != NULL) return ITP_FAIL(err, UNIMPLEMENTED, "stream_sync", "the stream records");
  return itp_sync_stream_sync(self, device, stream, err);
}
