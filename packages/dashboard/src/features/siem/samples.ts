import type { siem } from '@stockade/contract'

type Format = siem.SiemSettings['format']

/** The event that the samples show; `tests/browser/siem.long.test.ts` holds them against what the server makes of it. */
export const sampleEvent = {
  id: '019a9c4e-7b00-7abc-8def-0123456789ab',
  type: 'ban',
  severity: 5,
  timestamp: '2026-11-20T09:30:00.000Z',
  message: '203.0.113.7 banned on web-01 (jail sshd)',
  server: { id: '019a9c4e-7b00-7abc-8def-000000000001', hostname: 'web-01' },
  actor: null,
  data: { ip: '203.0.113.7', jail: 'sshd', ban_duration: 600, country: 'AT' },
} as const

const head = '<84>1 2026-11-20T09:30:00.000Z stockade.example stockade - ban'

/** How a ban looks to the receiver; the two of JSON are laid out here, on the wire they are one line. */
export const samples: Readonly<Record<Format, string>> = {
  syslog: `${head} [stockade@32473 id="019a9c4e-7b00-7abc-8def-0123456789ab" type="ban" severity="5" ip="203.0.113.7" jail="sshd" server="web-01"] 203.0.113.7 banned on web-01 (jail sshd)`,
  cef: `${head} - CEF:0|Stockade|Stockade|1.0|ban|IP banned|5|rt=1795167000000 externalId=019a9c4e-7b00-7abc-8def-0123456789ab act=ban src=203.0.113.7 dhost=web-01 cs1=sshd cs1Label=jail cn1=600 cn1Label=banDuration msg=203.0.113.7 banned on web-01 (jail sshd)`,
  leef: `${head} - LEEF:2.0|Stockade|Stockade|1.0|ban|^|devTime=2026-11-20T09:30:00.000Z^devTimeFormat=yyyy-MM-dd'T'HH:mm:ss.SSSX^sev=5^externalId=019a9c4e-7b00-7abc-8def-0123456789ab^src=203.0.113.7^identHostName=web-01^jail=sshd^banDuration=600^msg=203.0.113.7 banned on web-01 (jail sshd)`,
  json: JSON.stringify([sampleEvent], null, 2),
  collector: JSON.stringify(
    { time: 1_795_167_000, host: 'web-01', source: 'stockade', sourcetype: 'stockade:event', event: sampleEvent },
    null,
    2,
  ),
}

/** What finds one event on the other side. */
export const searchFor = (format: Format, id: string): string =>
  ({
    syslog: `id="${id}"`,
    cef: `externalId=${id}`,
    leef: `externalId=${id}`,
    json: `"id":"${id}"`,
    collector: `sourcetype="stockade:event" "${id}"`,
  })[format]
