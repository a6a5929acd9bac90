import { lazy, useState } from 'react'
import { IconBan, IconCopy, IconDots, IconList } from '@tabler/icons-react'
import { Link, useNavigate } from '@tanstack/react-router'
import { useMay } from '../../api/session.ts'
import { Dialogs } from '../../kit/dialogs.tsx'
import { SmallButton } from '../../kit/small-button.tsx'
import { actsOn } from '../../kit/search/narrowing.tsx'
import { Value, copyValue } from '../../kit/search/value-menu.tsx'
import type { ValueActs } from '../../kit/search/value-menu.tsx'
import parts from '../../kit/parts.module.css'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { countryName } from '../../lib/countries.ts'
import type { Attacker } from './attackers-list.ts'
import { attackersTexts } from './attackers.texts.ts'
import { bansTexts } from './bans.texts.ts'
import { useBansSearch, useNarrowing } from './narrowing.tsx'
import styles from './attackers.module.css'

const WhitelistDialog = lazy(() => import('../whitelist/add-dialog.tsx'))
const UnbanAddress = lazy(() => import('../ip/unban-address.tsx'))
const BanDialog = lazy(() => import('./ban-dialog.tsx'))

type Asked = 'unban' | 'whitelist' | 'ban' | null

const Ask = ({ asked, ip, onClose }: { asked: Asked; ip: string; onClose: () => void }) =>
  asked === null ? null : (
    <Dialogs>
      {asked === 'unban' && <UnbanAddress ip={ip} onClose={onClose} />}
      {asked === 'whitelist' && <WhitelistDialog given={ip} onClose={onClose} />}
      {asked === 'ban' && <BanDialog ip={ip} onClose={onClose} />}
    </Dialogs>
  )

/** What can be done with an attacker beside the buttons of its row. */
const useActs = (attacker: Attacker, onBan: () => void): ValueActs => {
  const t = textsOf(attackersTexts)
  const search = useBansSearch()
  const navigate = useNavigate()
  const by = useNarrowing()
  const { may } = useMay('write')
  const { ip, country } = attacker
  return {
    value: ip,
    filter: () => by.only('ip', ip),
    exclude: () => by.without('ip', ip),
    open: () => void navigate({ to: '/ip/$addr', params: { addr: ip }, search: {} }),
    more: [
      {
        text: t.single,
        icon: <IconList size={16} />,
        act: () =>
          void navigate({ to: '/bans', search: { ...search, by: 'bans', ip, sort: undefined, page: undefined } }),
      },
      ...(may ? [{ text: t.ban, icon: <IconBan size={16} />, act: onBan }] : []),
      ...actsOn(by, country ? [{ field: 'country', value: country, shown: countryName(country) }] : []),
    ],
  }
}

/** The address leads to its page; a pointer that rests on it opens its menu. */
export const AttackerAddress = ({ attacker }: { attacker: Attacker }) => {
  const [asked, ask] = useState<Asked>(null)
  const { ip } = attacker
  return (
    <>
      <Value
        acts={useActs(attacker, () => ask('ban'))}
        quiet
        dotKey="."
        link={
          <Link
            to="/ip/$addr"
            params={{ addr: ip }}
            search={{}}
            className={styles.ip}
            data-open
            data-ban={ip}
            data-attacker={ip}
          >
            <bdi>{ip}</bdi>
          </Link>
        }
      />
      <Ask asked={asked} ip={ip} onClose={() => ask(null)} />
    </>
  )
}

/** The buttons of a row: over its last columns while it is touched, and always there for keys and screen readers. */
export const AttackerActs = ({ attacker }: { attacker: Attacker }) => {
  const t = textsOf(attackersTexts)
  const { may } = useMay('write')
  const [asked, ask] = useState<Asked>(null)
  const { ip } = attacker
  return (
    <>
      {may && attacker.active_bans > 0 && (
        <SmallButton aria-label={t.unbanOf(ip)} data-key="u" onClick={() => ask('unban')}>
          {t.unban}
        </SmallButton>
      )}
      {may && attacker.state !== 'whitelisted' && (
        <SmallButton aria-label={textsOf(bansTexts).whitelistOf(ip)} data-key="w" onClick={() => ask('whitelist')}>
          {textsOf(bansTexts).whitelist}
        </SmallButton>
      )}
      <button
        type="button"
        className={`${parts.icon ?? ''} ${parts.edged ?? ''}`}
        aria-label={t.copyOf(ip)}
        onClick={() => void copyValue(ip)}
      >
        <IconCopy size={14} />
      </button>
      <Value
        acts={useActs(attacker, () => ask('ban'))}
        label={t.menuOf(ip)}
        className={`${parts.icon ?? ''} ${parts.edged ?? ''}`}
      >
        <IconDots size={14} />
      </Value>
      <Ask asked={asked} ip={ip} onClose={() => ask(null)} />
    </>
  )
}
