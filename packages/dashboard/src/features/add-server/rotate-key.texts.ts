import type { Catalogue } from '../../lib/texts/catalogue.ts'

const en = {
  title: 'Key of the agent',
  text: 'Makes a new key for the agent on this host, for example after it was set up anew or when the old key may be known to somebody. The agent that runs now goes on until the new key is used, at most 24 hours.',
  rotate: 'Rotate the key…',
  create: 'Make a new command',
  cancel: 'Leave it as it is',
  run: (name: string) => `Run this on ${name}. It works once, within 24 hours, and is shown only now.`,
  command: 'Command to run on the server',
  used: 'The host has fetched its new key',
  notUsed: (name: string) => `${name} has not called yet`,
  waiting: (name: string) => `Waiting for ${name} to use the new key`,
  rotated: (name: string, time: string) => `${name} uses the new key since ${time}. The old key is off.`,
  slow: 'Nothing yet. The host must reach the address in the command, and the command must be run as a whole, as root.',
  leave: 'You can leave this page: the host changes over by itself.',
  done: 'Done',
}
export const rotateKeyTexts: Catalogue<typeof en> = { name: 'rotate-key', en }
