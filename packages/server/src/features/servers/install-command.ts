/**
 * The command that an operator pastes on a host. Where it travels in the clear to another machine it says so itself: the installer and
 * the agent refuse plain http there unless told.
 */
export const installCommand = (baseUrl: string, token: string): string =>
  `curl -fsSL ${shellWord(`${baseUrl}/install.sh`)} | sudo sh -s -- --token ${token}${isPlainHttp(baseUrl) ? ' --insecure-http' : ''}`

const loopback = /^(localhost|.+\.localhost|127\.\d+\.\d+\.\d+|\[::1\])$/i

/** Whether the base URL is http to an address that is not the server's own machine. */
export const isPlainHttp = (baseUrl: string): boolean => {
  const url = URL.parse(baseUrl)
  return url?.protocol === 'http:' && !loopback.test(url.hostname)
}

/** A word of a shell's line: quoted only where it has to be. */
const shellWord = (text: string): string =>
  /^[A-Za-z0-9._~:/@%+=,-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
