/** The calls of a {@linkcode SimDisk}: counted, watched, and failed where a proof says so. */

import type { Disk, DiskFile } from "../../../src/wal/disk.ts";

/** What can be asked of a disk. */
export type CallKind = keyof Disk | keyof DiskFile;

/** One call. */
export interface SimCall {
  /** Counts the calls of the disk, from 1. */
  readonly number: number;
  /** What is asked. */
  readonly kind: CallKind;
  /** Of which file or folder. */
  readonly path: string;
  /** Bytes of a write, else 0. */
  readonly bytes: number;
}

/** What a call meets: an error instead of its effect, or less of a write than was asked. */
export type SimFault =
  | { readonly throws: string }
  | { readonly atMost: number };

/** A call that is about to be made. */
interface Asked {
  readonly kind: CallKind;
  readonly path: string;
  readonly bytes?: number;
  /** What the system does beside giving the error. */
  readonly failed?: () => void;
}

/** How many turns of the promise queue a flush and a read take, where nobody says otherwise. */
const HOPS = 4;

/** Counts calls. */
export class CallMeter {
  /** Says what a call meets; `undefined`: nothing. */
  fault: (call: SimCall) => SimFault | undefined = () => undefined;
  /** Is told just before a call has its effect, and just after. */
  moment: (call: SimCall, when: "before" | "after") => void = () => {};
  /** Resolves when a flush or a read has its effect: others get in between. */
  arrival: () => Promise<void> = someTurns;
  /** How many calls there were. */
  calls = 0;
  #lastId = 0;

  /** Numbers changes and files, each once. */
  nextId(): number {
    return ++this.#lastId;
  }

  /**
   * Makes a call for which the process waits.
   *
   * @param asked What is asked.
   * @param effect Does it; it is told how much of a write at most.
   * @returns What the effect returns.
   */
  now<T>(asked: Asked, effect: (atMost: number) => T): T {
    const call = this.#count(asked);
    const fault = this.fault(call);
    throwIfSaid(fault, asked);
    const result = effect(fault?.atMost ?? Infinity);
    this.moment(call, "after");
    return result;
  }

  /**
   * Makes a call that others overtake.
   *
   * @param asked What is asked.
   * @param alive Throws if the process is dead.
   * @param start Looks what there is to do, and returns what does it.
   * @returns What that returns.
   */
  async later<T>(
    asked: Asked,
    alive: () => void,
    start: () => () => T,
  ): Promise<T> {
    const call = this.#count(asked);
    const fault = this.fault(call);
    const effect = start();
    await this.arrival();
    alive();
    throwIfSaid(fault, asked);
    const result = effect();
    this.moment(call, "after");
    return result;
  }

  #count({ kind, path, bytes = 0 }: Asked): SimCall {
    const call = { number: ++this.calls, kind, path, bytes };
    this.moment(call, "before");
    return call;
  }
}

async function someTurns(): Promise<void> {
  for (let hop = 0; hop < HOPS; hop++) await undefined;
}

function throwIfSaid(
  fault: SimFault | undefined,
  asked: Asked,
): asserts fault is { readonly atMost: number } | undefined {
  if (!fault || !("throws" in fault)) return;
  asked.failed?.();
  throw systemError(fault.throws);
}

/**
 * Makes an error as the system gives it.
 *
 * @param code Its code.
 * @returns The error.
 */
export function systemError(code: string): Error & { code: string } {
  return Object.assign(new Error(`${code}: made by the test`), { code });
}
