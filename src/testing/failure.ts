/** What a failed case tells. */

/** Why a case failed, and how to see it again. */
export interface ConformanceFailure {
  /** The clause, in one line. */
  readonly clauseText: string;
  /** What should have been. */
  readonly expected: string;
  /** What was instead. */
  readonly came: string;
  /** Where such a fault usually comes from. */
  readonly hint?: string;
  /** The calls that led there, with what they gave. */
  readonly steps: readonly string[];
  /** The call that runs this case alone. */
  readonly again: string;
  /** The stack of the error that the store threw, where one did. */
  readonly stack?: string;
}

/** An expectation that did not hold, inside a case. */
export class Unmet extends Error {
  readonly expected: string;
  readonly came: string;
  /** The steps, where they are not those of the case itself. */
  readonly steps: readonly string[] | undefined;
  /** What the store threw, where it did. */
  readonly thrown: unknown;
  /** Where it comes from, where that is not what the case says. */
  readonly hint: string | undefined;

  /**
   * @param expected What should have been.
   * @param came What was instead.
   * @param more What the store threw; steps and a hint of its own.
   */
  constructor(
    expected: string,
    came: string,
    more: { thrown?: unknown; steps?: readonly string[]; hint?: string } = {},
  ) {
    super(`expected ${expected}; came ${came}`);
    this.name = "Unmet";
    this.expected = expected;
    this.came = came;
    this.thrown = more.thrown;
    this.steps = more.steps;
    this.hint = more.hint;
  }
}
