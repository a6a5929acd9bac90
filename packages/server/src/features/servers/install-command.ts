/**
 * The command that an operator pastes on a host. Where it travels in the clear to another machine it says so itself: the installer and
 * the agent refuse plain http there unless told.
 */
export const installCommand = (baseUrl: string, token: string, pin: string | null): string => {
  // A pin vouches for the server in place of an authority: curl sends nothing before it has compared the key.
  const isPinned = pin !== null && baseUrl.startsWith('https:')
  const fetched = `curl -fsSL${isPinned ? `k --pinnedpubkey '${pin}'` : ''} ${shellWord(`${baseUrl}/install.sh`)}`
  const options = `${isPinned ? ` --pin '${pin}'` : ''}${isPlainHttp(baseUrl) ? ' --insecure-http' : ''}`
  return `${fetched} | sudo sh -s -- --token ${token}${options}`
}

const loopback = /^(localhost|.+\.localhost|127\.\d+\.\d+\.\d+|\[::1\])$/i

/** Whether the base URL is http to an address that is not the server's own machine. */
const isPlainHttp = (baseUrl: string): boolean => {
  const url = URL.parse(baseUrl)
  return url?.protocol === 'http:' && !loopback.test(url.hostname)
}

/** A word of a shell's line: quoted only where it has to be. */
const shellWord = (text: string): string =>
  /^[A-Za-z0-9._~:/@%+=,-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
