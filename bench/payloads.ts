/** Results and questions of a size. */

/** Rows of a table, as a tool gives them: about `bytes` of JSON. */
export function rowsOf(bytes: number): { rows: readonly object[] } {
  const rows: object[] = [];
  for (let left = bytes; left > 0; left -= 104) {
    const id = rows.length;
    rows.push({
      id,
      name: `row ${id} of the result`,
      score: id / 7,
      open: id % 3 === 0,
      tags: ["first", "second"],
    });
  }
  return { rows };
}

/** One text of `bytes`. */
export function textOf(bytes: number): object {
  return { content: [{ type: "text", text: "a".repeat(bytes) }] };
}

/** Questions of about `bytes` of JSON, 64 KiB each at most. */
export function questionsOf(bytes: number): Record<string, object> {
  const questions: Record<string, object> = {};
  const each = 65_536;
  for (let at = 0; at < bytes; at += each) {
    questions[`question ${at / each}`] = {
      method: "elicitation/create",
      params: {
        message: "q".repeat(Math.min(each, bytes - at)),
        requestedSchema: { type: "object", properties: {} },
      },
    };
  }
  return questions;
}
