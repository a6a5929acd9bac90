import type { Catalogue } from '../../lib/texts/catalogue.ts'

const en = {
  title: 'Preferences',
  kept: 'They are kept with your account, so they hold in every browser that you sign in with.',
  look: 'Look',
  theme: 'Appearance',
  density: 'Rows of tables',
  densities: { normal: 'Normal', roomy: 'Roomy', dense: 'Dense' },
  language: 'Language',
  asBrowser: 'As the browser',
  languageHelp: 'It changes with the next load of the page.',
  reload: 'Reload now',
  times: 'Times',
  zone: 'Time zone',
  zones: {
    browser: (zone: string) => `This browser’s, ${zone}`,
    utc: 'UTC',
    site: (zone: string) => `The service’s, ${zone}`,
  },
  zoneHelp: 'Fields for a moment take the browser’s.',
  clock: 'Clock',
  clocks: { '24': '24 hours', '12': '12 hours' },
  now: (time: string) => `Now: ${time}`,
  use: 'Use',
  start: 'First page',
  startHelp: 'Where you get after signing in, and by the plain address.',
  keys: 'Single keys do something',
  keysHelp: 'Such as j and k in lists, g for other pages, ? for all of them. Never while you type.',
  showKeys: 'Show the keys',
  reduced: 'Use little data',
  reducedHelp: 'Nothing is asked for at intervals, and no map is loaded. News of the live feed still come.',
}
export const preferencesTexts: Catalogue<typeof en> = { name: 'preferences', en }
