/* The install command in other words: for machines without curl, for images of a cloud, for a playbook, and for those who read first. */

const wayNames = ['curl', 'wget', 'cloudInit', 'ansible', 'read'] as const
export type Way = (typeof wayNames)[number]

const file = 'stockade-install.sh'

/**
 * The ways that are offered. A certificate that only a pin vouches for is left to curl, which sends nothing before it has compared
 * the key.
 */
export const waysOf = (command: string): readonly Way[] => {
  if (partsOf(command) === null) return ['curl']
  return command.includes(' --pinnedpubkey ') ? wayNames.filter(way => way !== 'wget') : wayNames
}

export const commandFor = (way: Way, command: string): string => {
  const found = partsOf(command)
  if (found === null) return command
  const { options, url, args } = found
  switch (way) {
    case 'wget':
      return `wget -qO- ${url} | sudo sh -s -- ${args}`
    case 'cloudInit':
      // It runs as root. JSON is YAML.
      return `#cloud-config\nruncmd:\n  - ${JSON.stringify(`curl ${options} ${url} | sh -s -- ${args}`)}`
    case 'ansible':
      return ansibleTask(`curl ${options} ${url} | sh -s -- ${args}`)
    case 'read':
      return `curl ${options} -o ${file} ${url}\nless ${file}\nsudo sh ${file} ${args}`
    default:
      return command
  }
}

/** A token works once, so a server that has its agent is left alone when the playbook runs again. */
const ansibleTask = (command: string) =>
  [
    '- name: Install the Stockade agent',
    '  become: true',
    `  ansible.builtin.shell: ${JSON.stringify(command)}`,
    '  args:',
    '    creates: /etc/stockade-agent/agent.json',
  ].join('\n')

/** `curl -fsSL URL | sudo sh -s -- ARGUMENTS`, as the server makes it; null for anything else. */
const partsOf = (command: string) => {
  const [, options, url, args] = /^curl (-.+) (\S+\/install\.sh'?) \| sudo sh -s -- (.+)$/.exec(command) ?? []
  return options === undefined || url === undefined || args === undefined ? null : { options, url, args }
}
