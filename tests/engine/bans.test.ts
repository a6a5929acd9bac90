import { onStage } from './stage.ts'

onStage('bans of a real fail2ban', [
  'an IPv4 attack is reported once, with its log lines',
  'an IPv6 attack is reported once',
  'hostile log lines arrive cleaned and cut',
  'an unban by command leaves the firewall and is told',
  'an unban without a jail lifts it everywhere',
  'a ban lifted within milliseconds is told with its end, and a reused row number does no harm',
  'the end of a ban by its own time is told',
  'ends that fail2ban moves are told',
  'bans that fail2ban lifts all at once end at the server',
  'bans and unbans while the agent is down are told once it is back',
  'restart and reload of fail2ban are not reported',
  'the action is put back after a reload by hand',
])
