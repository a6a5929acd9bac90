let chosenServers: ReadonlySet<string> = new Set()

/** Servers that were chosen in their list before the template was: the page of the deployment begins with them. */
export const forServers = {
  keep(ids: ReadonlySet<string>): void {
    chosenServers = ids
  },
  take(): ReadonlySet<string> {
    const servers = chosenServers
    chosenServers = new Set()
    return servers
  },
}
