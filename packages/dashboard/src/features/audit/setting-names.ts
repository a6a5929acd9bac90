import { textsOf } from '../../lib/texts/catalogue.ts'
import { notificationsTexts } from '../settings/notifications.texts.ts'
import { settingsTexts } from '../settings/settings.texts.ts'
import { siemTexts } from '../siem/siem.texts.ts'

/** The names of settings as their pages show them, by the names that the log has. */
const settingNames = (): Readonly<Record<string, string>> => {
  const t = textsOf(settingsTexts)
  const n = textsOf(notificationsTexts)
  const s = textsOf(siemTexts)
  const ofProvider = (provider: string, name: string) => `${provider}: ${name}`
  const channel = (key: string, name: string) => ({
    [`${key}.notify_bans`]: `${name}: ${n.bans}`,
    [`${key}.notify_syncs`]: `${name}: ${n.syncs}`,
    [`${key}.notify_errors`]: `${name}: ${n.errors}`,
    [`${key}.daily_summary`]: `${name}: ${n.summary}`,
  })
  return {
    'service.site_name': t.siteName,
    'service.site_url': t.siteUrl,
    'service.timezone': t.timezone,
    'security.session_timeout': t.timeout,
    'security.mfa_required': t.factor,
    'security.passkey_required': t.passkey,
    'security.password_min_length': t.length,
    'security.refuse_common_passwords': t.common,
    'security.own_unban': t.ownUnban,
    'security.self_tests': t.selfTests,
    'reputation.enabled': t.reputationEnabled,
    'reputation.api_key': t.reputationKey,
    'reputation.rate_limit': t.reputationLimit,
    'notifications.daily_summary_hour': `${n.hourTitle}: ${n.hour}`,
    'chat.enabled': n.chatEnabled,
    'chat.webhook_url': n.webhook,
    ...channel('chat', n.chat),
    'email.enabled': n.emailEnabled,
    'email.smtp_host': n.host,
    'email.smtp_port': `${n.host}: ${n.port}`,
    'email.smtp_user': `${n.host}: ${n.user}`,
    'email.smtp_pass': `${n.host}: ${n.pass}`,
    'email.smtp_tls': n.tls,
    'email.from_address': n.from,
    'email.recipients': n.recipients,
    ...channel('email', n.email),
    'siem.enabled': s.enabled,
    'siem.format': s.format,
    'siem.host': s.host,
    'siem.port': s.port,
    'siem.protocol': s.transport,
    'siem.tls_enabled': s.transports.tls,
    'siem.framing': s.lines,
    'siem.tls_verify': s.verify,
    'siem.ca_cert': s.ca,
    'siem.path': s.path,
    'siem.token': s.token,
    'siem.events': s.events,
    'oauth.default_role': t.defaultRole,
    'oauth.local_login_disabled': t.localOff,
    'oauth.provider_a.enabled': ofProvider(t.provider_a, t.enabled),
    'oauth.provider_a.client_id': ofProvider(t.provider_a, t.clientId),
    'oauth.provider_a.client_secret': ofProvider(t.provider_a, t.clientSecret),
    'oauth.provider_a.allowed_users': ofProvider(t.provider_a, t.users),
    'oauth.provider_a.allowed_org': ofProvider(t.provider_a, t.org),
    'oauth.provider_b.enabled': ofProvider(t.provider_b, t.enabled),
    'oauth.provider_b.client_id': ofProvider(t.provider_b, t.clientId),
    'oauth.provider_b.client_secret': ofProvider(t.provider_b, t.clientSecret),
    'oauth.provider_b.allowed_domains': ofProvider(t.provider_b, t.domains),
  }
}
let names: Readonly<Record<string, string>> | undefined
export const settingName = (field: string): string | undefined => (names ??= settingNames())[field]
