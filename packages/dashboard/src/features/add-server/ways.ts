/* The install command in other words: for machines without curl, for images of a cloud, for a playbook, and for those who read first. */

const wayNames = ['curl', 'wget', 'cloudInit', 'ansible', 'read'] as const
const wayNamesForMany = ['curl', 'wget', 'cloudInit', 'ansible', 'image'] as const
export type Way = (typeof wayNames)[number] | (typeof wayNamesForMany)[number]

const file = 'stockade-install.sh'

/**
 * The ways that are offered. A certificate that only a pin vouches for is left to curl, which sends nothing before it has compared
 * the key.
 */
export const waysOf = (command: string, isForMany = false): readonly Way[] => {
  if (partsOf(command) === null) return ['curl']
  const ways: readonly Way[] = isForMany ? wayNamesForMany : wayNames
  return command.includes(' --pinnedpubkey ') ? ways.filter(way => way !== 'wget') : ways
}

/** @param isForMany the token of the command enrols many hosts: docs/guides/enrolment.md has what is made of it */
export const commandFor = (way: Way, command: string, isForMany = false): string => {
  const parts = partsOf(command)
  if (parts === null) return command
  const { options, url, args } = parts
  switch (way) {
    case 'wget':
      return `wget -qO- ${url} | sudo sh -s -- ${args}`
    case 'cloudInit':
      // It runs as root. JSON is YAML.
      return `#cloud-config\nruncmd:\n  - ${JSON.stringify(`curl ${options} ${url} | sh -s -- ${args}`)}`
    case 'ansible':
      return isForMany ? playbook(parts) : ansibleTask(`curl ${options} ${url} | sh -s -- ${args}`)
    case 'image':
      return `${command} --image\nsudo truncate -s 0 /etc/machine-id`
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

/**
 * The token stands apart, because it stays good: it belongs into a vault, and not into what Ansible prints. Hosts behind one address
 * come ten a minute, so one that is refused tries again.
 */
const playbook = ({ options, url, args }: Parts): string => {
  const [, token = '', rest = ''] = /^--token (\S+)(.*)$/.exec(args) ?? []
  const installer = `curl ${options} ${url} | STOCKADE_TOKEN={{ stockade_token | quote }} sh${rest && ` -s --${rest}`}`
  return [
    '- hosts: all',
    '  become: true',
    '  vars:',
    `    stockade_token: ${token}`,
    '  tasks:',
    '    - name: Install the Stockade agent',
    '      ansible.builtin.shell:',
    `        cmd: ${JSON.stringify(installer)}`,
    '        creates: /etc/stockade-agent/agent.json',
    '      register: stockade_installed',
    '      until: stockade_installed is succeeded',
    '      retries: 5',
    '      delay: 60',
    '      no_log: true',
  ].join('\n')
}

interface Parts {
  readonly options: string
  readonly url: string
  readonly args: string
}
/** `curl -fsSL URL | sudo sh -s -- ARGUMENTS`, as the server makes it; null for anything else. */
const partsOf = (command: string): Parts | null => {
  const [, options, url, args] = /^curl (-.+) (\S+\/install\.sh'?) \| sudo sh -s -- (.+)$/.exec(command) ?? []
  return options === undefined || url === undefined || args === undefined ? null : { options, url, args }
}
