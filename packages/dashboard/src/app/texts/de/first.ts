import type { First, Texts } from '../texts.ts'
import { attackers, reasons } from './attackers.ts'
import { banDialog, bans, overview, search } from './bans.ts'
import { addServer, enrol, secondFactor, setUp, signIn } from './entry.ts'
import { charts, ends, invite, ip, server, serversPage } from './hosts.ts'
import { activity, command, common, find, fleet, notices, shell, time, toasts, undo } from './shell.ts'
import { portknock } from './portknock.ts'
import { guard, limits, passkeys, protection, sealing } from './trust.ts'
import { targets } from './targets.ts'

export const texts: Pick<Texts, First> = {
  charts,
  fleet,
  targets,
  undo,
  'add-server': addServer,
  'ban-dialog': banDialog,
  bans,
  reasons,
  attackers,
  ends,
  invite,
  ip,
  overview,
  portknock,
  server,
  servers: serversPage,
  'set-up': setUp,
  enrol,
  'second-factor': secondFactor,
  passkeys,
  protection,
  sealing,
  guard,
  limits,
  'sign-in': signIn,
  command,
  search,
  activity,
  find,
  notices,
  shell,
  toasts,
  common,
  time,
}
