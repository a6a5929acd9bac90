import { plural } from '../../../lib/texts/catalogue.ts'
import type { Texts } from '../texts.ts'

const servers = (count: number, shown: string) => plural(count, { one: '1 Server', other: `${shown} Server` })

export const agents: Texts['agents'] = {
  title: 'Agenten',
  what: 'die Releases des Agenten',
  whatRollouts: 'die Aktualisierungen',
  release: 'Release',
  none: 'Dieser Server bietet keinen Agenten an, weil hier keiner gebaut wurde.',
  current: version => `Auf jedem Agenten läuft ${version}.`,
  outdated: (count, shown, version) =>
    plural(count, {
      one: `Auf 1 Server läuft ein anderes Release als ${version}.`,
      other: `Auf ${shown} Servern läuft ein anderes Release als ${version}.`,
    }),
  rebuilt: (count, shown, version) =>
    plural(count, {
      one: `1 Server hat einen anderen Build von ${version}.`,
      other: `${shown} Server haben einen anderen Build von ${version}.`,
    }),
  unsigned: 'Dieses Release ist nicht signiert. Nur Server, die mit --allow-unsigned installiert wurden, nehmen es an.',
  versions: 'Versionen',
  noVersion: 'Noch nicht gemeldet',
  servers,
  obstacles: 'Server, die von hier keine Aktualisierung annehmen',
  upgrade: (count, shown) => plural(count, { one: '1 Server aktualisieren', other: `${shown} Server aktualisieren` }),
  confirmTitle: version => `Agenten auf ${version} aktualisieren?`,
  confirmText:
    'Ein Server geht voran, dann folgen 5, 25 und 100 % der übrigen. Ein Server kehrt zu seinem Release zurück, wenn der neue Agent Stockade nicht innerhalb von 60 s erreicht, und die Aktualisierung hält an, wenn sie auf zu vielen scheitert. Sperren gelten dabei weiter.',
  confirmVerb: 'Aktualisieren',
  latest: 'Aktualisierung',
  earlier: 'Frühere Aktualisierungen',
  kinds: { upgrade: version => `Auf ${version}`, rollback: version => `Zurück von ${version}` },
  states: { running: 'Läuft', paused: 'Angehalten', finished: 'Abgeschlossen', aborted: 'Abgebrochen' },
  startedBy: name => `von ${name}`,
  wave: wave => `Welle ${wave}`,
  counts: {
    waiting: (count, shown) => plural(count, { one: '1 wartet', other: `${shown} warten` }),
    ordered: (count, shown) => plural(count, { one: '1 wird aktualisiert', other: `${shown} werden aktualisiert` }),
    watched: (count, shown) => plural(count, { one: '1 wird beobachtet', other: `${shown} werden beobachtet` }),
    done: (_, shown) => `${shown} fertig`,
    failed: (_, shown) => `${shown} gescheitert`,
    skipped: (_, shown) => `${shown} übersprungen`,
  },
  problems: 'Server, auf denen es gescheitert ist',
  more: (count, shown) => plural(count, { one: 'und 1 weiterer', other: `und ${shown} weitere` }),
  pause: 'Anhalten',
  resume: 'Fortsetzen',
  abort: 'Abbrechen',
  abortTitle: 'Diese Aktualisierung abbrechen?',
  abortText: 'Kein weiterer Server wird aktualisiert. Server mit dem neuen Release behalten es.',
  rollBack: 'Zurückkehren',
  rollBackTitle: 'Aktualisierte Server zum vorigen Release zurückkehren lassen?',
  rollBackText:
    'Jeder Server, den diese Aktualisierung geändert hat, kehrt zu dem Release zurück, das er behalten hat. Nichts wird heruntergeladen.',
  calm: 'Von hier wurde noch kein Agent aktualisiert.',
}

export const agentAddress: Texts['agent-address'] = {
  title: 'URL von Stockade',
  what: 'die URL, die die Server benutzen',
  now: 'Derzeit',
  none: 'Kein Server ist zu einer anderen URL beordert.',
  ordered: 'Angeordnet',
  by: name => `von ${name}`,
  states: { moved: 'Umgezogen', trying: 'Auf Probe', waiting: 'Wartet', failed: 'Gescheitert' },
  counts: {
    moved: (_, shown) => `${shown} umgezogen`,
    trying: (_, shown) => `${shown} auf Probe`,
    waiting: (count, shown) => plural(count, { one: '1 wartet', other: `${shown} warten` }),
    failed: (_, shown) => `${shown} gescheitert`,
  },
  noServers: 'Noch ist kein Server eingebunden.',
  servers: 'Server',
  more: (count, shown) => plural(count, { one: 'und 1 weiterer', other: `und ${shown} weitere` }),
  order: 'Andere URL anordnen',
  again: 'Jetzt erneut versuchen',
  withdraw: 'Anordnung zurücknehmen',
  withdrawTitle: 'Die Anordnung zurücknehmen?',
  withdrawText: 'Server auf Probe kehren zur vorigen URL zurück. Umgezogene Server bleiben.',
  dialogTitle: 'Alle Server zu einer anderen URL beordern',
  url: 'Neue URL dieses Stockade',
  urlHelp:
    'Setzen Sie zuerst STOCKADE_BASE_URL darauf, oder lassen Sie Stockade selbst https anbieten. Beide URLs müssen hierher führen, bis alle Server umgezogen sind.',
  urlMissing: 'Geben Sie eine URL ein, die mit https:// oder http:// beginnt.',
  trial:
    'Jeder Server lässt Stockade sich dort ausweisen, bevor er seinen Schlüssel sendet, benutzt die URL 10 Minuten auf Probe und kehrt zurück, wenn sie nicht antwortet.',
  submit: 'Alle Server beordern',
}
