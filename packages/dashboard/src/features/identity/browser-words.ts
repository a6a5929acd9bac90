import { textsOf } from '../../lib/texts/catalogue.ts'
import { clip } from '../../lib/clip.ts'
import { identityTexts } from './identity.texts.ts'

/* The order matters: nearly all of them call themselves Safari, and most of them Chrome. */
const browsers = [
  [/\bEdg(?:e|A|iOS)?\//, 'Edge'],
  [/\b(?:OPR|Opera)\//, 'Opera'],
  [/\bSamsungBrowser\//, 'Samsung Internet'],
  [/\b(?:Firefox|FxiOS)\//, 'Firefox'],
  [/\b(?:Chrome|CriOS|Chromium|HeadlessChrome)\//, 'Chrome'],
  [/\bVersion\/[\d.]+.*\bSafari\//, 'Safari'],
] as const
const systems = [
  [/\b(?:iPhone|iPod)\b/, 'iPhone'],
  [/\biPad\b/, 'iPad'],
  [/\bAndroid\b/, 'Android'],
  [/\bCrOS\b/, 'ChromeOS'],
  [/\bWindows\b/, 'Windows'],
  [/\bMac OS X\b|\bMacintosh\b/, 'macOS'],
  [/\bLinux\b|\bX11\b/, 'Linux'],
] as const
const nameIn = (table: readonly (readonly [RegExp, string])[], agent: string) =>
  table.find(([pattern]) => pattern.test(agent))?.[1]

/** `Firefox on Linux`; for a program its own words, such as `curl/8.5.0`. */
export const browserWords = (agent: string): string => {
  const t = textsOf(identityTexts).browsers
  const browser = nameIn(browsers, agent)
  const system = nameIn(systems, agent)
  if (browser) return system ? t.on(browser, system) : browser
  const first = clip(agent.trim().split(/\s/)[0] ?? '', 40).shown
  return first === '' ? t.unknown : first.startsWith('Mozilla/') ? (system ?? t.unknown) : first
}
