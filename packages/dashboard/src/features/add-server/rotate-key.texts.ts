import type { Catalogue } from '../../lib/texts/catalogue.ts'

const en = {
  title: 'Key of the agent',
  text: 'Creates a new key for the agent on this server, for example after a new installation or when somebody may know the old key. The running agent keeps working until the new key is used, at most 24 hours.',
  rotate: 'Rotate the key…',
  create: 'Create a new command',
  cancel: 'Keep the key',
  run: (name: string) => `Run this on ${name}. It works once, within 24 hours, and is shown only now.`,
  command: 'Command to run on the server',
  used: 'The server fetched its new key',
  notUsed: (name: string) => `${name} has not fetched it yet`,
  waiting: (name: string) => `Waiting for ${name} to use the new key`,
  rotated: (name: string, time: string) => `${name} uses the new key since ${time}. The old key is off.`,
  slow: 'Nothing yet. The server must reach the URL in the command. Run the whole command, as root.',
  leave: 'You can leave this page. The server switches by itself.',
  done: 'Done',
}
export const rotateKeyTexts: Catalogue<typeof en> = { name: 'rotate-key', en }
