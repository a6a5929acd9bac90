import type { Sequence } from './queries.ts'

/* What is typed into a shell to knock. */

/** A host's name is chosen by a stranger: only what can't mean anything else to a shell is put into a line for it. */
export const hostFor = (hostname: string | undefined): string =>
  hostname !== undefined && /^[a-z0-9][a-z0-9.-]*$/i.test(hostname) ? hostname : 'HOST'

type Knocks = Pick<Sequence, 'protocol'> & { readonly knock_ports: readonly number[] }

export const clientLine = ({ knock_ports, protocol }: Knocks, host: string): string =>
  `stockade knock ${host} ${knock_ports.join(' ')}${protocol === 'udp' ? ' --udp' : ''}`

/**
 * For users who have only a shell. Bash opens the connections, whichever shell the line is typed into. No knock waits for an
 * answer of the port before it, and each ends before TCP would repeat it after a second: a repeated knock would be a wrong one.
 */
export const shellLine = ({ knock_ports, protocol }: Knocks, host: string): string => {
  const each = `for p in ${knock_ports.join(' ')}; do`
  return protocol === 'udp'
    ? `${each} bash -c "echo >/dev/udp/${host}/$p"; sleep 0.2; done`
    : `bash -c '${each} timeout 0.9 bash -c "</dev/tcp/${host}/$p" 2>/dev/null & sleep 0.3; done; wait'`
}
