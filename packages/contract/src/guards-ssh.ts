/* What guards SSH on a host. Without imports, so that the dashboard and the command line can have it without the rest. */

const words = /(?:^|[^a-z0-9])(?:sshd?|dropbear)(?![a-z0-9])/i

/** Whether a jail keeps those out who guess log-ins by SSH, as far as its name or its filter says so. */
export const guardsSsh = (jail: string, filter: string | null = null): boolean =>
  words.test(jail) || (filter !== null && words.test(filter))

/** What a host says of its jail of that name. */
interface Told {
  readonly server: { readonly id: string }
  readonly filter: string | null
}
/** Those of the servers where the jail guards SSH: all of them by its name, else those that say so of its filter. */
export const guardedAmong = <S extends { readonly id: string }>(
  jail: string,
  servers: readonly S[],
  told: readonly Told[],
): readonly S[] => {
  const filters = new Map(told.map(({ server, filter }) => [server.id, filter]))
  return servers.filter(({ id }) => guardsSsh(jail, filters.get(id)))
}

/** Those of the servers where a template guards SSH: they have it, and the jail of its name runs. */
export const guardedByTemplate = <S extends { readonly id: string }>(
  name: string,
  servers: readonly S[],
  told: readonly (Told & { readonly enabled: boolean; readonly template: string | null })[],
): readonly S[] => {
  const jails = new Map(told.map(jail => [jail.server.id, jail]))
  return servers.filter(({ id }) => {
    const jail = jails.get(id)
    return jail?.template === name && jail.enabled && guardsSsh(name, jail.filter)
  })
}
