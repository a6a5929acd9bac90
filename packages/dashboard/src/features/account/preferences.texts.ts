import type { Catalogue } from '../../lib/texts/catalogue.ts'

const en = {
  title: 'Preferences',
  kept: 'Kept with your account, in every browser.',
  look: 'Look',
  theme: 'Appearance',
  density: 'Table density',
  densities: { normal: 'Normal', roomy: 'Roomy', dense: 'Dense' },
  language: 'Language',
  asBrowser: 'As the browser',
  languageHelp: 'Applies when the page loads again.',
  reload: 'Reload now',
  times: 'Times',
  zone: 'Time zone',
  zones: {
    browser: (zone: string) => `This browser’s, ${zone}`,
    utc: 'UTC',
    site: (zone: string) => `The service’s, ${zone}`,
  },
  zoneHelp: 'Date and time fields use the browser’s zone.',
  clock: 'Clock',
  clocks: { '24': '24 hours', '12': '12 hours' },
  now: (time: string) => `Now: ${time}`,
  use: 'Use',
  start: 'First page',
  startHelp: 'Opens after you sign in.',
  keys: 'Single-key shortcuts',
  keysHelp: 'Such as j and k in lists, g for other pages, ? for all of them. Off while you type.',
  showKeys: 'Show shortcuts',
  reduced: 'Data saver',
  reducedHelp: 'No polling and no map. Live updates continue.',
}
export const preferencesTexts: Catalogue<typeof en> = { name: 'preferences', en }
