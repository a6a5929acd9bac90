import {
  IconAt,
  IconDatabase,
  IconFolderSymlink,
  IconMail,
  IconPhone,
  IconRepeat,
  IconServer2,
  IconShieldLock,
  IconTerminal2,
  IconWorld,
} from '@tabler/icons-react'
import type { TemplateRow } from '../fleet/queries.ts'

/** The first pattern that fits the name; what fits none has the icon of its category. */
const icons = [
  [/^(ssh|dropbear)/, IconTerminal2],
  [/^recidive/, IconRepeat],
  [/ftp/, IconFolderSymlink],
  [/(mysql|mariadb|postgres|mongo|redis)/, IconDatabase],
  [/(asterisk|freeswitch|sip)/, IconPhone],
  [/(proxmox|cockpit|webmin)/, IconServer2],
  [/(roundcube|sogo|rspamd)/, IconAt],
] as const
const iconOfCategory = { common: IconShieldLock, web: IconWorld, mail: IconMail, custom: IconShieldLock } as const

/** What kind of service a template protects, at a glance; its name and category say the same in words. */
export const TemplateIcon = ({ row: { name, category } }: { row: Pick<TemplateRow, 'name' | 'category'> }) => {
  const Icon = icons.find(([pattern]) => pattern.test(name))?.[1] ?? iconOfCategory[category]
  return <Icon size={18} stroke={1.75} aria-hidden="true" />
}
