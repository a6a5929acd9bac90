const words = /(?:^|[^a-z0-9])(?:sshd?|dropbear)(?![a-z0-9])/i

/** Whether a jail keeps those out who guess log-ins by SSH, as far as its name or its filter says so. */
export const guardsSsh = (jail: string, filter: string | null = null): boolean =>
  words.test(jail) || (filter !== null && words.test(filter))
