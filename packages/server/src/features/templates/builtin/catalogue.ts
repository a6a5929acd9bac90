import { filters } from './filters.ts'

/** A template that ships with the product. Its id never changes and is never given to another one. */
export interface Builtin {
  readonly id: number
  readonly name: string
  readonly display_name: string
  readonly description: string
  readonly category: 'common' | 'web' | 'mail'
  readonly default_enabled: boolean
  readonly settings: { maxretry: number; bantime: number; findtime: number; logpath: string | null }
  readonly jail_config: string
  readonly filter_config: string
  /** Relative to the engine's folder of configuration. */
  readonly required_files: readonly string[]
  /** Values of ID and ID_LIKE in /etc/os-release. */
  readonly compatible_os: readonly string[]
}

const debian = ['debian', 'ubuntu']
const redHat = ['rhel', 'centos', 'rocky', 'almalinux', 'fedora']
const systems = {
  DRA: [...debian, ...redHat, 'alpine'],
  DR: [...debian, ...redHat],
  DA: [...debian, 'alpine'],
  D: debian,
}

/**
 * Where each kind of log lies. The engine's packages know their distribution, so its own variables come first; where it
 * has none, the candidates of all distributions: the agent takes those that exist.
 */
const logs = {
  sshd: ['%(sshd_log)s'],
  dropbear: ['%(dropbear_log)s'],
  auth: ['%(syslog_authpriv)s'],
  postfix: ['%(postfix_log)s'],
  dovecot: ['%(dovecot_log)s'],
  daemon: ['/var/log/daemon.log', '/var/log/syslog', '/var/log/messages'],
  ftp: ['%(pureftpd_log)s'],
  // Not ufw.log beside kern.log: the same lines stand in both and would count twice.
  kernel: ['/var/log/kern.log', '/var/log/messages'],
  fail2ban: ['/var/log/fail2ban.log'],
  apacheError: ['%(apache_error_log)s'],
  apacheAccess: ['%(apache_access_log)s'],
  nginxError: ['%(nginx_error_log)s'],
  nginxAccess: ['%(nginx_access_log)s'],
  webAccess: ['%(nginx_access_log)s', '%(apache_access_log)s'],
  traefik: ['/var/log/traefik/access.log'],
  haproxy: ['/var/log/haproxy.log'],
  gitlab: ['/var/log/gitlab/gitlab-rails/application.log'],
  grafana: ['/var/log/grafana/grafana.log'],
  exim: ['%(exim_main_log)s'],
  roundcube: ['%(roundcube_errors_log)s'],
  vsftpd: ['%(vsftpd_log)s'],
  proftpd: ['%(proftpd_log)s'],
  mysql: [
    '/var/log/mysql/error.log',
    '/var/log/mysql/mysqld.log',
    '/var/log/mysqld.log',
    '/var/log/mariadb/error.log',
    '/var/log/mariadb/mariadb.log',
  ],
  named: ['/var/log/named/security.log'],
  asterisk: ['/var/log/asterisk/messages'],
  squid: ['/var/log/squid/access.log'],
  vaultwarden: ['/var/log/vaultwarden.log', '/var/log/vaultwarden/vaultwarden.log'],
  nextcloud: ['/var/log/nextcloud/nextcloud.log', '/var/log/nextcloud.log'],
  proxyManager: ['/var/log/npm/proxy-host-*_access.log', '/var/log/nginx-proxy-manager/proxy-host-*_access.log'],
  authelia: ['/var/log/authelia/authelia.log', '/var/log/authelia.log'],
  jellyfin: ['/var/log/jellyfin/jellyfin*.log', '/var/log/jellyfin/log_*.log'],
  homeAssistant: ['/var/log/home-assistant/home-assistant.log', '/var/log/home-assistant.log'],
  stockade: ['/var/log/stockade/security.log'],
} as const satisfies Record<string, readonly string[]>

/** Seconds: an hour, a day, two days, a week. */
const hour = 3600
const day = 86_400

interface Entry {
  readonly id: number
  readonly name: string
  readonly title: string
  /** What it watches, one clause. */
  readonly watches: string
  readonly category: Builtin['category']
  readonly on?: true
  /** maxretry, findtime, bantime. */
  readonly limits?: readonly [number, number, number]
  /** Left out where the stock jail's all-ports action stays in force. */
  readonly port?: string
  readonly protocol?: string
  readonly log: keyof typeof logs
  /** As the stanza names it; a filter of ours where it is left out. */
  readonly filter?: string
  readonly also?: readonly string[]
  readonly os: keyof typeof systems
  /** For hosts that keep the log in the journal only, where the filter does not say itself what it reads. */
  readonly journalmatch?: string
}

const sshJournal = '_SYSTEMD_UNIT=ssh.service + _SYSTEMD_UNIT=sshd.service + _COMM=sshd + _COMM=sshd-session'

// oxfmt-ignore
const entries: readonly Entry[] = [
  { id: 1, name: 'sshd', title: 'SSH', watches: 'Failed SSH logins', category: 'common', on: true, port: 'ssh', log: 'sshd', filter: 'sshd[_daemon="sshd(?:-session)?"]', os: 'DRA', journalmatch: sshJournal },
  { id: 2, name: 'sshd-aggressive', title: 'SSH (aggressive mode)', watches: 'Failed SSH logins and connections that never try one', category: 'common', limits: [3, hour, day], port: 'ssh', log: 'sshd', filter: 'sshd[mode=aggressive, _daemon="sshd(?:-session)?"]', os: 'DRA', journalmatch: sshJournal },
  { id: 3, name: 'dropbear', title: 'Dropbear SSH', watches: 'Failed logins of the small SSH server', category: 'common', port: 'ssh', log: 'dropbear', filter: 'dropbear', os: 'DA', journalmatch: '_SYSTEMD_UNIT=dropbear.service' },
  { id: 4, name: 'recidive', title: 'Repeat offenders', watches: 'Addresses that other jails banned again and again', category: 'common', on: true, limits: [5, day, 7 * day], log: 'fail2ban', filter: 'recidive[_jailname="(?:recidive|stockade)"]', os: 'DRA' },
  { id: 5, name: 'pam-generic', title: 'PAM logins', watches: 'Failed logins of any program that asks PAM', category: 'common', log: 'auth', filter: 'pam-generic', os: 'DR', journalmatch: 'SYSLOG_FACILITY=10' },
  { id: 6, name: 'webmin-auth', title: 'Webmin', watches: 'Failed Webmin logins', category: 'common', port: '10000', log: 'auth', filter: 'webmin-auth', os: 'DR', journalmatch: '_SYSTEMD_UNIT=webmin.service' },
  { id: 7, name: 'portscan', title: 'Port scan', watches: 'Connections that the firewall dropped and logged (ufw, or a rule with the prefix "stockade-scan: "); never log what is accepted', category: 'common', limits: [10, 300, day], port: '0:65535', protocol: 'tcp,udp', log: 'kernel', os: 'DR', journalmatch: '_TRANSPORT=kernel' },
  { id: 8, name: 'vsftpd', title: 'vsftpd (FTP)', watches: 'Failed FTP logins at vsftpd', category: 'common', port: 'ftp,ftp-data,ftps,ftps-data', log: 'vsftpd', filter: 'vsftpd', os: 'DR' },
  { id: 9, name: 'mysqld-auth', title: 'MySQL / MariaDB logins', watches: 'Refused database logins; needs log_error_verbosity = 3, or log_warnings = 2 on MariaDB', category: 'common', port: '3306', log: 'mysql', filter: 'mysqld-auth', os: 'DR' },
  { id: 10, name: 'openvpn', title: 'OpenVPN handshakes', watches: 'VPN handshakes that fail', category: 'common', limits: [3, hour, day], port: '1194', protocol: 'udp', log: 'daemon', os: 'DR', journalmatch: '_COMM=openvpn' },
  { id: 11, name: 'apache-auth', title: 'Apache logins', watches: 'Wrong passwords for pages that Apache protects', category: 'web', port: 'http,https', log: 'apacheError', filter: 'apache-auth', also: ['apache-common'], os: 'DR' },
  { id: 12, name: 'apache-badbots', title: 'Apache bad bots', watches: 'Address harvesters that call themselves by name', category: 'web', limits: [1, 600, 2 * day], port: 'http,https', log: 'apacheAccess', filter: 'apache-badbots', os: 'DR' },
  { id: 13, name: 'apache-noscript', title: 'Apache script probes', watches: 'Requests for scripts that are not there', category: 'web', port: 'http,https', log: 'apacheError', filter: 'apache-noscript', also: ['apache-common'], os: 'DR' },
  { id: 14, name: 'apache-overflows', title: 'Apache overflow attempts', watches: 'Overlong and malformed requests', category: 'web', limits: [2, 600, day], port: 'http,https', log: 'apacheError', filter: 'apache-overflows', also: ['apache-common'], os: 'DR' },
  { id: 15, name: 'apache-modsecurity', title: 'ModSecurity hits', watches: 'Requests that ModSecurity refused', category: 'web', limits: [2, 600, hour], port: 'http,https', log: 'apacheError', filter: 'apache-modsecurity', also: ['apache-common'], os: 'DR' },
  { id: 16, name: 'nginx-http-auth', title: 'nginx logins', watches: 'Wrong passwords for pages that nginx protects', category: 'web', port: 'http,https', log: 'nginxError', filter: 'nginx-http-auth', os: 'DRA' },
  { id: 17, name: 'nginx-limit-req', title: 'nginx request limit', watches: 'Addresses over a limit_req zone of nginx', category: 'web', limits: [10, 600, 600], port: 'http,https', log: 'nginxError', filter: 'nginx-limit-req', os: 'DRA' },
  { id: 18, name: 'nginx-botsearch', title: 'nginx vulnerability scans', watches: 'Requests for well-known weak pages', category: 'web', limits: [2, 600, day], port: 'http,https', log: 'nginxAccess', filter: 'nginx-botsearch', also: ['botsearch-common'], os: 'DRA' },
  { id: 19, name: 'nginx-bad-request', title: 'nginx malformed requests', watches: 'Requests that are no HTTP', category: 'web', port: 'http,https', log: 'nginxAccess', filter: 'nginx-bad-request', os: 'DRA' },
  { id: 20, name: 'traefik-auth', title: 'Traefik logins', watches: 'Wrong passwords at Traefik; needs its access log', category: 'web', port: 'http,https', log: 'traefik', filter: 'traefik-auth', os: 'DRA' },
  { id: 21, name: 'haproxy-http-auth', title: 'HAProxy logins', watches: 'Wrong passwords at HAProxy', category: 'web', port: 'http,https', log: 'haproxy', filter: 'haproxy-http-auth', os: 'DR' },
  { id: 22, name: 'wordpress', title: 'WordPress logins', watches: 'Failed logins by wp-login.php and xmlrpc.php; services that use xmlrpc rightly belong on the whitelist', category: 'web', port: 'http,https', log: 'webAccess', os: 'DRA' },
  { id: 23, name: 'phpmyadmin', title: 'phpMyAdmin', watches: 'Failed phpMyAdmin logins', category: 'web', port: 'http,https', log: 'auth', filter: 'phpmyadmin-syslog', os: 'DR', journalmatch: 'SYSLOG_IDENTIFIER=phpMyAdmin' },
  { id: 24, name: 'gitlab', title: 'GitLab', watches: 'Failed GitLab logins', category: 'web', port: 'http,https', log: 'gitlab', filter: 'gitlab', os: 'DR' },
  { id: 25, name: 'grafana', title: 'Grafana', watches: 'Failed Grafana logins', category: 'web', port: 'http,https,3000', log: 'grafana', filter: 'grafana', os: 'DR' },
  { id: 26, name: 'postfix', title: 'Postfix', watches: 'Refused mail and relay attempts', category: 'mail', port: 'smtp,465,submission', log: 'postfix', filter: 'postfix[mode=more]', os: 'DRA' },
  { id: 27, name: 'postfix-sasl', title: 'Postfix SASL logins', watches: 'Failed logins of senders', category: 'mail', limits: [3, hour, day], port: 'smtp,465,submission,imap,imaps,pop3,pop3s', log: 'postfix', filter: 'postfix[mode=auth]', os: 'DRA' },
  { id: 28, name: 'dovecot', title: 'Dovecot', watches: 'Failed mailbox logins', category: 'mail', port: 'pop3,pop3s,imap,imaps,submission,465,sieve', log: 'dovecot', filter: 'dovecot', os: 'DRA' },
  { id: 29, name: 'exim', title: 'Exim', watches: 'Failed logins and refused mail at Exim', category: 'mail', port: 'smtp,465,submission', log: 'exim', filter: 'exim', also: ['exim-common'], os: 'DR' },
  { id: 30, name: 'roundcube-auth', title: 'Roundcube', watches: 'Failed webmail logins; needs log_logins', category: 'mail', port: 'http,https', log: 'roundcube', filter: 'roundcube-auth', os: 'DR' },
  { id: 31, name: 'proftpd', title: 'ProFTPD (FTP)', watches: 'Failed FTP logins at ProFTPD', category: 'common', port: 'ftp,ftp-data,ftps,ftps-data', log: 'proftpd', filter: 'proftpd', os: 'DR' },
  { id: 32, name: 'pure-ftpd', title: 'Pure-FTPd (FTP)', watches: 'Failed FTP logins at Pure-FTPd', category: 'common', port: 'ftp,ftp-data,ftps,ftps-data', log: 'ftp', filter: 'pure-ftpd', os: 'DR' },
  { id: 33, name: 'named-refused', title: 'BIND refused queries', watches: 'DNS queries that BIND denied; needs a security log channel', category: 'common', port: 'domain,953', log: 'named', filter: 'named-refused', os: 'DR' },
  { id: 34, name: 'asterisk', title: 'Asterisk (telephony)', watches: 'Failed SIP registrations', category: 'common', limits: [10, 600, hour], port: '5060,5061', log: 'asterisk', filter: 'asterisk', os: 'DR' },
  { id: 35, name: 'squid', title: 'Squid proxy', watches: 'Requests that the proxy denied', category: 'common', port: '80,443,3128,8080', log: 'squid', filter: 'squid', os: 'DR' },
  { id: 36, name: 'drupal-auth', title: 'Drupal logins', watches: 'Failed Drupal logins', category: 'web', port: 'http,https', log: 'daemon', filter: 'drupal-auth', os: 'DR', journalmatch: 'SYSLOG_IDENTIFIER=drupal' },
  { id: 37, name: 'proxmox', title: 'Proxmox logins', watches: 'Failed logins at Proxmox', category: 'web', port: 'https,http,8006', log: 'daemon', os: 'D', journalmatch: '_SYSTEMD_UNIT=pvedaemon.service + _SYSTEMD_UNIT=pveproxy.service' },
  { id: 38, name: 'vaultwarden', title: 'Vaultwarden', watches: 'Failed logins, codes and admin tokens at Vaultwarden', category: 'web', port: 'http,https', log: 'vaultwarden', os: 'DRA' },
  { id: 39, name: 'stockade-login', title: 'Stockade logins', watches: 'Refused sign-ins at this product itself; needs STOCKADE_SECURITY_LOG', category: 'web', port: 'http,https,8420', log: 'stockade', os: 'DRA' },
  { id: 40, name: 'nextcloud', title: 'Nextcloud', watches: 'Failed logins, codes and wrong host names at Nextcloud; needs its logfile under /var/log', category: 'web', port: 'http,https', log: 'nextcloud', os: 'DRA' },
  { id: 41, name: 'proxy-manager', title: 'Nginx Proxy Manager', watches: 'Wrong passwords at hosts of Nginx Proxy Manager; needs its data/logs folder at /var/log/npm', category: 'web', limits: [10, 600, hour], port: 'http,https', log: 'proxyManager', os: 'DRA' },
  { id: 42, name: 'authelia', title: 'Authelia', watches: 'Failed logins and codes at Authelia; needs its log file under /var/log', category: 'web', port: 'http,https,9091', log: 'authelia', os: 'DRA' },
  { id: 43, name: 'jellyfin', title: 'Jellyfin', watches: 'Failed Jellyfin logins; in a container its log folder belongs at /var/log/jellyfin', category: 'web', port: 'http,https,8096,8920', log: 'jellyfin', os: 'DRA' },
  { id: 44, name: 'home-assistant', title: 'Home Assistant', watches: 'Refused logins and tokens at Home Assistant; needs its log file under /var/log', category: 'web', port: 'http,https,8123', log: 'homeAssistant', os: 'DRA' },
]

const builtinOf = (entry: Entry): Builtin => {
  const [maxretry, findtime, bantime] = entry.limits ?? [5, 600, hour]
  const filter = entry.filter ?? `stockade-${entry.name}`
  const files = entry.filter ? [/^[\w-]+/.exec(entry.filter)?.[0] ?? '', ...(entry.also ?? [])] : []
  const paths: readonly string[] = logs[entry.log]
  const option = (name: string, value: string | undefined) => (value === undefined ? [] : [`${name} = ${value}`])
  return {
    id: entry.id,
    name: entry.name,
    display_name: entry.title,
    description: entry.watches,
    category: entry.category,
    default_enabled: entry.on === true,
    settings: { maxretry, bantime, findtime, logpath: paths.length === 1 ? (paths[0] ?? null) : null },
    jail_config: [
      `[${entry.name}]`,
      'enabled = true',
      `filter = ${filter}`,
      ...option('port', entry.port),
      ...option('protocol', entry.protocol),
      `logpath = ${paths.join('\n          ')}`,
      // Some packages make the journal the default, where a jail with a file would then read the journal.
      'backend = auto',
      ...option('journalmatch', entry.journalmatch),
      `maxretry = ${maxretry}`,
      `findtime = ${findtime}`,
      `bantime = ${bantime}`,
      '',
    ].join('\n'),
    filter_config: entry.filter ? '' : (filters[entry.name] ?? ''),
    required_files: files.map(name => `filter.d/${name}.conf`),
    compatible_os: systems[entry.os],
  }
}

export const builtins: readonly Builtin[] = entries.map(builtinOf)
