/** fast-check, from the seed that is set. */

import fc from "fast-check";
import { SET_SEED } from "./seed.ts";

if (SET_SEED !== undefined) {
  fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: SET_SEED });
}

export type { Arbitrary } from "fast-check";
export default fc;
