/**
 * The formats of a form's texts. Each runs in time linear in the length of the
 * text, whatever a client sends.
 */

/** Says whether a text has a format. */
export type FormatTest = (text: string) => boolean;

/** The formats that a form may ask for, by name. */
export const FORMATS: ReadonlyMap<string, FormatTest> = new Map([
  ["email", isEmail],
  ["uri", isUri],
  ["date", isDate],
  ["date-time", isDateTime],
]);

/** The longest address that mail can be sent to (RFC 5321). */
const LONGEST_EMAIL = 254;

/**
 * An address as people write it: a dotted local part without quotes, and a
 * host name.
 */
function isEmail(text: string): boolean {
  if (text.length > LONGEST_EMAIL) return false;
  const at = text.lastIndexOf("@");
  const local = text.slice(0, at).split(".");
  const host = text.slice(at + 1).split(".");
  return at > 0 &&
    local.every((atom) => /^[\w!#$%&'*+/=?^`{|}~-]+$/.test(atom)) &&
    host.every((label) =>
      label.length <= 63 && /^[A-Za-z0-9]/.test(label) &&
      /^[A-Za-z0-9-]*[A-Za-z0-9]$/.test(label)
    );
}

/** The only place of a URI where brackets may stand: an address for a host. */
const IP_LITERAL = /^\/\/(?:[^/?#@[\]]*@)?\[[^/?#@[\]]*\](?=[:/?#]|$)/;

/** An absolute URI (RFC 3986): with a scheme, and in ASCII. */
function isUri(text: string): boolean {
  const scheme = /^[A-Za-z][A-Za-z0-9+.-]*:/.exec(text)?.[0];
  if (scheme === undefined) return false;
  if (/[^\w.~!$&'()*+,;=:@/?#[\]%-]/.test(text)) return false;
  if (/%(?![0-9A-Fa-f]{2})/.test(text)) return false;
  const rest = text.slice(scheme.length).replace(IP_LITERAL, "//");
  if (/[[\]]/.test(rest) || rest.indexOf("#") !== rest.lastIndexOf("#")) {
    return false;
  }
  return URL.canParse(text);
}

/** A day of the calendar (RFC 3339, full-date). */
function isDate(text: string): boolean {
  const [, year, month, day] =
    /^(\d{4})-(\d{2})-(\d{2})$/.exec(text)?.map(Number) ?? [];
  return year !== undefined && day >= 1 && day <= daysIn(year, month);
}

/** A moment with its offset from UTC (RFC 3339, date-time). */
function isDateTime(text: string): boolean {
  const parts =
    /^(\d{2}):(\d{2}):(\d{2})(?:\.\d+)?(?:[Zz]|([+-])(\d{2}):(\d{2}))$/.exec(
      text.slice(11),
    );
  if (!parts || !/^[Tt]$/.test(text.charAt(10)) || !isDate(text.slice(0, 10))) {
    return false;
  }
  const [hour, minute, second] = parts.slice(1, 4).map(Number);
  const [offsetHour, offsetMinute] = parts.slice(5).map((part) =>
    Number(part ?? 0)
  );
  if (hour > 23 || minute > 59 || offsetHour > 23 || offsetMinute > 59) {
    return false;
  }
  if (second <= 59) return true;
  const offset = (offsetHour * 60 + offsetMinute) * (parts[4] === "-" ? -1 : 1);
  const ofDay = (hour * 60 + minute - offset + 2 * MINUTES) % MINUTES;
  return second === 60 && ofDay === MINUTES - 1;
}

/** Minutes of a day; a leap second is added to the last one in UTC. */
const MINUTES = 24 * 60;

function daysIn(year: number, month: number): number {
  if (month === 2) {
    const leap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
    return leap ? 29 : 28;
  }
  if (month < 1 || month > 12) return 0;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}
