import { api, statusOf } from '../api/client.ts'
import { queries } from '../api/queries.ts'
import type { Command } from '../api/queries.ts'
import { toasts } from '../parts/toasts.ts'
import type { ToastLink } from '../parts/toasts.ts'
import { sentenceOf } from '../parts/trouble.tsx'
import { textsOf } from '../texts/catalogue.ts'
import { clip, nameOf } from '../words/clip.ts'
import type { Ordered } from './batch-orders.ts'
import { fleetTexts } from './fleet.texts.ts'
import type { Entry } from './queries.ts'
import { saidOf } from './said.ts'
import { agreed } from './ssh-asked.ts'
import { undoTexts } from './undo.texts.ts'

/* Small actions ask nothing first: they are told with an Undo, which cancels what has not begun and else does the opposite. */

/** With more commands, cancelling them one by one would take too many requests: their opposites go out together. */
export const mostUndone = 25
/** So many opposites, and so many entries of the whitelist, at most in one undo. */
const mostTogether = 5000
/** How long the activity strip offers it, in milliseconds. */
export const undoLasts = 10 * 60_000

type Server = Command['server']
interface Opposite {
  readonly type: Command['type']
  readonly params: Record<string, unknown>
}

/** What undoes a command; null where nothing does. `duration`: what an unban took off, in seconds, -1 for ever. */
export const oppositeOf = ({ type, params }: Pick<Command, 'type' | 'params'>, duration?: number): Opposite | null => {
  const { ip, jail } = params
  switch (type) {
    case 'ban-ip':
      return { type: 'unban-ip', params: { ip, jail } }
    case 'unban-ip':
      // Nobody knows here which jails had it.
      if (jail === '*') return null
      return { type: 'ban-ip', params: { ip, jail, ...(duration === undefined ? {} : { duration }) } }
    case 'jail-enable':
      return { type: 'jail-disable', params: { jail } }
    case 'jail-disable':
      return { type: 'jail-enable', params: { jail } }
    default:
      return null
  }
}

/** What is left of a ban, as a new one takes it; undefined where its end is not known. */
export const leftOf = (
  ban: { readonly expires_at: string | null; readonly ban_duration?: number | null },
  now: number,
): number | undefined => {
  if (ban.expires_at !== null) return Math.max(1, Math.round((Date.parse(ban.expires_at) - now) / 1000))
  return ban.ban_duration === null ? undefined : -1
}

/** Cancels what is still pending; resolves to the commands that are not. */
const cancelled = async (ids: readonly string[]): Promise<readonly string[]> => {
  const begun: string[] = []
  for (const commandId of ids)
    try {
      await api.call('DELETE /commands/{commandId}', { params: { commandId } })
    } catch (error) {
      if (statusOf(error) !== 409) throw error
      begun.push(commandId)
    }
  return begun
}
const send = (serverId: string, { type, params }: Opposite) =>
  api.call('POST /servers/{serverId}/commands', { params: { serverId }, body: { type, params } })

/** Cancels the commands that have not begun, and sends the opposite of the others; resolves to that in words. */
const undoCommands = async (
  ids: readonly string[],
  opposite: (command: Command) => readonly Opposite[],
): Promise<{ readonly text: string; readonly link?: ToastLink }> => {
  const t = textsOf(undoTexts)
  const begun = await cancelled(ids)
  if (begun.length === 0) return { text: t.cancelled }
  const ran = (
    await Promise.all(begun.map(commandId => api.call('GET /commands/{commandId}', { params: { commandId } })))
  ).filter(({ status }) => status !== 'failed' && status !== 'timeout')
  if (ran.length === 0) return { text: t.failed }
  const wanted = ran.flatMap(command => opposite(command).map(asked => ({ server: command.server, ...asked })))
  const [first] = wanted
  if (!first) return { text: t.impossible }
  if (!(await agreed(wanted))) return { text: t.left }
  const made: string[] = []
  for (const { server, type, params } of wanted) made.push((await send(server.id, { type, params })).id)
  const servers = new Set(wanted.map(({ server }) => server.id)).size
  return {
    text: wanted.length === 1 ? t.opposite(saidOf(first)) : t.opposites(servers),
    ...(made.length === 1 ? { link: linkTo(made[0] ?? '') } : {}),
  }
}
const linkTo = (commandId: string): ToastLink => ({ path: `/commands/${commandId}`, text: textsOf(undoTexts).show })

/** Runs an undo and says what came of it. */
const take = (undo: () => Promise<{ readonly text: string; readonly link?: ToastLink }>) => async () => {
  try {
    toasts.show(await undo())
  } catch (error) {
    toasts.show({ text: textsOf(undoTexts).trouble(sentenceOf(error)), error: true })
  }
  // What the live feed does not tell, or tells elsewhere.
  for (const key of ['commands', 'command', 'lookup', 'whitelist']) void queries.invalidateQueries({ queryKey: [key] })
}

/* How to undo a command of this page's own making: only it knows what an unban took off. */
const known = new Map<string, (command: Command) => readonly Opposite[]>()

interface Done {
  readonly text: string
  readonly link?: ToastLink
  readonly commands: readonly string[]
  readonly opposite?: (command: Command) => readonly Opposite[]
}
const plainly = (command: Command): readonly Opposite[] => {
  const opposite = oppositeOf(command)
  return opposite ? [opposite] : []
}
const tellUndoable = ({ text, link, commands, opposite = plainly }: Done) => {
  for (const id of commands) known.set(id, opposite)
  toasts.show({
    text,
    ...(link ? { link } : {}),
    ...(commands.length <= mostUndone ? { undo: () => void take(() => undoCommands(commands, opposite))() } : {}),
  })
}

/** Whether a command can be undone still: it changed something that has an opposite, and not long ago. */
export const canUndo = (command: Command, now: number): boolean =>
  now - Date.parse(command.created_at) < undoLasts &&
  !command.cancelled &&
  command.status !== 'failed' &&
  command.status !== 'timeout' &&
  (known.get(command.id) ?? plainly)(command).length > 0
/** Cancels a command that has not begun, and says whether that was still possible. */
export const cancelCommand = (command: Command): Promise<void> => take(() => undoCommands([command.id], () => []))()
/** Undoes one command, by cancelling it or by its opposite, and says so. */
export const undoCommand = (command: Command): Promise<void> =>
  take(() => undoCommands([command.id], known.get(command.id) ?? plainly))()

/** Sends many opposites as one batch: each host runs its orders in their order, so what waits there still is undone after it ran. */
const revert = async (orders: readonly Ordered[]) => {
  const t = textsOf(undoTexts)
  const [first] = orders
  if (!first) return { text: t.impossible }
  if (!(await agreed(orders))) return { text: t.left }
  const { batch_id } = await api.call('POST /commands/batch', {
    body: { type: first.type, targets: orders.map(({ server, params }) => ({ server_id: server.id, params })) },
  })
  const servers = new Set(orders.map(({ server }) => server.id)).size
  return { text: t.reverted(servers), link: whole([], batch_id) }
}
const keyOf = ({ server, params }: Pick<Ordered, 'server' | 'params'>) =>
  JSON.stringify([server.id, params.jail, params.ip])

interface Many {
  readonly text: string
  readonly commands: readonly string[]
  readonly batchId?: string | undefined
  /** What undoes it, all of one type; nothing for what was so before. */
  readonly orders: readonly Ordered[]
}
const tellMany = ({ text, commands, batchId, orders }: Many) => {
  const link = whole(commands, batchId)
  const undoing = new Map(orders.map(order => [keyOf(order), order]))
  const opposite = (command: Command) => {
    const order = undoing.get(keyOf(command))
    return order ? [order] : []
  }
  if (commands.length <= mostUndone) return tellUndoable({ text, link, commands, opposite })
  for (const id of commands) known.set(id, opposite)
  const can = orders.length > 0 && orders.length <= mostTogether
  toasts.show({ text, link, ...(can ? { undo: () => void take(() => revert(orders))() } : {}) })
}

const placeOf = (servers: readonly string[]) =>
  servers.length === 1 ? nameOf(servers[0] ?? '') : textsOf(fleetTexts).servers(servers.length)

/** Tells that an address is being banned; `servers` are their names. */
export const tellBanned = (ip: string, servers: readonly string[], commands: readonly string[], batchId?: string) =>
  tellUndoable({ text: textsOf(undoTexts).banned(ip, placeOf(servers)), link: whole(commands, batchId), commands })
/** Tells that many addresses are being banned in one jail; `before` are the bans that were known there. */
export const tellBannedMany = (
  ips: readonly string[],
  servers: readonly Server[],
  jail: string,
  before: readonly Pick<LiftedBan, 'ip' | 'jail' | 'server'>[],
  queued: Pick<Many, 'commands' | 'batchId'>,
) => {
  const t = textsOf(undoTexts)
  const were = new Set(before.map(({ ip, jail, server }) => keyOf({ server, params: { ip, jail } })))
  const orders = ips
    .flatMap(ip => servers.map(server => ({ type: 'unban-ip' as const, server, params: { ip, jail } })))
    .filter(order => !were.has(keyOf(order)))
  tellMany({
    text: t.banned(t.addresses(ips.length), placeOf(servers.map(({ hostname }) => hostname))),
    ...queued,
    orders,
  })
}
const whole = (commands: readonly string[], batchId?: string): ToastLink =>
  batchId === undefined ? linkTo(commands[0] ?? '') : { path: `/batches/${batchId}`, text: textsOf(undoTexts).show }

interface LiftedBan {
  readonly ip: string
  readonly jail: string
  readonly server: { readonly id: string; readonly hostname: string }
  readonly expires_at: string | null
  readonly ban_duration?: number | null
}
/** Tells that one ban is being lifted; undone, it lasts as long as it would have. */
export const tellUnbanned = (ban: LiftedBan, commandId: string) =>
  tellUndoable({
    text: textsOf(undoTexts).unbanned(ban.ip, clip(ban.jail, 64).shown, nameOf(ban.server.hostname)),
    link: linkTo(commandId),
    commands: [commandId],
    opposite: () => [banAgain(ban)],
  })
const banAgain = (ban: LiftedBan): Opposite => {
  const duration = leftOf(ban, Date.now())
  return { type: 'ban-ip', params: { ip: ban.ip, jail: ban.jail, ...(duration === undefined ? {} : { duration }) } }
}
/**
 * Tells that an address is being lifted from every jail of some servers; `bans` are those that it had there, `entryId` is
 * the whitelist entry that was made for it in the same go.
 */
export const tellUnbannedEverywhere = (
  ip: string,
  servers: number,
  commands: readonly string[],
  batchId: string,
  bans: readonly LiftedBan[],
  entryId?: number,
) => {
  const t = textsOf(undoTexts)
  const text = t.unbannedEverywhere(ip, textsOf(fleetTexts).servers(servers))
  const link = whole(commands, batchId)
  if (entryId === undefined)
    return tellUndoable({
      text,
      link,
      commands,
      opposite: command => bans.filter(({ server }) => server.id === command.server.id).map(banAgain),
    })
  // The entry has lifted the bans by orders of its own: they can't be cancelled, so what they do is undone after them.
  const undo = async () => {
    await delist(entryId)
    for (const ban of bans) await send(ban.server.id, banAgain(ban))
    return { text: t.bannedAgain(ip) }
  }
  toasts.show({ text, link, ...(bans.length <= mostUndone ? { undo: () => void take(undo)() } : {}) })
}

/** Tells that a jail is being switched on or off on several servers; `before` are those where it was the other way. */
export const tellSwitchedMany = (
  jail: string,
  servers: readonly Server[],
  on: boolean,
  before: readonly Server[],
  queued: Pick<Many, 'commands' | 'batchId'>,
) => {
  const t = textsOf(undoTexts)
  const type = on ? ('jail-disable' as const) : ('jail-enable' as const)
  const text = (on ? t.enabled : t.disabled)(clip(jail, 64).shown, placeOf(servers.map(({ hostname }) => hostname)))
  tellMany({ text, ...queued, orders: before.map(server => ({ type, server, params: { jail } })) })
}
/** Tells that a jail is being switched on or off. */
export const tellSwitched = (jail: string, hostname: string, on: boolean, commandId: string) => {
  const t = textsOf(undoTexts)
  tellUndoable({
    text: (on ? t.enabled : t.disabled)(clip(jail, 64).shown, nameOf(hostname)),
    link: linkTo(commandId),
    commands: [commandId],
  })
}

const toWhitelist = (): ToastLink => ({ path: '/whitelist', text: textsOf(undoTexts).show })

const delist = (id: number): Promise<unknown> =>
  api.call('DELETE /whitelist/{id}', { params: { id } }).catch((error: unknown) => {
    // Somebody else was faster.
    if (statusOf(error) !== 404) throw error
  })

/** Tells what was whitelisted; undone, it is taken off again. */
export const tellWhitelisted = (entries: readonly Pick<Entry, 'id' | 'ip'>[]) => {
  const t = textsOf(undoTexts)
  const [first] = entries
  if (!first) return
  const undo = async () => {
    const { removed } = await api.call('POST /whitelist/remove', { body: { ids: entries.map(({ id }) => id) } })
    return { text: entries.length === 1 ? t.delisted : t.delistedMany(removed), link: toWhitelist() }
  }
  toasts.show({
    text: entries.length === 1 ? t.whitelisted(first.ip) : t.whitelistedMany(entries.length),
    link: toWhitelist(),
    ...(entries.length <= mostTogether ? { undo: () => void take(undo)() } : {}),
  })
}

/** Tells what was taken off the whitelist; undone, it is put there again as it was. */
export const tellUnlisted = (entry: Entry) => {
  const t = textsOf(undoTexts)
  const undo = async () => {
    const { ip, description, expires_at } = entry
    await api
      .call('POST /whitelist', { body: { ip, description, ...(expires_at === null ? {} : { expires_at }) } })
      .catch((error: unknown) => {
        if (statusOf(error) !== 409) throw error
      })
    return { text: t.listed(entry.ip), link: toWhitelist() }
  }
  toasts.show({ text: t.unlisted(entry.ip), link: toWhitelist(), undo: () => void take(undo)() })
}
