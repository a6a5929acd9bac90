/** Lines as hosts log them, for templates that bring their own filter; and for a new one. */
const examples: Readonly<Record<string, readonly string[]>> = {
  '': [
    'Nov 20 12:02:07 web-01 my-service[812]: login failed from 203.0.113.7',
    'Nov 20 12:02:09 web-01 my-service[812]: login failed from 2001:db8::7',
    'Nov 20 12:02:12 web-01 my-service[812]: login of alice from 192.0.2.10',
  ],
  portscan: [
    'Nov 20 12:31:04 web-01 kernel: [93211.402113] [UFW BLOCK] IN=eth0 OUT= SRC=203.0.113.45 DST=192.0.2.10 LEN=44 TTL=243 PROTO=TCP SPT=45120 DPT=3389',
    '2026-11-20T12:31:06.120934+00:00 web-01 kernel: stockade-scan: IN=eth0 OUT= SRC=2001:db8::bad1 DST=2001:db8::10 LEN=60 PROTO=UDP SPT=39122 DPT=1900',
    'Nov 20 12:31:08 web-01 kernel: [93215.104032] [UFW ALLOW] IN=eth0 OUT= SRC=198.51.100.9 DST=192.0.2.10 LEN=60 PROTO=TCP SPT=41000 DPT=22',
  ],
  wordpress: [
    '203.0.113.21 - - [20/Nov/2026:12:40:01 +0000] "POST /wp-login.php HTTP/1.1" 200 4521 "-" "Mozilla/5.0"',
    '2001:db8::c0de - - [20/Nov/2026:12:40:03 +0000] "POST /xmlrpc.php HTTP/1.1" 403 403 "-" "Mozilla/5.0"',
    '198.51.100.30 - - [20/Nov/2026:12:40:06 +0000] "POST /wp-login.php HTTP/1.1" 302 0 "-" "Mozilla/5.0"',
  ],
  openvpn: [
    'Nov 20 12:50:01 vpn-01 openvpn[812]: 203.0.113.60:49211 TLS Error: TLS handshake failed',
    'Nov 20 12:50:04 vpn-01 openvpn[812]: TLS Error: incoming packet authentication failed from [AF_INET6]2001:db8::62:40120',
    'Nov 20 12:50:06 vpn-01 openvpn[812]: 198.51.100.64:51000 TLS: Initial packet from [AF_INET]198.51.100.64:51000',
  ],
  proxmox: [
    'Nov 20 13:01:01 pve-01 pvedaemon[1203]: authentication failure; rhost=203.0.113.80 user=root@pam msg=Authentication failure',
    'Nov 20 13:01:03 pve-01 pvedaemon[1204]: authentication failure; rhost=2001:db8::80 user=root@pam msg=Authentication failure',
    "Nov 20 13:01:04 pve-01 pvedaemon[1204]: <root@pam> successful auth for user 'root@pam'",
  ],
  vaultwarden: [
    '[2026-11-20 13:10:01.123][vaultwarden::api::identity][ERROR] Username or password is incorrect. Try again. IP: 203.0.113.90. Username: alice@example.org.',
    '[2026-11-20 13:10:02.456][vaultwarden::api::admin][ERROR] Invalid admin token. IP: 2001:db8::90',
    '[2026-11-20 13:10:04.000][vaultwarden::api::identity][INFO] User alice@example.org logged in successfully. IP: 198.51.100.90',
  ],
  nextcloud: [
    '{"reqId":"a1","level":2,"time":"2026-11-28T08:00:00+00:00","remoteAddr":"203.0.113.96","user":"--","app":"core","method":"POST","url":"/login","message":"Login failed: alice (Remote IP: 203.0.113.96)"}',
    '{"reqId":"a1","level":2,"time":"2026-11-28T08:00:00+00:00","remoteAddr":"2001:db8::96","user":"--","app":"core","method":"POST","url":"/login","message":"Two-factor challenge failed: totp"}',
    '{"reqId":"a1","level":2,"time":"2026-11-28T08:00:00+00:00","remoteAddr":"198.51.100.96","user":"--","app":"core","method":"POST","url":"/login","message":"User alice logged in"}',
  ],
  'proxy-manager': [
    '[29/Nov/2026:01:00:00 +0000] - 401 401 - GET https app.example "/admin" [Client 203.0.113.131] [Length 179] [Gzip -] [Sent-to 192.0.2.10] "curl/8" "-"',
    '[29/Nov/2026:01:00:02 +0000] 401 - GET https app.example "/" [Client 2001:db8::131] [Length 179] [Gzip -] "-" "-"',
    '[29/Nov/2026:01:00:03 +0000] - 200 200 - GET https app.example "/" [Client 198.51.100.131] [Length 179] [Gzip -] [Sent-to 192.0.2.10] "-" "-"',
  ],
  authelia: [
    `time="2026-11-29T01:00:00Z" level=error msg="Unsuccessful 1FA authentication attempt by user 'alice'" method=POST path=/api/firstfactor remote_ip=203.0.113.101`,
    `{"level":"error","method":"POST","msg":"Unsuccessful TOTP authentication attempt by user 'alice'","path":"/api/secondfactor/totp","remote_ip":"2001:db8::101","time":"2026-11-29T01:00:03Z"}`,
    '{"level":"info","method":"POST","msg":"Authentication attempt successful","path":"/api/firstfactor","remote_ip":"198.51.100.101","time":"2026-11-29T01:00:05Z"}',
  ],
  jellyfin: [
    '[2026-11-29 01:00:00.123 +00:00] [INF] [33] Jellyfin.Server.Implementations.Users.UserManager: Authentication request for "alice" has been denied (IP: "203.0.113.121").',
    '[2026-11-29 01:00:01.123 +00:00] [INF] Authentication request for "alice" has been denied (IP: "2001:db8::121").',
    '[2026-11-29 01:00:03.123 +00:00] [INF] [33] Jellyfin.Server.Implementations.Users.UserManager: Authentication request for "alice" has succeeded.',
  ],
  'home-assistant': [
    "2026-11-29 01:00:00.123 WARNING (MainThread) [homeassistant.components.http.ban] Login attempt or request with invalid authentication from host.example (203.0.113.111). Requested URL: '/auth/login_flow/1f'. (Mozilla/5.0)",
    "2026-11-29 01:00:01.123 WARNING (MainThread) [homeassistant.components.http.ban] Login attempt or request with invalid authentication from 2001:db8::111 (2001:db8::111). Requested URL: '/auth/token'. (curl/8)",
    '2026-11-29 01:00:02.123 WARNING (MainThread) [homeassistant.components.sensor] Setup of sensor platform is taking over 10 seconds.',
  ],
  'stockade-login': [
    '2026-11-20T13:11:01.123Z stockade-auth: 401 from 203.0.113.95 POST /api/v1/auth/login user="alice"',
    '2026-11-20T13:11:02.456Z stockade-auth: 401 from 2001:db8::95 POST /api/v1/auth/passkey',
    '2026-11-20T13:11:03.789Z stockade-auth: 403 from 198.51.100.95 DELETE /api/v1/users/{userId}',
  ],
}

/** An example for a template by its name, or for a new one by no name; null where its filter lies on the servers. */
export const exampleFor = (name: string): string | null =>
  Object.hasOwn(examples, name) ? (examples[name]?.join('\n') ?? null) : null
