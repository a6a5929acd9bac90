/** Groups that fail2ban takes for the address, merges into it, or keeps as a field of the ban. */
const forbiddenGroupPattern =
  /^(?:f?id|ip|ip4|ip6|addr|subnet|dns|host|cidr|ip-?host|ip-?rev|family|failures|matches|users|time|bantime|bancount|restored|raw-ticket|(?:ip)?(?:jail)?(?:matches|failures)|mlf.*|alt_.*|tuple_.*)$/i

/**
 * The first tag or named group whose text fail2ban would use as the address or give to an action, as it is written; null
 * when there is none. What variables spell only together is found after fail2ban's own expansion, by the checker.
 */
export const forbiddenGroup = (expression: string): string | null => {
  // One by one: in `(?P<F-ID>` fail2ban sees the tag.
  for (const form of [/<F-([\w-]+)\/?>/gi, /\(\?P?<([\w-]+)>/g])
    for (const [written, name = ''] of expression.matchAll(form)) if (forbiddenGroupPattern.test(name)) return written
  return null
}
