/* The arena of a device: where blocks lie, what surrounds them, and the two mappings. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "internal.h"

/* Under the address sanitizer a kernel that leaves its block is seen in the act, not only when the block is
 * freed. */
#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(p, n) ((void)(p), (void)(n))
#define ASAN_UNPOISON_MEMORY_REGION(p, n) ((void)(p), (void)(n))
#endif

enum { POISON_NEW = 0xFF, POISON_OLD = 0xDE, CANARY = 0xC5 };

/* A mapping without access costs address space only. It is not inherited by a forked child, which could
 * otherwise write into its parent's device. */
static char *map(uint64_t size, int protection, int fd) {
  void *p = mmap(NULL, size, protection, MAP_SHARED | MAP_NORESERVE, fd, 0);
  if (p == MAP_FAILED) return NULL;
  (void)madvise(p, size, MADV_DONTFORK);
  return (char *)p;
}

int fake_arena_open(fake_arena *arena, uint64_t size) {
  const int fd = memfd_create("infinitrain-fake", MFD_CLOEXEC);
  if (fd < 0) return 0;
  memset(arena, 0, sizeof *arena);
  arena->size = size;
  arena->blocks = malloc(sizeof *arena->blocks);
  if (arena->blocks != NULL && ftruncate(fd, (off_t)size) == 0) {
    arena->base = map(size, PROT_NONE, fd);
    arena->alias = map(size, PROT_READ | PROT_WRITE, fd);
  }
  close(fd); /* the mappings keep the memory */
  if (arena->base == NULL || arena->alias == NULL) {
    fake_arena_close(arena);
    return 0;
  }
  arena->n_blocks = arena->capacity = 1;
  arena->blocks[0] = (fake_block){.offset = 0, .size = size, .state = FAKE_FREE};
  return 1;
}

void fake_arena_close(fake_arena *arena) {
  for (size_t i = 0; i < arena->n_blocks; ++i) { /* whoever maps these addresses next is not to blame */
    ASAN_UNPOISON_MEMORY_REGION(arena->alias + arena->blocks[i].offset,
                                arena->blocks[i].state == FAKE_FREE ? 0 : arena->blocks[i].size);
  }
  if (arena->base != NULL) munmap(arena->base, arena->size);
  if (arena->alias != NULL) munmap(arena->alias, arena->size);
  free(arena->blocks);
  memset(arena, 0, sizeof *arena);
}

void *fake_arena_take(fake_arena *arena, uint64_t nbytes) {
  if (nbytes > arena->size) return NULL;
  const uint64_t body = (nbytes + FAKE_ALIGNMENT - 1) / FAKE_ALIGNMENT * FAKE_ALIGNMENT;
  const uint64_t size = body + 2 * FAKE_ALIGNMENT;
  for (size_t i = 0; i < arena->n_blocks; ++i) {
    fake_block *block = &arena->blocks[i];
    if (block->state != FAKE_FREE || block->size < size) continue;
    if (block->size > size) { /* the rest stays free behind it */
      if (arena->n_blocks == arena->capacity) {
        fake_block *more = realloc(arena->blocks, 2 * arena->capacity * sizeof *more);
        if (more == NULL) return NULL;
        arena->blocks = more;
        arena->capacity *= 2;
        block = &arena->blocks[i];
      }
      memmove(block + 2, block + 1, (arena->n_blocks - i - 1) * sizeof *block);
      block[1] = (fake_block){.offset = block->offset + size, .size = block->size - size, .state = FAKE_FREE};
      ++arena->n_blocks;
      block->size = size;
    }
    block->nbytes = nbytes;
    block->state = FAKE_LIVE;
    return arena->base + block->offset + FAKE_ALIGNMENT;
  }
  return NULL;
}

/* The stretch that holds an offset: there is always one. */
static fake_block *find(fake_arena *arena, uint64_t offset) {
  size_t low = 0, high = arena->n_blocks;
  while (high - low > 1) {
    const size_t middle = low + (high - low) / 2;
    if (arena->blocks[middle].offset <= offset) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return &arena->blocks[low];
}

fake_block *fake_arena_find(fake_arena *arena, const void *ptr, uint64_t nbytes) {
  const uintptr_t address = (uintptr_t)ptr, base = (uintptr_t)arena->base;
  if (address < base || address - base >= arena->size) return NULL;
  fake_block *block = find(arena, address - base);
  const uint64_t begin = block->offset + FAKE_ALIGNMENT, at = address - base;
  if (block->state != FAKE_LIVE || at < begin || at - begin > block->nbytes) return NULL;
  return nbytes <= block->nbytes - (at - begin) ? block : NULL;
}

void fake_arena_give(fake_arena *arena, uint64_t offset) {
  fake_block *block = find(arena, offset), *end = arena->blocks + arena->n_blocks;
  block->state = FAKE_FREE;
  if (block + 1 < end && block[1].state == FAKE_FREE) {
    block->size += block[1].size;
    memmove(block + 1, block + 2, (size_t)(end - block - 2) * sizeof *block);
    --end;
  }
  if (block > arena->blocks && block[-1].state == FAKE_FREE) {
    block[-1].size += block->size;
    memmove(block, block + 1, (size_t)(end - block - 1) * sizeof *block);
    --end;
  }
  arena->n_blocks = (size_t)(end - arena->blocks);
}

char *fake_alias(const fake_arena *arena, const void *ptr) {
  return arena->alias + ((const char *)ptr - arena->base);
}

/* The canary behind a block begins at its last byte, so that one byte too much is seen. */
static uint64_t tail_size(uint64_t nbytes) {
  return (FAKE_ALIGNMENT - nbytes % FAKE_ALIGNMENT) % FAKE_ALIGNMENT + FAKE_ALIGNMENT;
}

void fake_block_begin(char *alias, uint64_t nbytes) {
  const uint64_t tail = tail_size(nbytes);
  /* A forked child has its parent's notes about these addresses. */
  ASAN_UNPOISON_MEMORY_REGION(alias - FAKE_ALIGNMENT, FAKE_ALIGNMENT + nbytes + tail);
  memset(alias - FAKE_ALIGNMENT, CANARY, FAKE_ALIGNMENT);
  memset(alias, POISON_NEW, nbytes);
  memset(alias + nbytes, CANARY, tail);
  ASAN_POISON_MEMORY_REGION(alias - FAKE_ALIGNMENT, FAKE_ALIGNMENT);
  ASAN_POISON_MEMORY_REGION(alias + nbytes, tail);
}

static int is_canary(const char *p, uint64_t n) {
  for (uint64_t i = 0; i < n; ++i) {
    if ((unsigned char)p[i] != CANARY) return 0;
  }
  return 1;
}

int fake_block_end(char *alias, uint64_t nbytes) {
  const uint64_t tail = tail_size(nbytes);
  ASAN_UNPOISON_MEMORY_REGION(alias - FAKE_ALIGNMENT, FAKE_ALIGNMENT);
  ASAN_UNPOISON_MEMORY_REGION(alias + nbytes, tail);
  memset(alias, POISON_OLD, nbytes);
  return is_canary(alias - FAKE_ALIGNMENT, FAKE_ALIGNMENT) && is_canary(alias + nbytes, tail);
}
