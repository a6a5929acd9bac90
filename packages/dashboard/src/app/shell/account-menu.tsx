import '@mantine/core/styles/Popover.css'
import '@mantine/core/styles/Menu.css'
import { Menu } from '@mantine/core'
import {
  IconAdjustments,
  IconClock,
  IconId,
  IconKey,
  IconKeyboard,
  IconLogout,
  IconPlayerPause,
  IconShieldLock,
} from '@tabler/icons-react'
import { Link, useNavigate } from '@tanstack/react-router'
import { live, useLive } from '../../api/live.ts'
import type { Me } from '../../api/queries.ts'
import { signOut } from '../../api/sign-out.ts'
import { keyList } from '../../kit/keys.ts'
import { keysTexts } from '../../kit/keys.texts.ts'
import { useTheme } from '../../kit/preferences.ts'
import { times, useExact } from '../../kit/time.tsx'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { commonTexts } from '../../lib/texts/common.texts.ts'
import { shellTexts } from '../../features/navigation/shell.texts.ts'
import { initialsOf } from './initials.ts'
import styles from './shell.module.css'

const schemes = ['auto', 'light', 'dark'] as const

const pages = [
  { to: '/account/profile', icon: IconId, text: 'profile' },
  { to: '/account/security', icon: IconShieldLock, text: 'security' },
  { to: '/account/keys', icon: IconKey, text: 'keys' },
  { to: '/account/preferences', icon: IconAdjustments, text: 'preferences' },
] as const

const AccountMenu = ({ me }: { me: Me }) => {
  const t = textsOf(shellTexts)
  const navigate = useNavigate()
  const exact = useExact()
  const { paused } = useLive()
  const { theme, choose: wear } = useTheme()
  const choose = (value: string) => {
    const scheme = schemes.find(known => known === value)
    if (scheme) wear(scheme)
  }
  const leave = async () => {
    if (await signOut()) await navigate({ to: '/login' })
  }
  return (
    <Menu
      // Within the header: nothing of the page should stand outside its landmarks.
      withinPortal={false}
      // A focusable element that is no item has no place in a menu; the first item takes the focus.
      withInitialFocusPlaceholder={false}
      classNames={{ dropdown: styles.menu ?? '', item: styles.menuItem ?? '' }}
      position="bottom-end"
      width={220}
      transitionProps={{ duration: 0 }}
      shadow="var(--float)"
    >
      <Menu.Target>
        <button type="button" className={styles.account} aria-label={t.account(me.username)}>
          {initialsOf(me.username)}
        </button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>{t.signedInAs(me.username, textsOf(commonTexts).roles[me.role])}</Menu.Label>
        {pages.map(({ to, icon: Icon, text }) => (
          <Menu.Item key={to} leftSection={<Icon size={16} />} renderRoot={props => <Link {...props} to={to} />}>
            {t[text]}
          </Menu.Item>
        ))}
        <Menu.Divider />
        <Menu.Label>{t.theme}</Menu.Label>
        <Menu.RadioGroup value={theme} onChange={choose}>
          {schemes.map(scheme => (
            <Menu.RadioItem key={scheme} value={scheme}>
              {t.themes[scheme]}
            </Menu.RadioItem>
          ))}
        </Menu.RadioGroup>
        <Menu.Divider />
        <Menu.Item leftSection={<IconPlayerPause size={16} />} onClick={() => live.pause(!paused)}>
          {paused ? t.resume : t.pause}
        </Menu.Item>
        <Menu.Item leftSection={<IconKeyboard size={16} />} onClick={() => keyList.set(true)}>
          {textsOf(keysTexts).title}
        </Menu.Item>
        <Menu.Item leftSection={<IconClock size={16} />} onClick={times.toggle}>
          {exact ? t.relativeTimes : t.exactTimes}
        </Menu.Item>
        <Menu.Divider />
        <Menu.Item leftSection={<IconLogout size={16} />} onClick={leave}>
          {t.signOut}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}
export default AccountMenu
