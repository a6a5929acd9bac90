/** Published lists with their terms, as their publishers state them. Nothing of them ships with Stockade. */
export interface Preset {
  readonly name: string
  readonly url: string
  /** Where the publisher states the terms. */
  readonly terms: string
  /** Seconds between two looks: publishers refuse who asks more often. */
  readonly interval: number
}

export const presets: readonly Preset[] = [
  {
    name: 'Spamhaus DROP',
    url: 'https://www.spamhaus.org/drop/drop_v4.json',
    terms: 'https://www.spamhaus.org/drop/terms/',
    interval: 43_200,
  },
  {
    name: 'Spamhaus DROP, IPv6',
    url: 'https://www.spamhaus.org/drop/drop_v6.json',
    terms: 'https://www.spamhaus.org/drop/terms/',
    interval: 43_200,
  },
  {
    name: 'FireHOL level 1',
    url: 'https://iplists.firehol.org/files/firehol_level1.netset',
    terms: 'https://iplists.firehol.org/',
    interval: 21_600,
  },
  {
    name: 'blocklist.de, all',
    url: 'https://lists.blocklist.de/lists/all.txt',
    terms: 'https://www.blocklist.de/en/export.html',
    interval: 3600,
  },
  {
    name: 'blocklist.de, ssh',
    url: 'https://lists.blocklist.de/lists/ssh.txt',
    terms: 'https://www.blocklist.de/en/export.html',
    interval: 3600,
  },
  {
    name: 'CINS Army',
    url: 'https://cinsscore.com/list/ci-badguys.txt',
    terms: 'https://cinsscore.com/',
    interval: 21_600,
  },
  {
    name: 'Emerging Threats, block',
    url: 'https://rules.emergingthreats.net/fwrules/emerging-Block-IPs.txt',
    terms: 'https://community.emergingthreats.net/',
    interval: 43_200,
  },
]
