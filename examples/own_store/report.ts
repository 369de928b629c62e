import process from "node:process";
import {
  checkTaskStore,
  formatConformanceReport,
} from "@mcp-durable/tasks/testing";
import { makeFixture } from "./fixture.ts";

const report = await checkTaskStore("TableTaskStore", makeFixture);
console.log(formatConformanceReport(report));
if (!report.ok) process.exitCode = 1;
