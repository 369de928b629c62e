import { MemoryTaskStore } from "../../mod.ts";
import { describeStoreContract } from "../support/store_contract.ts";

describeStoreContract("MemoryTaskStore", () => ({
  open: (now) => new MemoryTaskStore({ now }),
  remove: () => {},
  durable: false,
}));
