import { isJailName } from '@stockade/contract/names.ts'
import { api, statusOf } from '../../api/client.ts'
import { queries } from '../../api/queries.ts'
import type { Command } from '../../api/queries.ts'
import { toasts } from '../../kit/toasts.ts'
import type { ReceiptOf, ToastLink } from '../../kit/toasts.ts'
import { sentenceOf } from '../../kit/trouble.tsx'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { clip, nameOf } from '../../lib/clip.ts'
import { ordersOf } from './batch-orders.ts'
import type { Ordered } from './batch-orders.ts'
import { fleetTexts } from './fleet.texts.ts'
import { keepReceipt } from './kept-receipts.ts'
import { syncQuery } from './queries.ts'
import type { Entry } from './queries.ts'
import { saidOf } from './said-words.ts'
import { agreed } from './ssh-asked.ts'
import { undoTexts } from './undo.texts.ts'

/* Small actions ask nothing first: they are told with an Undo, which cancels what has not begun and else does the opposite. */

/** Of more commands, what they did is not asked one by one: only those can be undone whose opposite is known. */
const mostUndone = 25
/** So many entries of the whitelist at most in one request. */
const mostTogether = 5000
/** So many commands at most are cancelled in one request, and are in one batch. */
const mostCancelled = 10_000
/** How long the activity strip offers it, in milliseconds. */
const undoLasts = 10 * 60_000

type Server = Command['server']
interface Opposite {
  readonly type: Command['type']
  readonly params: Record<string, unknown>
}

/** What undoes a command; null where nothing does. */
const oppositeOf = ({ type, params }: Pick<Command, 'type' | 'params'>): Opposite | null => {
  const { ip, jail } = params
  switch (type) {
    case 'ban-ip':
      return { type: 'unban-ip', params: { ip, jail } }
    case 'unban-ip':
      // Nobody knows here which jails had it.
      if (jail === '*') return null
      return { type: 'ban-ip', params: { ip, jail } }
    case 'jail-enable':
      return { type: 'jail-disable', params: { jail } }
    case 'jail-disable':
      return { type: 'jail-enable', params: { jail } }
    default:
      return null
  }
}

/** What is left of a ban, as a new one takes it; undefined where its end is not known. */
const leftOf = (
  ban: { readonly expires_at: string | null; readonly ban_duration?: number | null },
  now: number,
): number | undefined => {
  if (ban.expires_at !== null) return Math.max(1, Math.round((Date.parse(ban.expires_at) - now) / 1000))
  return ban.ban_duration === null ? undefined : -1
}

/** Cancels what no host has fetched yet; resolves to the others, and how they are. */
const cancelled = async (ids: readonly string[]) => {
  const { commands } = await api.call('POST /commands/cancel', { body: { ids: [...ids] } })
  return commands.filter(({ cancelled }) => !cancelled)
}
const send = (serverId: string, { type, params }: Opposite) =>
  api.call('POST /servers/{serverId}/commands', { params: { serverId }, body: { type, params } })

interface Told {
  readonly text: string
  readonly link?: ToastLink
}
/** Sends what undoes something, all of one type: as few batches as it takes. */
const sendAll = async (orders: readonly Ordered[]): Promise<ToastLink | undefined> => {
  const [first, other] = orders
  if (!first) return undefined
  if (!other) return linkTo((await send(first.server.id, first)).id)
  const batches: string[] = []
  for (const body of ordersOf(orders)) batches.push((await api.call('POST /commands/batch', { body })).batch_id)
  return batches.length === 1 ? whole([], batches[0]) : undefined
}
/**
 * Cancels the commands that have not begun: they never run. Sends the opposite only of those that run or ran, by what `opposites`
 * says of their ids; resolves to that in words.
 */
const undoCommands = async (
  ids: readonly string[],
  opposites: (ran: readonly string[]) => Promise<readonly Ordered[]>,
): Promise<Told> => {
  const t = textsOf(undoTexts)
  const begun = await cancelled(ids)
  if (begun.length === 0) return { text: t.cancelled }
  const ran = begun.filter(({ status }) => status === 'running' || status === 'completed')
  if (ran.length === 0) return { text: t.failed }
  const oppositeOrders = await opposites(ran.map(({ id }) => id))
  const [first] = oppositeOrders
  if (!first) return { text: t.impossible }
  if (!(await agreed(oppositeOrders))) return { text: begun.length < ids.length ? t.leftPartly : t.left }
  const link = await sendAll(oppositeOrders)
  const servers = new Set(oppositeOrders.map(({ server }) => server.id)).size
  return {
    text: oppositeOrders.length === 1 ? t.opposite(saidOf(first)) : t.opposites(servers),
    ...(link ? { link } : {}),
  }
}
/** The opposites of commands, by asking what each of them was. */
const read = (opposite: (command: Command) => readonly Opposite[]) => async (ids: readonly string[]) =>
  (await Promise.all(ids.map(commandId => api.call('GET /commands/{commandId}', { params: { commandId } })))).flatMap(
    command => opposite(command).map(asked => ({ server: command.server, ...asked })),
  )
const linkTo = (commandId: string): ToastLink => ({ path: `/commands/${commandId}`, text: textsOf(undoTexts).show })

/** Runs an undo and says what came of it. */
const take = (undo: () => Promise<Told>) => async () => {
  try {
    toasts.show(await undo())
  } catch (error) {
    toasts.show({ text: textsOf(undoTexts).trouble(sentenceOf(error)), error: true })
  }
  // What the live feed does not tell, or tells elsewhere.
  for (const key of ['commands', 'command', 'lookup', 'whitelist']) void queries.invalidateQueries({ queryKey: [key] })
}

/* How to undo a command of this page's own making: only it knows what an unban took off. */
const oppositesByType = new Map<string, (command: Command) => readonly Opposite[]>()

/** Shows the receipt of what was asked; a reload shows it again until it has settled. */
const showReceipt = (
  of: ReceiptOf,
  told: { readonly text: string; readonly link: ToastLink; readonly undo?: () => void },
) => {
  keepReceipt(of, told.text)
  toasts.show({ ...told, receipt: of })
}
const receiptOf = (commands: readonly string[], batchId?: string): ReceiptOf =>
  batchId === undefined ? { commandId: commands[0] ?? '' } : { batchId }

interface Done {
  readonly text: string
  readonly batchId?: string | undefined
  readonly commands: readonly string[]
  readonly opposite?: (command: Command) => readonly Opposite[]
}
const plainly = (command: Command): readonly Opposite[] => {
  const opposite = oppositeOf(command)
  return opposite ? [opposite] : []
}
const tellUndoable = ({ text, batchId, commands, opposite = plainly }: Done) => {
  for (const id of commands) oppositesByType.set(id, opposite)
  showReceipt(receiptOf(commands, batchId), {
    text,
    link: whole(commands, batchId),
    ...(commands.length <= mostUndone ? { undo: () => void take(() => undoCommands(commands, read(opposite)))() } : {}),
  })
}

/** Tells what is being asked of servers, where nothing undoes it. */
export const tellAsked = (text: string, commands: readonly string[], batchId?: string) =>
  showReceipt(receiptOf(commands, batchId), { text, link: whole(commands, batchId) })

/** Whether a command can be undone still: it changed something that has an opposite, and not long ago. */
export const canUndo = (command: Command, now: number): boolean =>
  now - Date.parse(command.created_at) < undoLasts &&
  !command.cancelled &&
  command.status !== 'failed' &&
  command.status !== 'timeout' &&
  (oppositesByType.get(command.id) ?? plainly)(command).length > 0
/** Cancels a command that has not begun, and says whether that was still possible. */
export const cancelCommand = (command: Command): Promise<void> =>
  take(() => undoCommands([command.id], async () => []))()
/** Undoes one command, by cancelling it or by its opposite, and says so. */
export const undoCommand = (command: Command): Promise<void> =>
  take(() => undoCommands([command.id], read(oppositesByType.get(command.id) ?? plainly)))()

/** A command of a batch, as the answer to it names them. */
interface Queued {
  readonly id: string
  readonly server_id: string
  readonly params_index: number
}
interface Batch {
  readonly commands: readonly Queued[]
  readonly batchId?: string | undefined
}
/** `orders` are what undoes each command, by its id; nothing for what was so before. */
const tellMany = (text: string, { commands, batchId }: Batch, orders: ReadonlyMap<string, Ordered>) => {
  const ids = commands.map(({ id }) => id)
  const opposites = (some: readonly string[]) => some.flatMap(id => orders.get(id) ?? [])
  for (const id of ids) oppositesByType.set(id, () => opposites([id]))
  showReceipt(receiptOf(ids, batchId), {
    text,
    link: whole(ids, batchId),
    ...(ids.length <= mostCancelled
      ? { undo: () => void take(() => undoCommands(ids, async ran => opposites(ran)))() }
      : {}),
  })
}

const placeOf = (servers: readonly string[]) =>
  servers.length === 1 ? nameOf(servers[0] ?? '') : textsOf(fleetTexts).servers(servers.length)

/** Tells that an address is being banned; `servers` are their names. */
export const tellBanned = (ip: string, servers: readonly string[], commands: readonly string[], batchId?: string) =>
  tellUndoable({ text: textsOf(undoTexts).banned(ip, placeOf(servers)), batchId, commands })
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
    commands: [commandId],
    opposite: () => [banAgain(ban)],
  })
const banAgain = (ban: LiftedBan): Opposite => {
  const duration = leftOf(ban, Date.now())
  // Commands do not take every name that a jail may have.
  const jail = isJailName(ban.jail) ? ban.jail : 'stockade'
  return { type: 'ban-ip', params: { ip: ban.ip, jail, ...(duration === undefined ? {} : { duration }) } }
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
  if (entryId === undefined)
    return tellUndoable({
      text,
      batchId,
      commands,
      opposite: command => bans.filter(({ server }) => server.id === command.server.id).map(banAgain),
    })
  // The entry has lifted the bans by orders of its own: they can't be cancelled, so what they do is undone after them.
  const undo = async () => {
    await delist(entryId)
    for (const ban of bans) await send(ban.server.id, banAgain(ban))
    return { text: t.bannedAgain(ip) }
  }
  showReceipt(
    { batchId },
    {
      text,
      link: whole(commands, batchId),
      ...(bans.length <= mostUndone ? { undo: () => void take(undo)() } : {}),
    },
  )
}

/** Tells that a jail is being switched on or off on several servers; `before` are those where it was the other way. */
export const tellSwitchedMany = (
  jail: string,
  servers: readonly Server[],
  on: boolean,
  before: readonly Server[],
  batch: Batch,
) => {
  const t = textsOf(undoTexts)
  const type = on ? ('jail-disable' as const) : ('jail-enable' as const)
  const text = (on ? t.enabled : t.disabled)(clip(jail, 64).shown, placeOf(servers.map(({ hostname }) => hostname)))
  const were = new Map(before.map(server => [server.id, server]))
  const orders = batch.commands.flatMap(({ id, server_id }) => {
    const server = were.get(server_id)
    return server ? [[id, { type, server, params: { jail } }] as const] : []
  })
  tellMany(text, batch, new Map(orders))
}
/** Tells that a jail is being switched on or off. */
export const tellSwitched = (jail: string, hostname: string, on: boolean, commandId: string) => {
  const t = textsOf(undoTexts)
  tellUndoable({ text: (on ? t.enabled : t.disabled)(clip(jail, 64).shown, nameOf(hostname)), commands: [commandId] })
}

/** Tells that addresses are being banned on the fleet, `tags`: where they have one of these; undone, the new fleet bans are lifted. */
export const tellFleetBans = (
  fleetBans: readonly { readonly id: number; readonly entry: string; readonly is_new: boolean }[],
  tags: readonly string[] = [],
) => {
  const t = textsOf(undoTexts)
  const [first, other] = fleetBans
  if (!first) return
  const what = other ? t.addresses(fleetBans.length) : first.entry
  // Those that stood before were changed: lifting them would undo more than this.
  const ids = fleetBans.flatMap(({ id, is_new }) => (is_new ? [id] : []))
  const undo = async () => {
    await api.call('POST /fleet/bans/remove', { body: { ids } })
    void queries.invalidateQueries({ queryKey: ['fleet-bans'] })
    return { text: t.fleetBanLifted(what) }
  }
  const news = {
    text: t.fleetBanned(what, tags.join(', ')),
    link: { path: '/fleet-bans', text: t.show },
    ...(ids.length === fleetBans.length ? { undo: () => void take(undo)() } : {}),
  }
  if (other) toasts.show(news)
  else showReceipt({ fleetBanId: first.id }, news)
}

const toWhitelist = (): ToastLink => ({ path: '/whitelist', text: textsOf(undoTexts).show })

const delist = (id: number): Promise<unknown> =>
  api.call('DELETE /whitelist/{id}', { params: { id } }).catch((error: unknown) => {
    // Somebody else was faster.
    if (statusOf(error) !== 404) throw error
  })

/** Follows a change of the whitelist until the servers hold it. */
const tellSyncing = (told: { readonly text: string; readonly link: ToastLink; readonly undo?: () => void }) => {
  showReceipt({ whitelistSince: Date.now() }, told)
  void queries.invalidateQueries({ queryKey: syncQuery.queryKey })
}
/** Tells that servers fetch the whitelist once more. */
export const tellSyncAgain = (servers: number) =>
  tellSyncing({ text: textsOf(undoTexts).syncing(servers), link: toWhitelist() })

/** `ids` are the entries to take off again; none where they are too many for that. */
const tellListed = (text: string, ids: readonly number[]) => {
  const t = textsOf(undoTexts)
  const undo = async () => {
    const { removed } = await api.call('POST /whitelist/remove', { body: { ids: [...ids] } })
    return { text: ids.length === 1 ? t.delisted : t.delistedMany(removed), link: toWhitelist() }
  }
  const can = ids.length > 0 && ids.length <= mostTogether
  tellSyncing({ text, link: toWhitelist(), ...(can ? { undo: () => void take(undo)() } : {}) })
}
/** Tells what was whitelisted; undone, it is taken off again. */
export const tellWhitelisted = (entries: readonly Pick<Entry, 'id' | 'ip'>[]) => {
  const t = textsOf(undoTexts)
  const [first] = entries
  if (!first) return
  const ids = entries.map(({ id }) => id)
  tellListed(entries.length === 1 ? t.whitelisted(first.ip) : t.whitelistedMany(entries.length), ids)
}
/** Tells how many entries an import has added; undone, they are taken off again. */
export const tellImported = (count: number, ids: readonly number[]) => {
  if (count > 0) tellListed(textsOf(undoTexts).whitelistedMany(count), ids)
}

/** Tells what was taken off the whitelist; undone, it is put there again as it was. */
export const tellUnlisted = (entries: readonly Entry[]) => {
  const t = textsOf(undoTexts)
  const [only = null] = entries.length === 1 ? entries : []
  const undo = async () => {
    const again = entries.map(({ ip, description, expires_at }) => ({
      ip,
      description,
      ...(expires_at === null ? {} : { expires_at }),
    }))
    // What is there again already is skipped.
    await api.call('POST /whitelist/bulk', { body: { entries: again } })
    return { text: only ? t.listed(only.ip) : t.listedMany(entries.length), link: toWhitelist() }
  }
  const text = only ? t.unlisted(only.ip) : t.unlistedMany(entries.length)
  tellSyncing({ text, link: toWhitelist(), undo: () => void take(undo)() })
}
