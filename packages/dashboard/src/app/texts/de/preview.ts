import { number } from '../../../lib/numbers.ts'
import { plural } from '../../../lib/texts/catalogue.ts'
import type { Texts } from '../texts.ts'

export const preview: Texts['preview'] = {
  ask: 'Was hätte es gesperrt?',
  title: name => `Was hätte ${name} gesperrt?`,
  help: 'Jeder Server liest sein eigenes Log. Niemand wird gesperrt, und keine Zeile verlässt den Server.',
  days: 'Wie weit zurück',
  dayCount: days => plural(days, { one: '1 Tag', other: `${days} Tage` }),
  run: servers => plural(servers, { one: '1 Server fragen', other: `${number(servers)} Server fragen` }),
  again: 'Noch einmal fragen',
  noServers: 'Wählen Sie einen Server.',
  answers: 'Antworten der Server',
  reading: 'Liest sein Log …',
  silent: 'Keine Antwort.',
  banned: count =>
    count === 0
      ? 'Niemand wäre gesperrt worden.'
      : plural(count, {
          one: '1 Adresse wäre gesperrt worden.',
          other: `${number(count)} Adressen wären gesperrt worden.`,
        }),
  spared: count => `${number(count)} durch die Whitelist verschont.`,
  signedIn: count => `Von ${number(count)} davon meldete sich später jemand an.`,
  lines: count => `${number(count)} Zeilen des Logs gelesen.`,
  noLines: 'Das Log hat keine Zeile aus dieser Zeit.',
  cuts: {
    bytes: 'Ältere Zeilen fehlen: Das Log ist zu lang.',
    entries: 'Ältere Meldungen fehlen: Das Journal hat zu viele.',
    cpu: 'Neuere Zeilen fehlen: Das Lesen dauerte zu lange.',
    addresses: 'Neuere Zeilen fehlen: Es sind zu viele Adressen.',
  },
  addresses: server => `Adressen auf ${server}`,
  attempts: count => plural(count, { one: '1 Versuch', other: `${number(count)} Versuche` }),
  first: 'erste Sperre',
  whitelisted: 'Auf der Whitelist',
  later: 'Später angemeldet:',
  more: count => `${number(count)} weitere.`,
  moreServers: count => `${number(count)} weitere Server: siehe Befehle.`,
}
