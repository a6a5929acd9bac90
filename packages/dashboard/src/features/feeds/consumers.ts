import type { Reply } from '@stockade/client'

export type Feed = Reply<'GET /fleet/feeds'>['feeds'][number]

/** What fetches a feed. docs/guides/feeds.md explains the lines. */
export const consumers = ['nft', 'ipset', 'nginx', 'haproxy', 'apache', 'mikrotik', 'pf', 'curl', 'bouncer'] as const
export type Consumer = (typeof consumers)[number]
export const consumerNames: Readonly<Record<Consumer, string>> = {
  nft: 'nftables',
  ipset: 'ipset',
  nginx: 'nginx',
  haproxy: 'HAProxy',
  apache: 'Apache',
  mikrotik: 'RouterOS',
  pf: 'pf',
  curl: 'curl',
  bouncer: 'CrowdSec bouncer',
}

/** The settings of a bouncer. Its key is the last part of the URL of the feed. docs/guides/bouncers.md has those of some programs. */
const bouncerSettings = (url: string): string => {
  const [, api = '…/api/v1', token = 'TOKEN'] = /^(.*)\/feeds\/([^/]+)$/.exec(url) ?? []
  return [
    ...(token === 'TOKEN' ? ['# FEED = …/api/v1/feeds/TOKEN'] : []),
    `api_url: ${api}/crowdsec/`,
    `api_key: ${token}`,
  ].join('\n')
}

const snippets: Readonly<Record<Consumer, (url: string) => string>> = {
  nft: url =>
    [
      `curl -fsS '${url}?format=nft' -o /run/feed.nft && nft -f /run/feed.nft`,
      `nft add chain inet stockade-feed input '{ type filter hook input priority -10; }'`,
      'nft add rule inet stockade-feed input ip saddr @banned4 drop',
      'nft add rule inet stockade-feed input ip6 saddr @banned6 drop',
    ].join('\n'),
  ipset: url =>
    [
      `curl -fsS '${url}?format=ipset&set=feed' | ipset restore -exist`,
      'iptables -I INPUT -m set --match-set feed4 src -j DROP',
      'ip6tables -I INPUT -m set --match-set feed6 src -j DROP',
    ].join('\n'),
  nginx: url =>
    `curl -fsS '${url}?format=nginx' -o /etc/nginx/feed.conf && nginx -t && nginx -s reload\n# in http or server: include /etc/nginx/feed.conf;`,
  haproxy: url =>
    `curl -fsS '${url}?format=haproxy' -o /etc/haproxy/feed.map && systemctl reload haproxy\n# in the frontend: http-request deny deny_status 403 if { src,map_ip(/etc/haproxy/feed.map) -m found }`,
  apache: url =>
    `curl -fsS '${url}?format=apache' -o /etc/apache2/feed.conf && apachectl configtest && apachectl graceful\n# in <RequireAll>, after "Require all granted": Include /etc/apache2/feed.conf`,
  mikrotik: url => `/tool fetch url="${url}?format=mikrotik&set=feed" dst-path=feed.rsc\n/import feed.rsc`,
  pf: url =>
    `curl -fsS '${url}?format=pf' | pfctl -t feed -T replace -f -\n# in pf.conf: table <feed> persist, then block in from <feed>`,
  curl: url =>
    `curl -fsS --compressed --etag-save feed.etag --etag-compare feed.etag '${url}?format=plain' -o feed.txt`,
  bouncer: bouncerSettings,
}

/** The lines that make a program use the feed at this URL. */
export const snippetOf = (consumer: Consumer, url: string): string => snippets[consumer](url)
