/**
 * Filters of our own, complete in themselves. Date and time are cut out of a line before it is matched, so what is left
 * of a syslog line begins with a blank and the host's name; a line of the journal begins with the host's name.
 */
export const filters: Readonly<Record<string, string>> = {
  portscan: String.raw`[Definition]
failregex = ^\s*(?:\S+ )?kernel: (?:\[[\d. ]+\] )?(?:\[UFW (?:BLOCK|AUDIT)\]|stockade-scan:?) .*\bSRC=<HOST> DST=\S+ .*\bPROTO=(?:TCP|UDP)\b
ignoreregex =
`,
  wordpress: String.raw`[Definition]
failregex = ^<HOST> \S+ \S+ (?:\[\] )?"POST [^" ]*/(?:wp-login|xmlrpc)\.php(?:\?[^" ]*)? HTTP/[\d.]+" (?:200|401|403)\b
ignoreregex =
datepattern = ^[^\[]*\[({DATE})
              {^LN-BEG}
`,
  openvpn: String.raw`[Definition]
failregex = ^\s*(?:\S+ )?(?:openvpn|ovpn-[\w.-]+)(?:\[\d+\])?: (?:\S*/)?(?:\[?<ADDR>\]?):\d{1,5} (?:TLS Error: TLS handshake failed|TLS Auth Error: .*|VERIFY ERROR: .*|peer info: NONE)
            ^\s*(?:\S+ )?(?:openvpn|ovpn-[\w.-]+)(?:\[\d+\])?: TLS Error: (?:cannot locate HMAC in incoming packet|incoming packet authentication failed) from \[AF_INET6?\](?:\[?<ADDR>\]?):\d{1,5}
ignoreregex =
`,
  proxmox: String.raw`[Definition]
failregex = ^\s*(?:\S+ )?(?:pvedaemon|pveproxy|pmgdaemon|proxmox-backup-proxy)(?:\[\d+\])?: authentication failure; rhost=<ADDR> user=<F-USER>\S+</F-USER>
ignoreregex =
`,
  vaultwarden: String.raw`[Definition]
failregex = ^\s*(?:\[\]\s*)?\[vaultwarden::api::[\w:]+\]\[ERROR\] (?:Invalid admin token|Invalid TOTP code|Username or password is incorrect)[.!][^\r\n]*? IP: <ADDR>(?:\. Username: <F-USER>\S+</F-USER>)?\.?\s*$
ignoreregex =
`,
  // A user name stands in JSON with its quotes escaped, so nobody writes a second address into a line.
  nextcloud: String.raw`[Definition]
failregex = ^\s*\{.*?"remoteAddr"\s*:\s*"<ADDR>".*?"message"\s*:\s*"(?:Login failed:|Two-factor challenge failed:|Trusted domain error\.)
ignoreregex =
datepattern = ,?\s*"time"\s*:\s*"%%Y-%%m-%%d[T ]%%H:%%M:%%S(%%z)?"
`,
  // Authelia quotes the message and escapes quotes in user names, so a name cannot end the message and forge the fields after it.
  authelia: String.raw`[Definition]
failregex = ^\s*level=error msg="(?:Unsuccessful [\w -]+ authentication attempt by user|Error occurred getting details for user with username input) '(?:[^"\\]|\\.)*" (?:error=(?:"(?:[^"\\]|\\.)*"|\S+) )?method=[A-Z]+ path=(?:"(?:[^"\\]|\\.)*"|[^"\s]\S*) remote_ip="?<ADDR>"?(?:\s|$)
            ^\s*\{(?:"error":"(?:[^"\\]|\\.)*",)?"level":"error","method":"[A-Z]+","msg":"(?:Unsuccessful [\w -]+ authentication attempt by user|Error occurred getting details for user with username input) '(?:[^"\\]|\\.)*","path":"(?:[^"\\]|\\.)*","remote_ip":"<ADDR>"
ignoreregex =
datepattern = (?:^time=|,"time":)"%%Y-%%m-%%dT%%H:%%M:%%S(?:\.\d+)?%%z"
`,
  'home-assistant': String.raw`[Definition]
failregex = ^\s*WARNING \(MainThread\) \[homeassistant\.components\.http\.ban\] Login attempt or request with invalid authentication from \S+ \(<ADDR>\)\.
ignoreregex =
`,
  // The user name comes before the address, so the address has to end the line.
  jellyfin: String.raw`[Definition]
failregex = ^\s*(?:\[\]\s*)?\[INF\] (?:\[\d+\] )?(?:[\w.]+: )?Authentication request (?:for|with|without) .* has been denied \(IP: "?<ADDR>"?\)\.?\s*$
ignoreregex =
`,
  'proxy-manager': String.raw`[Definition]
failregex = ^\s*\[\] (?:\S+ [\d, :-]+ )?401 - [A-Z]+ https? \S+ "[^"]*" \[Client <ADDR>\]
ignoreregex =
datepattern = ^\s*\[({DATE})
`,
  'stockade-login': String.raw`[Definition]
failregex = ^\s*stockade-auth: (?:401|429) from <ADDR> POST /api/v1/auth/(?:login|mfa/verify|passkey)(?: user="[^"]*")?\s*$
            ^\s*stockade-auth: 401 from <ADDR> POST /api/v1/(?:setup|agent/enroll)(?: user="[^"]*")?\s*$
ignoreregex =
`,
}
