/** What a Deno KV takes, where Deno and `@deno/kv` differ the less of both, and what follows from it. */

/** Bytes of a value. */
export const MAX_VALUE_BYTES = 65_536;

/** Keys that are read at once. */
export const MAX_READ_KEYS = 10;

/** Checks in one write: Deno takes 100, `@deno/kv` no more than this. */
export const MAX_CHECKS = 10;

/** Changes in one write. */
export const MAX_MUTATIONS = 1_000;

/** Bytes of all keys in one write. On a file only those of values that are set count; a server may count more. */
export const MAX_KEY_BYTES = 81_920;

/** Values of the largest size that fit into one write: 819,200 bytes are its limit, keys included. */
export const MAX_WRITE_VALUES = 12;

/** Entries that are listed at once; `@deno/kv` takes no more. */
export const LIST_BATCH = 500;

/**
 * Bytes of a prefix. With it the keys of all parts of the largest record fit
 * into the one write that replaces them.
 */
export const MAX_PREFIX_BYTES = 200;

/** UTF-16 code units of an id that is part of a key as it is, in at most 600 bytes; of a longer one it is the hash. */
export const MAX_ID_LENGTH = 200;

/** The most that `maxRecordBytes` can be: 16 MiB, 256 parts. */
export const LARGEST_RECORD_BYTES = 16 * 1024 * 1024;

/** More parts than any record has: they are all deleted in one write. */
export const MAX_PARTS = 900;

/** For how long what is expired, or seems to be abandoned, is left alone: another instance's clock may be behind (rule I12). */
export const GRACE_MS = 600_000;

/** Streams of changes that are open at once; the tasks beyond are polled. */
export const MAX_WATCHES = 64;

/** The longest pause before a locked file is tried again, in milliseconds. */
export const LONGEST_PAUSE_MS = 32;

/** How much later than the end of a TTL the database itself may drop a record, in milliseconds: a day. */
export const DROP_AFTER_MS = 86_400_000;

/** The longest time that the database is asked to count, in milliseconds: ten years. */
export const LONGEST_EXPIRY_MS = 3_650 * 86_400_000;
