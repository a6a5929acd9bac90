/** Filters that the engine ships and that others build on, or are ready to be built on. */
export const engineFilters: ReadonlySet<string> = new Set(
  (
    '3proxy apache-auth apache-badbots apache-botsearch apache-common apache-fakegooglebot apache-modsecurity ' +
    'apache-nohome apache-noscript apache-overflows apache-pass apache-shellshock assp asterisk bitwarden ' +
    'botsearch-common centreon common counter-strike courier-auth courier-smtp cyrus-imap dante directadmin ' +
    'domino-smtp dovecot dropbear drupal-auth ejabberd-auth exim exim-common exim-spam freeswitch froxlor-auth gitlab ' +
    'grafana groupoffice gssftpd guacamole haproxy-http-auth horde kerio lighttpd-auth mongodb-auth monit monitorix ' +
    'mssql-auth murmur mysqld-auth nagios named-refused nginx-bad-request nginx-botsearch nginx-error-common ' +
    'nginx-forbidden nginx-http-auth nginx-limit-req nsd openhab openvpn openwebmail oracleims pam-generic perdition ' +
    'php-url-fopen phpmyadmin-syslog portsentry postfix proftpd proxmox pure-ftpd qmail recidive roundcube-auth ' +
    'routeros-auth scanlogd screensharingd selinux-common selinux-ssh sendmail-auth sendmail-reject sieve slapd ' +
    'softethervpn sogo-auth solid-pop3d squid squirrelmail sshd stunnel suhosin tine20 traefik-auth uwimap-auth ' +
    'vaultwarden vsftpd webmin-auth wuftpd xinetd-fail znc-adminlog zoneminder'
  ).split(' '),
)
