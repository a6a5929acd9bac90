/*
 * The install command holds a token that works once and for a day. It is kept in this tab, so that a reload or a look
 * at another page does not lose it, and forgotten on log-out.
 */
const nameOf = (serverId: string) => `stockade-command-${serverId}`

export const storedCommands = {
  put(serverId: string, command: string): void {
    try {
      sessionStorage.setItem(nameOf(serverId), command)
    } catch {
      memory.set(serverId, command)
    }
  },
  get(serverId: string): string | null {
    try {
      return sessionStorage.getItem(nameOf(serverId)) ?? memory.get(serverId) ?? null
    } catch {
      return memory.get(serverId) ?? null
    }
  },
}
const memory = new Map<string, string>()
