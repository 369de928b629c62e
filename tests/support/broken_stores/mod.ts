/** Stores that are wrong, each with one fault. The kit has to find every one of them. */

import { EVENTUAL_FAULTS } from "./eventual_faults.ts";
import type { BrokenStore } from "./fault.ts";
import { REOPEN_FAULTS } from "./reopen_faults.ts";
import { SHORT_CUT_FAULTS } from "./short_cut_faults.ts";
import { TIME_FAULTS } from "./time_faults.ts";
import { VALUE_FAULTS } from "./value_faults.ts";
import { WATCH_FAULTS } from "./watch_faults.ts";
import { WHOLE_FAULTS } from "./whole_faults.ts";
import { WRITE_FAULTS } from "./write_faults.ts";

/** All of them. */
export const BROKEN_STORES: readonly BrokenStore[] = [
  ...WHOLE_FAULTS,
  ...WRITE_FAULTS,
  ...VALUE_FAULTS,
  ...TIME_FAULTS,
  ...REOPEN_FAULTS,
  ...EVENTUAL_FAULTS,
  ...SHORT_CUT_FAULTS,
  ...WATCH_FAULTS,
];
