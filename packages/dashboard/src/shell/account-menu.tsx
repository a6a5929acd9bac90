import '@mantine/core/styles/Popover.css'
import '@mantine/core/styles/Menu.css'
import { Menu, useMantineColorScheme } from '@mantine/core'
import { IconCheck, IconClock, IconLogout, IconUser } from '@tabler/icons-react'
import { useNavigate } from '@tanstack/react-router'
import type { Me } from '../api/queries.ts'
import { signOut } from '../api/session.ts'
import { times, useExact } from '../parts/time.tsx'
import { textsOf } from '../texts/catalogue.ts'
import { commonTexts } from '../texts/common.texts.ts'
import { shellTexts } from './shell.texts.ts'
import styles from './shell.module.css'

const schemes = ['auto', 'light', 'dark'] as const

const AccountMenu = ({ me }: { me: Me }) => {
  const t = textsOf(shellTexts)
  const navigate = useNavigate()
  const exact = useExact()
  const { colorScheme, setColorScheme } = useMantineColorScheme()
  const leave = async () => {
    await signOut()
    await navigate({ to: '/login' })
  }
  return (
    <Menu position="bottom-end" width={220} transitionProps={{ duration: 0 }} shadow="var(--shadow)">
      <Menu.Target>
        <button type="button" className={styles.account} aria-label={t.account(me.username)}>
          <IconUser size={18} />
          <bdi>{me.username}</bdi>
        </button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>{t.signedInAs(me.username, textsOf(commonTexts).roles[me.role])}</Menu.Label>
        <Menu.Divider />
        <Menu.Label>{t.theme}</Menu.Label>
        {schemes.map(scheme => (
          <Menu.Item
            key={scheme}
            role="menuitemradio"
            aria-checked={colorScheme === scheme}
            leftSection={<IconCheck size={16} visibility={colorScheme === scheme ? 'visible' : 'hidden'} />}
            onClick={() => setColorScheme(scheme)}
          >
            {t.themes[scheme]}
          </Menu.Item>
        ))}
        <Menu.Divider />
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
