/** The clauses of the store contract in one line each, as a report quotes them. */

/** A clause of the contract of {@linkcode TaskStore}, or of the factory that makes one for the kit (F1). */
export type ClauseId =
  | "F1"
  | "S1"
  | "S2"
  | "S3"
  | "S4"
  | "S5"
  | "S6"
  | "S7"
  | "S8"
  | "S9"
  | "S10"
  | "S11"
  | "S12"
  | "S13"
  | "S14"
  | "S15"
  | "S16"
  | "S17"
  | "S18"
  | "S19"
  | "S20"
  | "S21"
  | "S22"
  | "S23"
  | "S24"
  | "S25"
  | "S26"
  | "S27"
  | "S28"
  | "S29"
  | "S30";

/** What each clause says; the whole text is in the documentation of `TaskStore`. */
export const CLAUSES: Readonly<Record<ClauseId, string>> = Object.freeze({
  F1: "each call of the factory gives a new store over new, empty data",
  S1: "every method returns a promise, and refuses by rejecting it",
  S2:
    "what comes in and goes out shares nothing with what is kept, from the moment of the call on",
  S3: "every field is kept, under every name and with every value of JSON",
  S4: "an id is any string; two that differ in one code unit are two",
  S5: "a store that gets `now` uses it, and only without it its own clock",
  S6:
    "a record is expired when now >= Date.parse(createdAt) + ttlMs, to the millisecond; ttlMs null never is",
  S7:
    "records of up to traits.maxRecordBytes (8 MiB where absent) and 1,000 levels are taken; of a larger one nothing is kept: ERR_ENTRY_TOO_LARGE",
  S8:
    "create() keeps the record as it is, and resolves only when a get() would find it",
  S9:
    "create() refuses an id that exists with ERR_DUPLICATE_TASK_ID; the record that is there stays untouched",
  S10: "get() gives undefined for an id that is unknown or expired",
  S11: "get() writes and deletes nothing",
  S12:
    "update() sets each enumerable own string key of the patch, deletes those that are undefined, leaves all others, and taskId, createdAt and version, alone",
  S13:
    "update() adds exactly 1 to the version, and returns the whole record as it is stored now",
  S14:
    "update() refuses another version than the stored one with ERR_CONCURRENT_UPDATE, and changes nothing",
  S15:
    "of the writers of one version one wins, also at the same time; the others get ERR_CONCURRENT_UPDATE",
  S16:
    "update() refuses an id that is unknown or expired with ERR_TASK_NOT_FOUND, and nothing comes into being",
  S17:
    "sweep() deletes every expired record and none that lives, and returns the exact count",
  S18:
    "sweeps at the same time count each record once; an update that was acknowledged is not lost to a sweep",
  S19: "close() can be called any number of times, and resolves each time",
  S20:
    "every method that is called after close() rejects with ERR_STORE_CLOSED",
  S21:
    "what is under way when close() is called is done or refused, and its promise settles",
  S22: "traits are plain data of the stated types, and never change",
  S23:
    "durable: what was acknowledged is there again when the store is closed and opened again",
  S24:
    'writers "shared": the whole contract holds between several instances on the same data',
  S25:
    'writers "exclusive": while one instance is open a second is refused with ERR_STORE_LOCKED, and the first is not disturbed',
  S26:
    'reads "eventual": an instance reads its own writes at once, what others wrote within an hour, and never an older version than it has read, or none, before the record expires',
  S27:
    "head(), where there is one, gives what get() gives, without inputRequests, inputResponses, result and error",
  S28:
    "commit(), where there is one, does what update() does, and returns the new version",
  S29:
    "watch(), where there is one, calls back after a change, never inside a call, and never after it was ended",
  S30:
    "a record that is over a lowered traits.maxRecordBytes is read, deleted and changed as any other; a change that adds more than 1 KiB to it is refused with ERR_ENTRY_TOO_LARGE",
});
