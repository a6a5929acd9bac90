/*
 * Lines as hosts log them. For the filters of our own: what must be found in each, null for nothing. For the engine's
 * filters: one line each that it must match, which shows that the template names the right one.
 */
export const ownLines: Readonly<Record<string, readonly (readonly [string | null, string])[]>> = {
  portscan: [
    [
      '203.0.113.45',
      'Nov 20 12:31:04 web1 kernel: [93211.402113] [UFW BLOCK] IN=eth0 OUT= MAC=52:54:00:aa:bb:cc:52:54:00:11:22:33:08:00 SRC=203.0.113.45 DST=192.0.2.10 LEN=44 TOS=0x00 PREC=0x00 TTL=243 ID=54321 PROTO=TCP SPT=45120 DPT=3389 WINDOW=1024 RES=0x00 SYN URGP=0',
    ],
    [
      '2001:db8::bad1',
      'Nov 20 12:31:05 web1 kernel: [UFW BLOCK] IN=eth0 OUT= MAC=52:54:00:aa:bb:cc:52:54:00:11:22:33:86:dd SRC=2001:0db8:0000:0000:0000:0000:0000:bad1 DST=2001:0db8:0000:0000:0000:0000:0000:0010 LEN=60 TC=0 HOPLIMIT=52 FLOWLBL=0 PROTO=TCP SPT=50112 DPT=23 WINDOW=64800 RES=0x00 SYN URGP=0',
    ],
    [
      '198.51.100.77',
      'Nov 20 12:31:06 web1 kernel: stockade-scan: IN=eth0 OUT= MAC=52:54:00:aa:bb:cc:52:54:00:11:22:33:08:00 SRC=198.51.100.77 DST=192.0.2.10 LEN=29 TOS=0x00 PREC=0x00 TTL=51 ID=0 DF PROTO=UDP SPT=39122 DPT=1900 LEN=9',
    ],
    [
      '203.0.113.46',
      '2026-11-20T12:31:07.120934+00:00 web1 kernel: [93214.000001] [UFW BLOCK] IN=ens3 OUT= MAC=52:54:00:aa:bb:cc:52:54:00:11:22:33:08:00 SRC=203.0.113.46 DST=192.0.2.10 LEN=40 TOS=0x00 PREC=0x00 TTL=240 ID=12 PROTO=TCP SPT=61000 DPT=5900 WINDOW=1024 RES=0x00 SYN URGP=0',
    ],
    [
      null,
      'Nov 20 12:31:08 web1 kernel: [93215.1] [UFW ALLOW] IN=eth0 OUT= SRC=198.51.100.9 DST=192.0.2.10 LEN=60 PROTO=TCP SPT=41000 DPT=22 SYN URGP=0',
    ],
  ],
  wordpress: [
    [
      '203.0.113.21',
      '203.0.113.21 - - [20/Nov/2026:12:40:01 +0000] "POST /wp-login.php HTTP/1.1" 200 4521 "https://example.org/wp-login.php" "Mozilla/5.0 (X11; Linux x86_64)"',
    ],
    [
      '198.51.100.14',
      '198.51.100.14 - - [20/Nov/2026:12:40:02 +0000] "POST /blog/wp-login.php?action=lostpassword HTTP/2.0" 200 1988 "-" "python-requests/2.31.0"',
    ],
    [
      '2001:db8::c0de',
      '2001:db8::c0de - - [20/Nov/2026:12:40:03 +0000] "POST /xmlrpc.php HTTP/1.1" 200 403 "-" "Mozilla/5.0"',
    ],
    ['203.0.113.22', '203.0.113.22 - bob [20/Nov/2026:12:40:04 +0000] "POST //xmlrpc.php HTTP/1.0" 200 403 "-" "-"'],
    // A login that succeeds, somebody who only looks, and a browser that pretends.
    [
      null,
      '203.0.113.30 - - [20/Nov/2026:12:40:06 +0000] "POST /wp-login.php HTTP/1.1" 302 0 "https://example.org/wp-login.php" "Mozilla/5.0"',
    ],
    [null, '203.0.113.31 - - [20/Nov/2026:12:40:07 +0000] "GET /wp-login.php HTTP/1.1" 200 4300 "-" "Mozilla/5.0"'],
    [
      null,
      '203.0.113.32 - - [20/Nov/2026:12:40:08 +0000] "GET /a HTTP/1.1" 200 4300 "-" "192.0.2.1 - - "POST /wp-login.php HTTP/1.1" 200"',
    ],
  ],
  openvpn: [
    ['203.0.113.60', 'Nov 20 12:50:01 vpn1 openvpn[812]: 203.0.113.60:49211 TLS Error: TLS handshake failed'],
    [
      '198.51.100.61',
      'Nov 20 12:50:02 vpn1 ovpn-server[812]: 198.51.100.61:1194 VERIFY ERROR: depth=0, error=certificate has expired: CN=laptop7',
    ],
    [
      '203.0.113.62',
      'Nov 20 12:50:03 vpn1 ovpn-server[812]: TLS Error: cannot locate HMAC in incoming packet from [AF_INET]203.0.113.62:52110',
    ],
    [
      '2001:db8::62',
      'Nov 20 12:50:04 vpn1 openvpn[812]: TLS Error: incoming packet authentication failed from [AF_INET6]2001:db8::62:40120',
    ],
    [
      '198.51.100.63',
      'Nov 20 12:50:05 vpn1 openvpn[812]: alice/198.51.100.63:51000 TLS Auth Error: Auth Username/Password verification failed for peer',
    ],
    [
      null,
      'Nov 20 12:50:06 vpn1 openvpn[812]: 198.51.100.64:51000 TLS: Initial packet from [AF_INET]198.51.100.64:51000, sid=1f2e3d4c 5b6a7988',
    ],
  ],
  proxmox: [
    [
      '203.0.113.80',
      'Nov 20 13:01:01 pve1 pvedaemon[1203]: authentication failure; rhost=203.0.113.80 user=root@pam msg=Authentication failure',
    ],
    [
      '198.51.100.80',
      "Nov 20 13:01:02 pve1 pvedaemon[1203]: authentication failure; rhost=::ffff:198.51.100.80 user=admin@pve msg=no such user ('admin@pve')",
    ],
    [
      '2001:db8::80',
      'Nov 20 13:01:03 pve1 pvedaemon[1204]: authentication failure; rhost=2001:db8::80 user=root@pam msg=Authentication failure',
    ],
    [null, "Nov 20 13:01:04 pve1 pvedaemon[1204]: <root@pam> successful auth for user 'root@pam'"],
  ],
  vaultwarden: [
    [
      '203.0.113.90',
      '[2026-11-20 13:10:01.123][vaultwarden::api::identity][ERROR] Username or password is incorrect. Try again. IP: 203.0.113.90. Username: alice@example.org.',
    ],
    [
      '198.51.100.90',
      '[2026-11-20 13:10:02.456][vaultwarden::api::admin][ERROR] Invalid admin token. IP: 198.51.100.90',
    ],
    [
      '2001:db8::90',
      '[2026-11-20 13:10:03.789][vaultwarden::api::core::two_factor::authenticator][ERROR] Invalid TOTP code! Server time: 2026-11-20 13:10:03 UTC IP: 2001:db8::90',
    ],
    [
      null,
      '[2026-11-20 13:10:04.000][vaultwarden::api::identity][INFO] User alice@example.org logged in successfully. IP: 203.0.113.90',
    ],
  ],
  nextcloud: [
    [
      '203.0.113.96',
      '{"reqId":"a1","level":2,"time":"2026-11-28T08:00:00+00:00","remoteAddr":"203.0.113.96","user":"--","app":"core","method":"POST","url":"/login","message":"Login failed: alice (Remote IP: 203.0.113.96)"}',
    ],
    [
      '2001:db8::96',
      '{"reqId":"a1","level":2,"time":"2026-11-28T08:00:00+00:00","remoteAddr":"2001:db8::96","user":"--","app":"core","method":"POST","url":"/login","message":"Two-factor challenge failed: totp"}',
    ],
    [
      '203.0.113.97',
      '{"reqId":"a1","level":2,"time":"2026-11-28T08:00:00+00:00","remoteAddr":"203.0.113.97","user":"--","app":"core","method":"POST","url":"/login","message":"Login failed: \\"remoteAddr\\":\\"198.51.100.9\\""}',
    ],
    [
      null,
      '{"reqId":"a1","level":2,"time":"2026-11-28T08:00:00+00:00","remoteAddr":"198.51.100.96","user":"--","app":"core","method":"POST","url":"/login","message":"User alice logged in"}',
    ],
  ],
  authelia: [
    [
      '203.0.113.101',
      `time="2026-11-29T01:00:00+01:00" level=error msg="Unsuccessful 1FA authentication attempt by user 'alice'" error="user not found" method=POST path=/api/firstfactor remote_ip=203.0.113.101`,
    ],
    [
      '2001:db8::101',
      `time="2026-11-29T01:00:01Z" level=error msg="Unsuccessful TOTP authentication attempt by user 'alice' and they are banned until 1:05AM" method=POST path=/api/secondfactor/totp remote_ip="2001:db8::101" stack="x"`,
    ],
    [
      '203.0.113.102',
      String.raw`time="2026-11-29T01:00:02+01:00" level=error msg="Unsuccessful 1FA authentication attempt by user 'a\" method=POST path=/ remote_ip=198.51.100.9 '" method=POST path=/api/firstfactor remote_ip=203.0.113.102`,
    ],
    [
      '203.0.113.103',
      `{"error":"not found","level":"error","method":"POST","msg":"Error occurred getting details for user with username input 'x' which usually indicates they do not exist","path":"/api/firstfactor","remote_ip":"203.0.113.103","time":"2026-11-29T01:00:03+01:00"}`,
    ],
    [
      '203.0.113.104',
      String.raw`{"level":"error","method":"POST","msg":"Unsuccessful 1FA authentication attempt by user 'a\",\"path\":\"/\",\"remote_ip\":\"198.51.100.9\"'","path":"/api/firstfactor","remote_ip":"203.0.113.104","time":"2026-11-29T01:00:04Z"}`,
    ],
    [
      null,
      `{"level":"info","method":"POST","msg":"Authentication attempt successful","path":"/api/firstfactor","remote_ip":"198.51.100.1","time":"2026-11-29T01:00:05Z","username":"alice"}`,
    ],
  ],
  'home-assistant': [
    [
      '203.0.113.111',
      "2026-11-29 01:00:00.123 WARNING (MainThread) [homeassistant.components.http.ban] Login attempt or request with invalid authentication from host.example (203.0.113.111). Requested URL: '/auth/login_flow/1f'. (Mozilla/5.0)",
    ],
    [
      '2001:db8::111',
      "2026-11-29 01:00:01.123 WARNING (MainThread) [homeassistant.components.http.ban] Login attempt or request with invalid authentication from 2001:db8::111 (2001:db8::111). Requested URL: '/ (198.51.100.9).'. (from x (198.51.100.9).)",
    ],
    [
      null,
      '2026-11-29 01:00:02.123 WARNING (MainThread) [custom.component] Login attempt or request with invalid authentication from x (198.51.100.9).',
    ],
  ],
  jellyfin: [
    [
      '203.0.113.121',
      '[2026-11-29 01:00:00.123 +00:00] [INF] [33] Jellyfin.Server.Implementations.Users.UserManager: Authentication request for "alice" has been denied (IP: "203.0.113.121").',
    ],
    [
      '2001:db8::121',
      '[2026-11-29 01:00:01.123 +00:00] [INF] Authentication request for alice has been denied (IP: 2001:db8::121).',
    ],
    [
      '203.0.113.122',
      '[2026-11-29 01:00:02.123 +00:00] [INF] [33] Jellyfin.Server.Implementations.Users.UserManager: Authentication request for "x" has been denied (IP: "198.51.100.9")." has been denied (IP: "203.0.113.122").',
    ],
    [
      null,
      '[2026-11-29 01:00:03.123 +00:00] [INF] [33] Jellyfin.Server.Implementations.Users.UserManager: Authentication request for "alice" has succeeded.',
    ],
  ],
  'proxy-manager': [
    [
      '203.0.113.131',
      '[29/Nov/2026:01:00:00 +0000] - 401 401 - GET https app.example "/admin" [Client 203.0.113.131] [Length 179] [Gzip -] [Sent-to 10.0.0.5] "curl/8" "-"',
    ],
    [
      '2001:db8::131',
      '[29/Nov/2026:01:00:01 +0000] MISS 502, 401 401 - POST http app.example "/x?[Client 198.51.100.9]" [Client 2001:db8::131] [Length 0] [Gzip 1.20] [Sent-to app] "[Client 198.51.100.9]" "-"',
    ],
    [
      '203.0.113.132',
      '[29/Nov/2026:01:00:02 +0000] 401 - GET https app.example "/" [Client 203.0.113.132] [Length 179] [Gzip -] "-" "-"',
    ],
    [
      null,
      '[29/Nov/2026:01:00:03 +0000] - 200 200 - GET https app.example "/ 401 - GET https x" [Client 198.51.100.1] [Length 179] [Gzip -] [Sent-to 10.0.0.5] "-" "-"',
    ],
  ],
  'stockade-login': [
    [
      '203.0.113.95',
      '2026-11-20T13:11:01.123Z stockade-auth: 401 from 203.0.113.95 POST /api/v1/auth/login user="alice"',
    ],
    ['2001:db8::95', '2026-11-20T13:11:02.123Z stockade-auth: 429 from 2001:db8::95 POST /api/v1/auth/mfa/verify'],
    [null, '2026-11-20T13:11:03.123Z stockade-auth: 403 from 203.0.113.95 DELETE /api/v1/users/{userId}'],
    [null, '2026-11-20T13:11:04.123Z stockade-auth: 12 more lines were left out'],
  ],
}

export const engineLines: readonly (readonly [template: string, address: string, line: string])[] = [
  ['sshd', '2001:db8::7', 'Nov 20 12:02:07 host1 sshd[123]: Failed password for root from 2001:db8::7 port 40001 ssh2'],
  [
    'sshd',
    '203.0.113.7',
    'Nov 20 12:02:07 host1 sshd-session[123]: Failed password for invalid user admin1 from 203.0.113.7 port 40001 ssh2',
  ],
  [
    'dropbear',
    '203.0.113.28',
    "Nov 20 12:05:17 web1 dropbear[811]: Bad password attempt for 'root' from 203.0.113.28:50000",
  ],
  ['recidive', '203.0.113.10', '2026-11-20 12:00:02,000 fail2ban.actions [12]: NOTICE [sshd] Ban 203.0.113.10'],
  [
    'pam-generic',
    '203.0.113.29',
    'Nov 20 12:05:18 web1 su: pam_unix(su:auth): authentication failure; logname= uid=0 euid=0 tty=ssh ruser= rhost=203.0.113.29 user=root',
  ],
  ['webmin-auth', '203.0.113.27', 'Nov 20 12:05:16 web1 webmin[811]: Invalid login as root from 203.0.113.27'],
  ['vsftpd', '203.0.113.18', 'Fri Nov 20 12:05:07 2026 [pid 811] [alice] FAIL LOGIN: Client "203.0.113.18"'],
  [
    'mysqld-auth',
    '203.0.113.12',
    "2026-11-20 12:05:01 41 [Warning] Access denied for user 'root'@'203.0.113.12' (using password: YES)",
  ],
  [
    'apache-auth',
    '203.0.113.17',
    '[Fri Nov 20 12:05:06.123456 2026] [auth_basic:error] [pid 811] [client 203.0.113.17:50000] AH01617: user alice: authentication failure for "/admin": Password Mismatch',
  ],
  [
    'apache-badbots',
    '203.0.113.34',
    '203.0.113.34 - - [20/Nov/2026:12:05:20 +0000] "GET / HTTP/1.1" 200 150 "-" "EmailSiphon"',
  ],
  [
    'apache-noscript',
    '203.0.113.35',
    "[Fri Nov 20 12:05:21.123456 2026] [php:error] [pid 811] [client 203.0.113.35:50000] script '/var/www/html/a.php' not found or unable to stat",
  ],
  [
    'apache-overflows',
    '203.0.113.36',
    '[Fri Nov 20 12:05:22.123456 2026] [core:error] [pid 811] [client 203.0.113.36:50000] AH00126: Invalid URI in request GET /%c0%af HTTP/1.0',
  ],
  [
    'apache-modsecurity',
    '203.0.113.37',
    '[Fri Nov 20 12:05:23.123456 2026] [:error] [pid 811] [client 203.0.113.37:50000] ModSecurity: Access denied with code 403 (phase 2). Pattern match "x" at ARGS:a.',
  ],
  [
    'nginx-http-auth',
    '203.0.113.15',
    '2026/11/20 12:05:04 [error] 811#811: *1 user "alice": password mismatch, client: 203.0.113.15, server: example.org, request: "GET /admin HTTP/1.1", host: "example.org"',
  ],
  [
    'nginx-limit-req',
    '203.0.113.16',
    '2026/11/20 12:05:05 [error] 811#811: *2 limiting requests, excess: 20.5 by zone "one", client: 203.0.113.16, server: example.org, request: "GET / HTTP/1.1", host: "example.org"',
  ],
  [
    'nginx-botsearch',
    '203.0.113.33',
    '203.0.113.33 - - [20/Nov/2026:12:05:19 +0000] "GET /phpmyadmin/scripts/setup.php HTTP/1.1" 404 150 "-" "-"',
  ],
  [
    'nginx-bad-request',
    '203.0.113.20',
    '203.0.113.20 - - [20/Nov/2026:12:05:09 +0000] "\\x16\\x03\\x01" 400 150 "-" "-"',
  ],
  [
    'traefik-auth',
    '203.0.113.21',
    '203.0.113.21 - alice [20/Nov/2026:12:05:10 +0000] "GET /dashboard HTTP/2.0" 401 17 "-" "-" 12 "auth@file" "-" 0ms',
  ],
  [
    'haproxy-http-auth',
    '203.0.113.26',
    'Nov 20 12:05:15 lb1 haproxy[811]: 203.0.113.26:50000 [20/Nov/2026:12:05:15.123] fe fe/<NOSRV> -1/-1/-1/-1/0 401 200 - - PR-- 1/1/0/0/0 0/0 "GET / HTTP/1.1"',
  ],
  [
    'phpmyadmin',
    '203.0.113.23',
    'Nov 20 12:05:12 web1 phpMyAdmin[811]: user denied: root (mysql-denied) from 203.0.113.23',
  ],
  ['gitlab', '203.0.113.25', '2026-11-20T12:05:14.000Z: Failed Login: username=alice ip=203.0.113.25'],
  [
    'grafana',
    '203.0.113.24',
    't=2026-11-20T12:05:13+0000 lvl=eror msg="Invalid username or password" logger=context error="Invalid Username or Password" remote_addr=203.0.113.24',
  ],
  [
    'postfix',
    '203.0.113.38',
    'Nov 20 12:05:24 mx1 postfix/smtpd[811]: NOQUEUE: reject: RCPT from unknown[203.0.113.38]: 554 5.7.1 <a@example.net>: Relay access denied; from=<b@example.org> to=<a@example.net> proto=ESMTP helo=<x>',
  ],
  [
    'postfix-sasl',
    '203.0.113.13',
    'Nov 20 12:05:02 mx1 postfix/smtpd[811]: warning: unknown[203.0.113.13]: SASL LOGIN authentication failed: UGFzc3dvcmQ6',
  ],
  [
    'dovecot',
    '203.0.113.14',
    'Nov 20 12:05:03 mx1 dovecot: imap-login: Disconnected (auth failed, 1 attempts in 2 secs): user=<alice>, method=PLAIN, rip=203.0.113.14, lip=192.0.2.10, TLS',
  ],
  [
    'exim',
    '203.0.113.22',
    '2026-11-20 12:05:11 login authenticator failed for (ylmf-pc) [203.0.113.22]: 535 Incorrect authentication data (set_id=alice)',
  ],
  [
    'roundcube-auth',
    '203.0.113.19',
    '[20-Nov-2026 12:05:08 +0000]: <k3j2> IMAP Error: Login failed for alice from 203.0.113.19. AUTHENTICATE PLAIN: Authentication failed in /usr/share/roundcube/program/lib/Roundcube/rcube_imap.php on line 200 (POST /?_task=login&_action=login)',
  ],
  [
    'proftpd',
    '203.0.113.51',
    'Nov 20 12:06:01 ftp1 proftpd[811]: ftp1 (203.0.113.51[203.0.113.51]): USER alice (Login failed): Incorrect password',
  ],
  [
    'pure-ftpd',
    '203.0.113.52',
    'Nov 20 12:06:02 ftp1 pure-ftpd: (?@203.0.113.52) [WARNING] Authentication failed for user [alice]',
  ],
  [
    'named-refused',
    '203.0.113.54',
    "20-Nov-2026 12:06:04.123 security: info: client @0x7f 203.0.113.54#53124 (example.org): query (cache) 'example.org/ANY/IN' denied",
  ],
  [
    'asterisk',
    '203.0.113.55',
    "[2026-11-20 12:06:05] NOTICE[811] chan_sip.c: Registration from '\"100\" <sip:100@192.0.2.10>' failed for '203.0.113.55:5060' - Wrong password",
  ],
  [
    'squid',
    '203.0.113.57',
    '1795176367.123      0 203.0.113.57 TCP_DENIED/403 3800 GET http://example.net/ - HIER_NONE/- text/html',
  ],
  [
    'drupal-auth',
    '203.0.113.56',
    'Nov 20 12:06:06 web1 drupal: https://example.org|1795176366|user|203.0.113.56|https://example.org/user/login|https://example.org/user|0||Login attempt failed for alice.',
  ],
]
