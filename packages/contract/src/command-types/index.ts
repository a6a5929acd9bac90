import type { Static } from 'typebox'
import { approveBan } from './approve-ban.ts'
import { approvePort } from './approve-port.ts'
import { approveWhitelist } from './approve-whitelist.ts'
import { banIp } from './ban-ip.ts'
import { deployTemplate } from './deploy-template.ts'
import { jailDisable } from './jail-disable.ts'
import { jailEnable } from './jail-enable.ts'
import { jailPreview } from './jail-preview.ts'
import { jailReload } from './jail-reload.ts'
import { jailStatus } from './jail-status.ts'
import type { CommandType } from './names.ts'
import { reloadAll } from './reload-all.ts'
import { removeTemplate } from './remove-template.ts'
import { selfTest } from './self-test.ts'
import { serviceRestart } from './service-restart.ts'
import { templatePreview } from './template-preview.ts'
import { unbanIp } from './unban-ip.ts'
import { upgradeAgent } from './upgrade-agent.ts'

/** Every type of command. A type without an entry does not compile. */
export const commandTypes = {
  'ban-ip': banIp,
  'unban-ip': unbanIp,
  'jail-status': jailStatus,
  'jail-preview': jailPreview,
  'jail-enable': jailEnable,
  'jail-disable': jailDisable,
  'jail-reload': jailReload,
  'reload-all': reloadAll,
  'service-restart': serviceRestart,
  'deploy-template': deployTemplate,
  'remove-template': removeTemplate,
  'template-preview': templatePreview,
  'approve-whitelist': approveWhitelist,
  'approve-port': approvePort,
  'approve-ban': approveBan,
  'self-test': selfTest,
  'upgrade-agent': upgradeAgent,
} as const satisfies { readonly [T in CommandType]: { readonly type: T } }

type StaticParams<T extends CommandType> = Static<(typeof commandTypes)[T]['params']>
/** The parameters of a type of command. A type without any allows none, where TypeScript would allow all. */
export type CommandParamsOf<T extends CommandType> = Readonly<
  keyof StaticParams<T> extends never ? Record<string, never> : StaticParams<T>
>

/** A command with its parameters: `switch (command.type)` narrows `params`. */
export type Command<T extends CommandType = CommandType> = {
  [K in T]: { readonly type: K; readonly params: CommandParamsOf<K> }
}[T]

export { frozenTemplate } from './deploy-template.ts'
export type { FrozenTemplate } from './deploy-template.ts'
export { jailPreviewResult } from './jail-preview.ts'
export type { JailPreviewResult } from './jail-preview.ts'
export { commandTypeNames, isCommandType } from './names.ts'
export type { CommandType } from './names.ts'
export { lastSelfTest, outcomeOfSelfTest, selfTestResult } from './self-test.ts'
export type { LastSelfTest, SelfTestResult } from './self-test.ts'
