let kept: ReadonlySet<string> = new Set()

/** Servers that were chosen in their list before the template was: the page of the deployment begins with them. */
export const forServers = {
  keep(ids: ReadonlySet<string>): void {
    kept = ids
  },
  take(): ReadonlySet<string> {
    const taken = kept
    kept = new Set()
    return taken
  },
}
