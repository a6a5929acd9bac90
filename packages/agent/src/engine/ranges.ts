/** Why fail2ban cannot ban the range, or null. Before 1.1.1 the firewall refuses a range although fail2ban reports it as banned. */
export const whyNotRange = (range: string, version: string | null): string | null => {
  const [major = 0, minor = 0, patch = 0] = (version ?? '').split('.').map(part => parseInt(part, 10))
  const able = major > 1 || (major === 1 && (minor > 1 || (minor === 1 && patch >= 1)))
  if (!able) return `fail2ban ${version ?? ''} cannot ban ranges; 1.1.1 or newer can`
  const least = range.includes(':') ? 32 : 16
  return Number(range.split('/')[1]) < least ? `the range is too wide: /${least} at most` : null
}
