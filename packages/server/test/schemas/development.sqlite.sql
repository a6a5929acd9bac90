-- Schema and rows of the last development build before 0.1.0, as `sqlite3 FILE .dump` writes them. upgrade.test.ts brings it up to date.
PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
CREATE TABLE IF NOT EXISTS "kysely_migration" ("name" varchar(255) not null primary key, "timestamp" varchar(255) not null);
INSERT INTO kysely_migration VALUES('0001-foundation','2026-11-25T03:57:38.357Z');
INSERT INTO kysely_migration VALUES('0002-identity','2026-11-25T03:57:38.359Z');
INSERT INTO kysely_migration VALUES('0003-rate-counts','2026-11-25T03:57:38.360Z');
INSERT INTO kysely_migration VALUES('0004-whitelist','2026-11-25T03:57:38.361Z');
INSERT INTO kysely_migration VALUES('0005-templates','2026-11-25T03:57:38.362Z');
INSERT INTO kysely_migration VALUES('0006-reputation','2026-11-25T03:57:38.363Z');
INSERT INTO kysely_migration VALUES('0007-notifications','2026-11-25T03:57:38.365Z');
INSERT INTO kysely_migration VALUES('0008-audit','2026-11-25T03:57:38.367Z');
INSERT INTO kysely_migration VALUES('0009-portknock','2026-11-25T03:57:38.371Z');
INSERT INTO kysely_migration VALUES('0010-siem','2026-11-25T03:57:38.380Z');
INSERT INTO kysely_migration VALUES('0011-preferences','2026-11-25T03:57:38.381Z');
INSERT INTO kysely_migration VALUES('0012-whitelist-ends','2026-11-25T03:57:38.382Z');
INSERT INTO kysely_migration VALUES('0013-key-uses','2026-11-25T03:57:38.383Z');
INSERT INTO kysely_migration VALUES('0014-invitations','2026-11-25T03:57:38.385Z');
INSERT INTO kysely_migration VALUES('0015-lists','2026-11-25T03:57:38.387Z');
INSERT INTO kysely_migration VALUES('0016-proof','2026-11-25T03:57:38.388Z');
INSERT INTO kysely_migration VALUES('0017-key-limits','2026-11-25T03:57:38.390Z');
INSERT INTO kysely_migration VALUES('0018-guessing','2026-11-25T03:57:38.392Z');
INSERT INTO kysely_migration VALUES('0020-quotas','2026-11-25T03:57:38.395Z');
INSERT INTO kysely_migration VALUES('0021-audit-chain','2026-11-25T03:57:38.396Z');
INSERT INTO kysely_migration VALUES('0025-host-policy','2026-11-25T03:57:38.397Z');
INSERT INTO kysely_migration VALUES('0030-passkeys','2026-11-25T03:57:38.398Z');
INSERT INTO kysely_migration VALUES('0031-seals','2026-11-25T03:57:38.399Z');
INSERT INTO kysely_migration VALUES('0032-access-hash','2026-11-25T03:57:38.400Z');
INSERT INTO kysely_migration VALUES('0033-report-versions','2026-11-25T03:57:38.401Z');
INSERT INTO kysely_migration VALUES('0034-protection','2026-11-25T03:57:38.403Z');
INSERT INTO kysely_migration VALUES('0035-adopted','2026-11-25T03:57:38.405Z');
INSERT INTO kysely_migration VALUES('0036-clones','2026-11-25T03:57:38.406Z');
INSERT INTO kysely_migration VALUES('0040-address-commands','2026-11-25T03:57:38.407Z');
INSERT INTO kysely_migration VALUES('0041-metrics-history','2026-11-25T03:57:38.408Z');
INSERT INTO kysely_migration VALUES('0042-removed-bans','2026-11-25T03:57:38.409Z');
INSERT INTO kysely_migration VALUES('0044-self-tests','2026-11-25T03:57:38.410Z');
INSERT INTO kysely_migration VALUES('0045-fleet-bans','2026-11-25T03:57:38.412Z');
INSERT INTO kysely_migration VALUES('0047-dropped-packets','2026-11-25T03:57:38.414Z');
INSERT INTO kysely_migration VALUES('0050-agent-rollouts','2026-11-25T03:57:38.415Z');
INSERT INTO kysely_migration VALUES('0051-tags','2026-11-25T03:57:38.419Z');
INSERT INTO kysely_migration VALUES('0052-blocklists','2026-11-25T03:57:38.421Z');
INSERT INTO kysely_migration VALUES('0054-rules','2026-11-25T03:57:38.422Z');
INSERT INTO kysely_migration VALUES('0055-feeds','2026-11-25T03:57:38.423Z');
INSERT INTO kysely_migration VALUES('0056-channels','2026-11-25T03:57:38.424Z');
INSERT INTO kysely_migration VALUES('0057-alerts','2026-11-25T03:57:38.425Z');
INSERT INTO kysely_migration VALUES('0060-reports','2026-11-25T03:57:38.426Z');
INSERT INTO kysely_migration VALUES('0062-queued-sums','2026-11-25T03:57:38.427Z');
CREATE TABLE IF NOT EXISTS "kysely_migration_lock" ("id" varchar(255) not null primary key, "is_locked" integer default 0 not null);
INSERT INTO kysely_migration_lock VALUES('migration_lock',0);
CREATE TABLE meta (key text primary key, value text not null);
INSERT INTO meta VALUES('schema.version','0.1.0');
INSERT INTO meta VALUES('schema.min_reader','0062-queued-sums');
INSERT INTO meta VALUES('license.key','stk1.eyJpZCI6IjkzOGFhZTdkLTI4OTItNDVmYS1hMjg5LTgyYjJmMjNkZWZkYyIsInRpZXIiOiJwcm8iLCJzZXJ2ZXJfbGltaXQiOjEwMDAwMCwicmVnaXN0ZXJlZF90byI6IlRlc3RzIiwiaXNzdWVkX2F0IjowLCJleHBpcmVzX2F0IjpudWxsfQ.mFFlbp9eBX_setzBdi6g7EuZ346u_AWLxeORHXJa54AVqQ-f4UVoqVWqo0iuBZT22SurHP3YGGc2gFSC_K_PBg');
CREATE TABLE settings (key text primary key, value text not null, updated_at integer not null);
CREATE TABLE users (
        id integer primary key autoincrement, username text not null, username_key text not null unique, email text not null,
        email_key text not null unique, password_hash text, role text not null, server_access text not null,
        mfa_enabled integer not null, mfa_secret text, oauth_provider text, oauth_subject text, last_login integer,
        created_at integer not null, updated_at integer not null, mfa_pending_secret text, mfa_last_step integer not null default 0, mfa_required integer not null default 0, invite_hash text, invite_expires_at integer, oauth_admitted_as text, passkeys integer not null default 0, access_tags text);
INSERT INTO users VALUES(1,'admin','admin','admin@stockade.example','admin@stockade.example','$argon2id$v=19$m=19456,t=2,p=1$q973aDfUTGeQV4n9EEmvng$VcqSa7kFar/e2rcAKQS/07jGmUJx5P2X0T5kqOiDWDw','Admin','all',0,NULL,NULL,NULL,1795579058695,1795579058680,1795579058680,NULL,0,0,NULL,NULL,NULL,0,NULL);
CREATE TABLE servers (
        no integer primary key autoincrement, id text not null unique, hostname text not null, ip_address text, description text not null,
        status text not null, os text, engine_version text, agent_version text, agent_id text, agent_key_id integer,
        agent_replacing integer not null default 0,
        install_token_hash text, install_token_expires_at integer, install_token_used_at integer,
        install_token_used_from text, first_heartbeat_at integer, first_ban_at integer,
        created_at integer not null, updated_at integer not null, deleted_at integer, key_rotated_at integer, quarantined_at integer, quarantined_by text, quarantine_reason text, policy text, sealed text, protection_level text, protection_since integer, reported_hostname text, machine text, clone text, self_test text, self_test_asked_at integer, shield_supported integer not null default 0, upgrades text, tags text not null default '[]');
INSERT INTO servers VALUES(1,'01a210da-1a31-7755-8aa4-557bec189ee4','web-01','127.0.0.1','','online',NULL,NULL,NULL,'03ef9e33-7136-4676-8fbb-c23621451fab',2,0,'fc3e560537848600ee546e0c597610ee359a93c93cb9efc3b990e8d76df54fd7',1795665458737,1795579058776,'127.0.0.1',1795579059045,1795579059022,1795579058737,1795579059045,NULL,1795579059045,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'web-01',NULL,NULL,NULL,NULL,0,NULL,'[]');
INSERT INTO servers VALUES(2,'01a210da-1a81-7acd-99ba-ba389dbb9e96','db-01','127.0.0.1','','pending',NULL,NULL,NULL,'009c369a-c004-45b4-bab3-7d6e69fcca24',4,1,'295d2b9cba9018b904e0259e427ae5ef95eaeed1277dfbf3f8d335d63596fa7b',1795665458817,1795579058837,'127.0.0.1',NULL,NULL,1795579058817,1795579058837,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,0,NULL,'[]');
CREATE TABLE user_servers (
        user_id integer not null references users (id) on delete cascade,
        server_no integer not null references servers (no) on delete cascade,
        primary key (user_id, server_no));
CREATE TABLE sessions (
        id text primary key, user_id integer not null references users (id) on delete cascade,
        refresh_hash text not null unique, cookie_hash text not null unique, method text not null,
        ip_address text not null, user_agent text not null,
        created_at integer not null, last_activity integer not null, proved_at integer not null default 0, access_hash text not null default '');
INSERT INTO sessions VALUES('01a210da-1a07-738e-abf5-aff1e9c9027d',1,'ee1bd51834b99908f032b77c78775de87010f127bcd25284e0155df129093d7b','ed352fdf15501237e5ae5a7a6df4cb3571359e9ee5aadbc140f533b4d71544dc','password','127.0.0.1','node',1795579058695,1795579059114,1795579058695,'b483bebd9482e9c890f9a51f703884ba7f722944a88b08653aec949ccf4c9887');
CREATE TABLE api_keys (
        id integer primary key autoincrement, name text not null, hash text not null unique, prefix text not null, permissions text not null,
        kind text not null, user_id integer references users (id) on delete cascade,
        server_no integer references servers (no) on delete cascade,
        expires_at integer, last_used integer, created_at integer not null, last_used_from text, scopes text, source_networks text, access_tags text);
INSERT INTO api_keys VALUES(1,'web-01','1d92b9567031ea70f49485705e2bdbdf5297c5626ec6b56110cc5b337bbab617','svc_HNPo','write','server',NULL,1,1795579059045,NULL,1795579058744,NULL,NULL,NULL,NULL);
INSERT INTO api_keys VALUES(2,'web-01','4ec33d861d0b459120e8f48d0296158e28e13dae70faa2c996948bf5e7cdc95a','svc_isiS','write','agent',NULL,1,NULL,1795579059027,1795579058799,'127.0.0.1',NULL,NULL,NULL);
INSERT INTO api_keys VALUES(3,'db-01','ba6d63eacef9ee4f44f19db27cf59741bba9e3d42253facb25d2a19d59420554','svc_h7B1','write','server',NULL,2,NULL,NULL,1795579058820,NULL,NULL,NULL,NULL);
INSERT INTO api_keys VALUES(4,'db-01','b15cdb62a4f3f68e7aba8b08f3b9789c01554696e91d77c2db77b02797351471','svc_Xf12','write','agent',NULL,2,NULL,NULL,1795579058841,NULL,NULL,NULL,NULL);
CREATE TABLE heartbeats (server_no integer primary key, last_heartbeat integer not null, metrics text, jails text not null, boot text not null default '', report integer not null default 0, revision integer not null default 0, protection text);
INSERT INTO heartbeats VALUES(1,1795579059045,NULL,'[{"filter":null,"logpath":null,"maxretry":null,"bantime":null,"findtime":null,"template":null,"name":"sshd","enabled":true,"current_bans":0,"total_banned":null,"current_failed":null,"total_failed":null}]','',1795579059045,0,NULL);
CREATE TABLE jails (id integer primary key autoincrement, name text not null unique);
INSERT INTO jails VALUES(1,'nginx-auth');
INSERT INTO jails VALUES(2,'sshd');
CREATE TABLE countries (id integer primary key autoincrement, code text not null unique);
CREATE TABLE networks (asn integer primary key, org text);
CREATE TABLE bans (
        id integer primary key, server_no integer not null, jail_id integer not null, country_id integer not null,
        ip blob not null, prefix integer, banned_at integer not null, ban_duration integer, unbanned_at integer,
        asn integer, city text, latitude real, longitude real, log_lines text not null, banned_by text,
        event_id blob not null, reported integer not null default 0, reputation_score integer, origin text, dropped_packets integer, dropped_seen integer, dropped_at integer);
INSERT INTO bans VALUES(1,1,1,0,X'20010db8000000000000000000000001',NULL,1795579058989,600,NULL,NULL,NULL,NULL,NULL,'Failed password for root from 192.0.2.0',NULL,X'bc896b231f6947aeaf92a4abcd49c9b0',0,NULL,NULL,NULL,NULL,NULL);
INSERT INTO bans VALUES(2,1,2,0,X'c0000201',NULL,1795579058990,600,NULL,NULL,NULL,NULL,NULL,'Failed password for root from 192.0.2.1',NULL,X'b74dec9e25e74a6eb90fb3bbc5566306',0,NULL,NULL,NULL,NULL,NULL);
INSERT INTO bans VALUES(3,1,1,0,X'c0000202',NULL,1795579058990,600,NULL,NULL,NULL,NULL,NULL,'Failed password for root from 192.0.2.2',NULL,X'cae88d36b1bb4a9281a3effffce7d8e4',0,NULL,NULL,NULL,NULL,NULL);
INSERT INTO bans VALUES(4,1,2,0,X'20010db8000000000000000000000004',NULL,1795579058990,-1,NULL,NULL,NULL,NULL,NULL,'Failed password for root from 192.0.2.3',NULL,X'28df56a3dcd74f2d88e5774ea4006aa7',0,NULL,NULL,NULL,NULL,NULL);
INSERT INTO bans VALUES(5,1,1,0,X'c0000204',NULL,1795579058990,600,NULL,NULL,NULL,NULL,NULL,'Failed password for root from 192.0.2.4',NULL,X'd923c270546b4774929b36d843e26c54',0,NULL,NULL,NULL,NULL,NULL);
INSERT INTO bans VALUES(6,1,2,0,X'c0000205',NULL,1795579058990,600,NULL,NULL,NULL,NULL,NULL,'Failed password for root from 192.0.2.5',NULL,X'cdeb7b0e4f7049dea8a6806f5abf9a9c',0,NULL,NULL,NULL,NULL,NULL);
INSERT INTO bans VALUES(7,1,1,0,X'20010db8000000000000000000000007',NULL,1795579058990,600,NULL,NULL,NULL,NULL,NULL,'Failed password for root from 192.0.2.6',NULL,X'c1d901f6d2c44b72ab3b20d83ef0903d',0,NULL,NULL,NULL,NULL,NULL);
INSERT INTO bans VALUES(8,1,2,0,X'c0000207',NULL,1795579058990,600,NULL,NULL,NULL,NULL,NULL,'Failed password for root from 192.0.2.7',NULL,X'92c00535fd9d4668bda238276e02e056',0,NULL,NULL,NULL,NULL,NULL);
INSERT INTO bans VALUES(9,1,1,0,X'c0000208',NULL,1795579058991,600,NULL,NULL,NULL,NULL,NULL,'Failed password for root from 192.0.2.8',NULL,X'24858beb41e14dc5b133dd006e91498b',0,NULL,NULL,NULL,NULL,NULL);
INSERT INTO bans VALUES(10,1,2,0,X'20010db8000000000000000000000010',NULL,1795579058991,600,NULL,NULL,NULL,NULL,NULL,'Failed password for root from 192.0.2.9',NULL,X'04de70caf65f43628b2f35ee25d2a08d',0,NULL,NULL,NULL,NULL,NULL);
INSERT INTO bans VALUES(11,1,1,0,X'c000020a',NULL,1795579058991,600,NULL,NULL,NULL,NULL,NULL,'Failed password for root from 192.0.2.10',NULL,X'a9d92c4200c74a5f8a715b13a72e60db',0,NULL,NULL,NULL,NULL,NULL);
INSERT INTO bans VALUES(12,1,2,0,X'c000020b',NULL,1795579058991,600,NULL,NULL,NULL,NULL,NULL,'Failed password for root from 192.0.2.11',NULL,X'4ab2a6201c3b4349a55789602c3d22f2',0,NULL,NULL,NULL,NULL,NULL);
CREATE TABLE active_bans (
        banned_at integer not null, ban_id integer not null, server_no integer not null, jail_id integer not null,
        country_id integer not null, ip blob not null, prefix integer, expires_at integer,
        primary key (banned_at, ban_id)) without rowid;
INSERT INTO active_bans VALUES(1795579058989,1,1,1,0,X'20010db8000000000000000000000001',NULL,1795579658989);
INSERT INTO active_bans VALUES(1795579058990,2,1,2,0,X'c0000201',NULL,1795579658990);
INSERT INTO active_bans VALUES(1795579058990,3,1,1,0,X'c0000202',NULL,1795579658990);
INSERT INTO active_bans VALUES(1795579058990,4,1,2,0,X'20010db8000000000000000000000004',NULL,NULL);
INSERT INTO active_bans VALUES(1795579058990,5,1,1,0,X'c0000204',NULL,1795579658990);
INSERT INTO active_bans VALUES(1795579058990,6,1,2,0,X'c0000205',NULL,1795579658990);
INSERT INTO active_bans VALUES(1795579058990,7,1,1,0,X'20010db8000000000000000000000007',NULL,1795579658990);
INSERT INTO active_bans VALUES(1795579058990,8,1,2,0,X'c0000207',NULL,1795579658990);
INSERT INTO active_bans VALUES(1795579058991,9,1,1,0,X'c0000208',NULL,1795579658991);
INSERT INTO active_bans VALUES(1795579058991,10,1,2,0,X'20010db8000000000000000000000010',NULL,1795579658991);
INSERT INTO active_bans VALUES(1795579058991,11,1,1,0,X'c000020a',NULL,1795579658991);
INSERT INTO active_bans VALUES(1795579058991,12,1,2,0,X'c000020b',NULL,1795579658991);
CREATE TABLE rolled_up (ban_id integer not null);
INSERT INTO rolled_up VALUES(12);
CREATE TABLE rolled_server_totals (server_no integer not null, total_bans integer not null, primary key (server_no)) without rowid;
INSERT INTO rolled_server_totals VALUES(1,12);
CREATE TABLE rolled_ban_cube (server_no integer not null, jail_id integer not null, country_id integer not null, n integer not null, primary key (server_no, jail_id, country_id)) without rowid;
INSERT INTO rolled_ban_cube VALUES(1,1,0,6);
INSERT INTO rolled_ban_cube VALUES(1,2,0,6);
CREATE TABLE rolled_ban_hours_jail (bucket integer not null, jail_id integer not null, n integer not null, primary key (bucket, jail_id)) without rowid;
INSERT INTO rolled_ban_hours_jail VALUES(1795575600000,1,6);
INSERT INTO rolled_ban_hours_jail VALUES(1795575600000,2,6);
CREATE TABLE rolled_ban_hours_country (bucket integer not null, country_id integer not null, n integer not null, primary key (bucket, country_id)) without rowid;
INSERT INTO rolled_ban_hours_country VALUES(1795575600000,0,12);
CREATE TABLE rolled_ban_hours_server (server_no integer not null, bucket integer not null, n integer not null, primary key (server_no, bucket)) without rowid;
INSERT INTO rolled_ban_hours_server VALUES(1,1795575600000,12);
CREATE TABLE rolled_ban_days_jail (server_no integer not null, bucket integer not null, jail_id integer not null, n integer not null, primary key (server_no, bucket, jail_id)) without rowid;
INSERT INTO rolled_ban_days_jail VALUES(1,1795564800000,1,6);
INSERT INTO rolled_ban_days_jail VALUES(1,1795564800000,2,6);
CREATE TABLE rolled_ban_days_country (server_no integer not null, bucket integer not null, country_id integer not null, n integer not null, primary key (server_no, bucket, country_id)) without rowid;
INSERT INTO rolled_ban_days_country VALUES(1,1795564800000,0,12);
CREATE TABLE rolled_ip_hours (bucket integer primary key, n integer not null);
INSERT INTO rolled_ip_hours VALUES(1795575600000,12);
CREATE TABLE commands (
        id text primary key, server_no integer not null, type text not null, params text not null, status text not null,
        success integer, output text, exit_code integer, initiated_by text not null, retry_of text, batch_id text,
        cancelled integer not null default 0, deliveries integer not null default 0, delivered_at integer,
        created_at integer not null, expires_at integer not null, started_at integer, completed_at integer, template_hash text, seal text);
INSERT INTO commands VALUES('01a210da-1b8b-7119-8dc0-efc6188ca2a3',1,'ban-ip','{"duration":86400,"jail":"stockade","ip":"203.0.113.9"}','pending',NULL,NULL,NULL,'admin',NULL,NULL,0,0,NULL,1795579059083,1795665459083,NULL,NULL,NULL,NULL);
CREATE TABLE events (
        id integer primary key autoincrement,  at integer not null,
        name text not null, actor text, actor_user_id integer, actor_ip text, server_no integer, ban_id integer,
        data text);
INSERT INTO events VALUES(1,1795579058453,'license.activate','system',NULL,NULL,NULL,NULL,'{"id":"938aae7d-2892-45fa-a289-82b2f23defdc","tier":"pro","server_limit":100000,"registered_to":"Tests","expires_at":null}');
INSERT INTO events VALUES(2,1795579058683,'user.create','system',NULL,'127.0.0.1',NULL,NULL,'{"id":1,"username":"admin","email":"admin@stockade.example","role":"Admin"}');
INSERT INTO events VALUES(3,1795579058697,'auth.login','admin',1,'127.0.0.1',NULL,NULL,'{"session_id":"01a210da-1a07-738e-abf5-aff1e9c9027d","method":"password"}');
INSERT INTO events VALUES(4,1795579058746,'key.create','admin',1,'127.0.0.1',1,NULL,'{"id":1,"name":"web-01","permissions":"write","kind":"server"}');
INSERT INTO events VALUES(5,1795579058752,'server.create','admin',1,'127.0.0.1',1,NULL,'{"id":"01a210da-1a31-7755-8aa4-557bec189ee4","hostname":"web-01"}');
INSERT INTO events VALUES(6,1795579058800,'key.create','system',NULL,'127.0.0.1',1,NULL,'{"id":2,"name":"web-01","permissions":"write","kind":"agent"}');
INSERT INTO events VALUES(7,1795579058804,'server.enroll','system',NULL,'127.0.0.1',1,NULL,'{"id":"01a210da-1a31-7755-8aa4-557bec189ee4","hostname":"web-01","agent_id":"03ef9e33-7136-4676-8fbb-c23621451fab"}');
INSERT INTO events VALUES(8,1795579058820,'key.create','admin',1,'127.0.0.1',2,NULL,'{"id":3,"name":"db-01","permissions":"write","kind":"server"}');
INSERT INTO events VALUES(9,1795579058821,'server.create','admin',1,'127.0.0.1',2,NULL,'{"id":"01a210da-1a81-7acd-99ba-ba389dbb9e96","hostname":"db-01"}');
INSERT INTO events VALUES(10,1795579058842,'key.create','system',NULL,'127.0.0.1',2,NULL,'{"id":4,"name":"db-01","permissions":"write","kind":"agent"}');
INSERT INTO events VALUES(11,1795579058842,'server.enroll','system',NULL,'127.0.0.1',2,NULL,'{"id":"01a210da-1a81-7acd-99ba-ba389dbb9e96","hostname":"db-01","agent_id":"009c369a-c004-45b4-bab3-7d6e69fcca24"}');
INSERT INTO events VALUES(12,1795579058998,'ban.report',NULL,NULL,NULL,1,1,NULL);
INSERT INTO events VALUES(13,1795579058998,'ban.report',NULL,NULL,NULL,1,2,NULL);
INSERT INTO events VALUES(14,1795579058998,'ban.report',NULL,NULL,NULL,1,3,NULL);
INSERT INTO events VALUES(15,1795579058998,'ban.report',NULL,NULL,NULL,1,4,NULL);
INSERT INTO events VALUES(16,1795579058998,'ban.report',NULL,NULL,NULL,1,5,NULL);
INSERT INTO events VALUES(17,1795579058998,'ban.report',NULL,NULL,NULL,1,6,NULL);
INSERT INTO events VALUES(18,1795579058998,'ban.report',NULL,NULL,NULL,1,7,NULL);
INSERT INTO events VALUES(19,1795579058998,'ban.report',NULL,NULL,NULL,1,8,NULL);
INSERT INTO events VALUES(20,1795579058998,'ban.report',NULL,NULL,NULL,1,9,NULL);
INSERT INTO events VALUES(21,1795579058998,'ban.report',NULL,NULL,NULL,1,10,NULL);
INSERT INTO events VALUES(22,1795579058998,'ban.report',NULL,NULL,NULL,1,11,NULL);
INSERT INTO events VALUES(23,1795579058998,'ban.report',NULL,NULL,NULL,1,12,NULL);
INSERT INTO events VALUES(24,1795579059047,'server.online',NULL,NULL,NULL,1,NULL,'{"id":"01a210da-1a31-7755-8aa4-557bec189ee4","was":"pending"}');
INSERT INTO events VALUES(25,1795579059052,'server.jails',NULL,NULL,NULL,1,NULL,'{"jails":1}');
INSERT INTO events VALUES(26,1795579059068,'whitelist.add','admin',1,'127.0.0.1',NULL,NULL,'{"id":1,"ip":"198.51.100.7","description":"office","version":"w1-627551e9"}');
INSERT INTO events VALUES(27,1795579059086,'command.create','admin',1,'127.0.0.1',1,NULL,'{"id":"01a210da-1b8b-7119-8dc0-efc6188ca2a3","type":"ban-ip","params":{"duration":86400,"jail":"stockade","ip":"203.0.113.9"},"hostname":"web-01"}');
INSERT INTO events VALUES(28,1795579059086,'ban.create','admin',1,'127.0.0.1',1,NULL,'{"duration":86400,"jail":"stockade","ip":"203.0.113.9","command_id":"01a210da-1b8b-7119-8dc0-efc6188ca2a3","hostname":"web-01"}');
INSERT INTO events VALUES(29,1795579059099,'fleet_ban.create','admin',1,'127.0.0.1',NULL,NULL,'{"id":1,"entry":"203.0.113.0/28","reason":"scanner","source":"manual","expires_at":"2026-11-26T03:57:39.097Z","target":"all","servers":2}');
INSERT INTO events VALUES(30,1795579059110,'feed.create','admin',1,'127.0.0.1',NULL,NULL,'{"id":1,"name":"firewall","q":"","bans":true,"fleet_bans":true,"family":"both","maximum":100000}');
INSERT INTO events VALUES(31,1795579059120,'channel.create','admin',1,'127.0.0.1',NULL,NULL,'{"name":"hook","preset":"webhook"}');
CREATE TABLE leases (name text primary key, holder text not null, fence integer not null, until integer not null);
CREATE TABLE mfa_backup_codes (
        user_id integer not null references users (id) on delete cascade, hash text not null,
        pending integer not null, primary key (user_id, hash));
CREATE TABLE mfa_tokens (
        hash text primary key, user_id integer not null references users (id) on delete cascade,
        created_at integer not null, tries integer not null);
CREATE TABLE failed_attempts (
        id integer primary key autoincrement, kind text not null, subject text not null, ip text not null, at integer not null, net text not null default '', wide text not null default '');
CREATE TABLE oauth_states (
        hash text primary key, provider text not null, verifier text not null, browser_hash text not null,
        nonce text not null, created_at integer not null);
CREATE TABLE rate_counts (key text not null, bucket integer not null, n integer not null, primary key (key, bucket));
CREATE TABLE whitelist (
        id integer primary key autoincrement, ip text not null unique, description text not null, created_by text not null,
        created_at integer not null, updated_at integer not null, expires_at integer);
INSERT INTO whitelist VALUES(1,'198.51.100.7','office','admin',1795579059066,1795579059066,NULL);
CREATE TABLE whitelist_state (
        id integer primary key, version text not null, seq integer not null, entries integer not null,
        changed_at integer not null);
INSERT INTO whitelist_state VALUES(1,'w1-627551e9',1,1,1795579059066);
CREATE TABLE host_states (
        server_no integer primary key, nonce integer not null default 0, version text, whitelist_version text,
        entry_count integer, error text, acked_at integer, confirmed_at integer, knock_revision integer not null default 0);
CREATE TABLE templates (
        id integer primary key autoincrement, name text not null unique, display_name text not null, description text not null,
        category text not null, settings text not null, jail_config text not null, filter_config text not null,
        required_files text not null, created_at integer not null, updated_at integer not null);
CREATE TABLE template_snapshots (
        hash text primary key, template_id integer not null, name text not null, content text not null,
        created_at integer not null);
CREATE TABLE cursors (name text primary key, xid text not null, event_id integer not null);
CREATE TABLE reputation_reports (
        ban_id integer primary key, ip blob not null, state text not null, attempts integer not null default 0,
        due_at integer not null, created_at integer not null, ended_at integer, error text);
CREATE TABLE reputation_addresses (ip blob primary key, reported_at integer not null, score integer);
CREATE TABLE notifications (
        id integer primary key autoincrement, channel text not null, category text not null, content text not null, recipients text,
        due_at integer not null, created_at integer not null);
CREATE TABLE notification_overflow (
        channel text not null, category text not null, n integer not null, primary key (channel, category));
CREATE TABLE notification_channels (
        channel text primary key, last_sent integer, last_error text, failing_since integer,
        attempts integer not null default 0, retry_at integer not null default 0, recent text not null default '{}',
        since integer not null default 0);
CREATE TABLE daily_summaries (date text primary key, skipped integer not null, at integer not null);
CREATE TABLE audit (event_id integer primary key, at integer not null, name text not null, user_id integer);
INSERT INTO audit VALUES(1,1795579058453,'license.activate',NULL);
INSERT INTO audit VALUES(2,1795579058683,'user.create',NULL);
INSERT INTO audit VALUES(3,1795579058697,'auth.login',1);
INSERT INTO audit VALUES(4,1795579058746,'key.create',1);
INSERT INTO audit VALUES(5,1795579058752,'server.create',1);
INSERT INTO audit VALUES(6,1795579058800,'key.create',NULL);
INSERT INTO audit VALUES(7,1795579058804,'server.enroll',NULL);
INSERT INTO audit VALUES(8,1795579058820,'key.create',1);
INSERT INTO audit VALUES(9,1795579058821,'server.create',1);
INSERT INTO audit VALUES(10,1795579058842,'key.create',NULL);
INSERT INTO audit VALUES(11,1795579058842,'server.enroll',NULL);
INSERT INTO audit VALUES(26,1795579059068,'whitelist.add',1);
INSERT INTO audit VALUES(27,1795579059086,'command.create',1);
INSERT INTO audit VALUES(28,1795579059086,'ban.create',1);
INSERT INTO audit VALUES(29,1795579059099,'fleet_ban.create',1);
INSERT INTO audit VALUES(30,1795579059110,'feed.create',1);
INSERT INTO audit VALUES(31,1795579059120,'channel.create',1);
CREATE TABLE retention_gate (is_open integer not null);
INSERT INTO retention_gate VALUES(0);
CREATE TABLE knock_sequences (
        id integer primary key autoincrement, name text not null, name_key text not null, protected_port integer not null, knock_ports text not null,
        protocol text not null, timeout integer not null, knock_timeout integer not null, max_attempts integer not null,
        block_duration integer not null, created_at integer not null, updated_at integer not null, deleted_at integer);
CREATE TABLE knock_sequence_servers (
        sequence_id integer not null, server_no integer not null, revision integer not null, acked_revision integer,
        state text, error text, primary key (sequence_id, server_no));
CREATE TABLE knock_openings (
        server_no integer not null, sequence_id integer not null, ip text not null, id text not null,
        opened_at integer not null, expires_at integer not null, revision integer not null, confirmed_at integer,
        closed_at integer, cut_until integer, primary key (server_no, sequence_id, ip));
CREATE TABLE knock_blocked (
        server_no integer not null, sequence_id integer not null, ip text not null, failed_attempts integer not null,
        blocked_at integer not null, expires_at integer not null, unblocked_at integer,
        primary key (server_no, sequence_id, ip));
CREATE TABLE knock_history (
        id integer primary key autoincrement, event_id text not null, server_no integer not null, sequence_id integer not null, ip text not null,
        status text not null, reason text, at integer not null);
CREATE TABLE siem_queue (
        id integer primary key autoincrement, event_id integer not null, type text not null, at integer not null, queued_at integer not null,
        due_at integer not null default 0, retry_count integer not null default 0, refusals integer not null default 0,
        sent_at integer, counted integer not null default 0);
CREATE TABLE siem_state (
        id integer primary key, since integer not null default 0, off_at integer, draining integer not null default 0,
        connected integer not null default 0, stream_open integer not null default 0, last_sent_at integer,
        last_error text, failing_since integer, attempts integer not null default 0, retry_at integer not null default 0,
        flush_asked integer not null default 0, flush_done integer not null default 0,
        flush_sent integer not null default 0, flush_failed integer not null default 0);
CREATE TABLE siem_deliveries (
        id integer primary key autoincrement, at integer not null, events integer not null, bytes integer not null, ok integer not null,
        status integer, error text, next_try integer);
CREATE TABLE siem_counts (
        hour integer not null, type text not null, sent integer not null, failed integer not null, retried integer not null,
        primary key (hour, type));
CREATE TABLE siem_spans (id integer primary key autoincrement, from_at integer not null, to_at integer not null, up integer not null);
CREATE TABLE siem_replays (
        id text primary key, from_at integer not null, to_at integer not null, types text not null,
        next_id integer not null, last_id integer not null, status text not null, total integer not null,
        sent integer not null default 0, failed integer not null default 0, marks text not null default '[]',
        started_at integer not null, ended_at integer);
CREATE TABLE user_preferences (
          user_id integer primary key references users (id) on delete cascade, preferences text not null,
          updated_at integer not null);
CREATE TABLE rolled_ban_fleet (jail_id integer not null, country_id integer not null,
        n integer not null, primary key (jail_id, country_id)) without rowid;
INSERT INTO rolled_ban_fleet VALUES(1,0,6);
INSERT INTO rolled_ban_fleet VALUES(2,0,6);
CREATE TABLE rolled_server_bans (server_no integer not null, banned_at integer not null, id integer not null,
      ip blob not null, jail_id integer not null, country_id integer not null, asn integer, primary key (server_no, banned_at, id)) without rowid;
INSERT INTO rolled_server_bans VALUES(1,1795579058989,1,X'20010db8000000000000000000000001',1,0,NULL);
INSERT INTO rolled_server_bans VALUES(1,1795579058990,2,X'c0000201',2,0,NULL);
INSERT INTO rolled_server_bans VALUES(1,1795579058990,3,X'c0000202',1,0,NULL);
INSERT INTO rolled_server_bans VALUES(1,1795579058990,4,X'20010db8000000000000000000000004',2,0,NULL);
INSERT INTO rolled_server_bans VALUES(1,1795579058990,5,X'c0000204',1,0,NULL);
INSERT INTO rolled_server_bans VALUES(1,1795579058990,6,X'c0000205',2,0,NULL);
INSERT INTO rolled_server_bans VALUES(1,1795579058990,7,X'20010db8000000000000000000000007',1,0,NULL);
INSERT INTO rolled_server_bans VALUES(1,1795579058990,8,X'c0000207',2,0,NULL);
INSERT INTO rolled_server_bans VALUES(1,1795579058991,9,X'c0000208',1,0,NULL);
INSERT INTO rolled_server_bans VALUES(1,1795579058991,10,X'20010db8000000000000000000000010',2,0,NULL);
INSERT INTO rolled_server_bans VALUES(1,1795579058991,11,X'c000020a',1,0,NULL);
INSERT INTO rolled_server_bans VALUES(1,1795579058991,12,X'c000020b',2,0,NULL);
CREATE TABLE rolled_jail_bans (jail_id integer not null, banned_at integer not null, id integer not null,
      primary key (jail_id, banned_at, id)) without rowid;
INSERT INTO rolled_jail_bans VALUES(1,1795579058989,1);
INSERT INTO rolled_jail_bans VALUES(1,1795579058990,3);
INSERT INTO rolled_jail_bans VALUES(1,1795579058990,5);
INSERT INTO rolled_jail_bans VALUES(1,1795579058990,7);
INSERT INTO rolled_jail_bans VALUES(1,1795579058991,9);
INSERT INTO rolled_jail_bans VALUES(1,1795579058991,11);
INSERT INTO rolled_jail_bans VALUES(2,1795579058990,2);
INSERT INTO rolled_jail_bans VALUES(2,1795579058990,4);
INSERT INTO rolled_jail_bans VALUES(2,1795579058990,6);
INSERT INTO rolled_jail_bans VALUES(2,1795579058990,8);
INSERT INTO rolled_jail_bans VALUES(2,1795579058991,10);
INSERT INTO rolled_jail_bans VALUES(2,1795579058991,12);
CREATE TABLE rolled_country_bans (country_id integer not null, banned_at integer not null, id integer not null,
      primary key (country_id, banned_at, id)) without rowid;
INSERT INTO rolled_country_bans VALUES(0,1795579058989,1);
INSERT INTO rolled_country_bans VALUES(0,1795579058990,2);
INSERT INTO rolled_country_bans VALUES(0,1795579058990,3);
INSERT INTO rolled_country_bans VALUES(0,1795579058990,4);
INSERT INTO rolled_country_bans VALUES(0,1795579058990,5);
INSERT INTO rolled_country_bans VALUES(0,1795579058990,6);
INSERT INTO rolled_country_bans VALUES(0,1795579058990,7);
INSERT INTO rolled_country_bans VALUES(0,1795579058990,8);
INSERT INTO rolled_country_bans VALUES(0,1795579058991,9);
INSERT INTO rolled_country_bans VALUES(0,1795579058991,10);
INSERT INTO rolled_country_bans VALUES(0,1795579058991,11);
INSERT INTO rolled_country_bans VALUES(0,1795579058991,12);
CREATE TABLE known_networks (
        user_id integer not null references users (id) on delete cascade, net text not null, seen_at integer not null,
        primary key (user_id, net));
INSERT INTO known_networks VALUES(1,'127.0.0.1',1795579058695);
CREATE TABLE server_quotas (server_no integer not null, day integer not null, reports integer not null default 0,
        bytes integer not null default 0, told integer not null default 0, primary key (server_no, day));
INSERT INTO server_quotas VALUES(1,20782,12,6470,0);
CREATE TABLE audit_chain (seq integer primary key, event_id integer not null unique, at integer not null, hash text not null);
INSERT INTO audit_chain VALUES(1,1,1795579058453,'580e7e4db51a2568d0b8ba1e64f585ba00d37b5c0be6a1877f40c78db26da639');
INSERT INTO audit_chain VALUES(2,2,1795579058683,'f4740dd98ffb2c361bc886af54233d3958458b569b9354a3fe9df4586dd044ec');
INSERT INTO audit_chain VALUES(3,3,1795579058697,'bc8984c14eaa922b9531b67e5ba92e0d0cb90dddebe50be57a5da49e2985b445');
INSERT INTO audit_chain VALUES(4,4,1795579058746,'f6caa55db4e55bfa836a5c5a13d321c2e0d97070983468a83e5a6ea8b5d619a6');
INSERT INTO audit_chain VALUES(5,5,1795579058752,'8c72a8ef65da79869992cb9e09a68fffe1e13cdb81270104d79380a39a38f548');
INSERT INTO audit_chain VALUES(6,6,1795579058800,'0a7cadd50fb4cd89139dcaea2b6e038f15fbfb330a7611ad96b64bb43d050f40');
INSERT INTO audit_chain VALUES(7,7,1795579058804,'9476b0f75643a92aa1fcc234f267297876ee4c2c612736bcffc40477c5128e9c');
INSERT INTO audit_chain VALUES(8,8,1795579058820,'4c57dc794576e3d39490af8d75f951ecc763e0c81723253afdc81e7bf470603c');
INSERT INTO audit_chain VALUES(9,9,1795579058821,'e3cb884b096abd85cbe4aac035266e482484e821208c39d40e20932cf1e84bf2');
INSERT INTO audit_chain VALUES(10,10,1795579058842,'66a26b328a94260404999a9593add88ae268222bfb1ee507b063d0b75f472eaf');
INSERT INTO audit_chain VALUES(11,11,1795579058842,'bd3421369d6e86c59d464adfc7476294f2bcda6d78dd665bcf1b56b36b80843b');
INSERT INTO audit_chain VALUES(12,26,1795579059068,'1bcc7d0e484b3b0ca2884ec3770bf4b3df7dd560e3810b19ce2706c13bda5bd6');
INSERT INTO audit_chain VALUES(13,27,1795579059086,'ebcfb63bca339b8120788a0ac1a94ab9afcce5940e573682fa9b60a08b44bb62');
INSERT INTO audit_chain VALUES(14,28,1795579059086,'9d203888b479530c4fde8ce5ad5fc0657d18cf15e7ed6c80a5dc935c11ab26e5');
INSERT INTO audit_chain VALUES(15,29,1795579059099,'8939030915cdea7eb4dea26c319affc064ed72a60e62371d4b12515c65891a13');
INSERT INTO audit_chain VALUES(16,30,1795579059110,'7caf2f558685196ea78bf0c6189bb094053be3faa2f6a675dfa331ee5a04d759');
INSERT INTO audit_chain VALUES(17,31,1795579059120,'c7ae14e08aab88c53b83183f4945087f31ad85aa7f5a0ae8e88dcf9657b1041f');
CREATE TABLE audit_checkpoints (number integer primary key, kind text not null, seq integer not null, hash text not null,
        at integer not null, before text not null, public_key text not null, signature text not null);
CREATE TABLE passkeys (
        id integer primary key autoincrement,
        user_id integer not null references users (id) on delete cascade,
        credential_id text not null unique,
        public_key text not null,
        spki text not null,
        counter integer not null,
        transports text not null,
        name text not null,
        backed_up integer not null,
        created_at integer not null,
        last_used integer
      );
CREATE TABLE passkey_challenges (
        hash text primary key,
        purpose text not null,
        user_id integer,
        created_at integer not null
      );
CREATE TABLE metrics_hours (server_no integer not null, hour integer not null, steps blob not null,
          primary key (server_no, hour)) without rowid;
INSERT INTO metrics_hours VALUES(1,1795575600000,X'000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000a00000000000000000');
CREATE TABLE removed_bans (seq integer primary key autoincrement, ban_id integer not null, ip blob not null);
CREATE TABLE fleet_bans (
        id integer primary key autoincrement, entry text not null, reason text not null, target text not null, reach text not null,
        source text not null, force integer not null, expires_at integer, version integer not null,
        created_by text not null, created_at integer not null, updated_at integer not null,
        ended_at integer, ended_by text);
INSERT INTO fleet_bans VALUES(1,'203.0.113.0/28','scanner','all','all','manual',0,1795665459097,1795579059098,'admin',1795579059098,1795579059098,NULL,NULL);
CREATE TABLE fleet_state (id integer primary key, version integer not null, all_version integer not null);
INSERT INTO fleet_state VALUES(1,1795579059098,1795579059098);
CREATE TABLE fleet_hosts (
        server_no integer primary key, wanted integer not null, version integer, acked_at integer, held integer,
        refused text, problem text, not_covered text);
CREATE TABLE agent_rollouts (
        id integer primary key autoincrement, kind text not null, version text not null, manifest text, program text, state text not null,
        reason text, wave integer not null, wave_starts text not null, accepted_failures integer not null,
        accepted_silent integer not null, created_by text not null, created_at integer not null, ended_at integer);
CREATE TABLE agent_rollout_hosts (
        rollout_id integer not null, server_no integer not null, wave integer not null, state text not null,
        from_release text, wanted text not null, jails text not null, command_id text, answered_at integer, problem text,
        primary key (rollout_id, server_no));
CREATE TABLE server_tags (tag text not null, server_no integer not null, primary key (tag, server_no));
CREATE TABLE fleet_tags (
        server_no integer not null, tag text not null, held integer not null, version integer not null,
        primary key (server_no, tag));
CREATE TABLE blocklists (
        id integer primary key autoincrement, name text not null, source text not null, format text not null, csv_column integer,
        every_seconds integer not null, target text not null, mode text not null, max_entries integer not null,
        max_addresses integer not null, max_change real not null, version integer not null, entries integer not null,
        addresses integer not null, digest text not null, left_out text not null, cuts text not null, etag text,
        last_modified text, fetched_at integer, checked_at integer, next_at integer not null, failures integer not null,
        last_error text, stale integer not null, created_by text not null, created_at integer not null,
        updated_at integer not null);
CREATE TABLE blocklist_contents (list_id integer primary key, raw blob not null, entries blob not null);
CREATE TABLE blocklist_state (id integer primary key, version integer not null);
INSERT INTO blocklist_state VALUES(1,0);
CREATE TABLE blocklist_hosts (
        server_no integer not null, list_id integer not null, version integer, mode text, held integer, error text,
        packets integer not null, acked_at integer, primary key (server_no, list_id));
CREATE TABLE blocklist_coverage (server_no integer primary key, not_covered text);
CREATE TABLE blocklist_hits (
        list_id integer not null, hour integer not null, packets integer not null, primary key (list_id, hour));
CREATE TABLE rules (
        id integer primary key autoincrement, name text not null unique, conditions text not null, exclude text not null, per_hour integer not null,
        standing integer not null, state text not null, reason text, simulation text, simulated_at integer,
        armed_by text, armed_at integer, created_by text not null, created_at integer not null, updated_at integer not null);
CREATE TABLE rule_matches (
        id integer primary key autoincrement, rule_id integer not null, at integer not null, entry text not null, ban_id integer not null,
        times integer not null, until integer, outcome text not null, cause text, fleet_ban_id integer, evidence text not null);
CREATE TABLE feeds (
        id integer primary key autoincrement, name text not null unique, token_hash text not null unique, contents text not null, created_by text not null,
        created_at integer not null, updated_at integer not null, used_at integer, used_from text);
INSERT INTO feeds VALUES(1,'firewall','e968fab61c300f9474d4af2062d1d446984ffeb2808f0556b7d26388427d613d','{"q":"","bans":true,"fleet_bans":true,"family":"both","maximum":100000}','admin',1795579059110,1795579059110,NULL,NULL);
CREATE TABLE channels (
        id integer primary key autoincrement, name text not null, name_key text not null unique, preset text not null, enabled integer not null,
        fields text not null, secrets text not null, created_at integer not null, updated_at integer not null);
INSERT INTO channels VALUES(1,'hook','hook','webhook',1,'{}','v2.x4MmNQzo8N8geBvWI4q-_aNq6Rsx2BrE2DTJss2jppo7zF9ltPRO7zx6N0IIKPYU7dQQvK7Mfo0rsj6cEpZfQA',1795579059118,1795579059118);
CREATE TABLE channel_deliveries (
        id integer primary key autoincrement, channel_id integer not null, at integer not null, outcome text not null, title text not null,
        attempt integer not null, ms integer not null, detail text not null);
CREATE TABLE alert_rules (
        id integer primary key autoincrement, builtin text unique, name text not null, kind text not null, severity text not null, target text not null,
        for_seconds integer not null, enabled integer not null, recovery integer not null, quiet_hours text,
        conditions text not null, created_at integer not null, updated_at integer not null);
CREATE TABLE alert_states (
        id integer primary key autoincrement, rule text not null, subject text not null, server_no integer, kind text not null, severity text not null,
        state text not null, title text not null, detail text not null, since integer not null, absent_since integer,
        fired_at integer, resolved_at integer, onsets text not null, flapping integer not null default 0, told_at integer,
        told_key text, told_channels text, recovered_on text not null default '[]', acked_by text, acked_at integer,
        ack_note text, unique (rule, subject));
CREATE TABLE alert_routes (position integer primary key, content text not null);
CREATE TABLE alert_silences (
        id integer primary key autoincrement, rule text, target text not null, reason text not null, ends_at integer not null, created_by text not null,
        created_at integer not null);
CREATE TABLE report_schedules (
        id integer primary key autoincrement, name text not null unique, period text not null, hour integer not null, weekday integer not null,
        day integer not null, timezone text, target text not null, recipients text not null, channels text not null,
        enabled integer not null, last_due text not null, last_at integer, last_error text, created_by text not null,
        created_at integer not null);
ANALYZE sqlite_schema;
INSERT INTO sqlite_stat1 VALUES('channels','sqlite_autoindex_channels_1','1 1');
INSERT INTO sqlite_stat1 VALUES('audit_chain','sqlite_autoindex_audit_chain_1','17 1');
INSERT INTO sqlite_stat1 VALUES('server_quotas','sqlite_autoindex_server_quotas_1','1 1 1');
INSERT INTO sqlite_stat1 VALUES('metrics_hours','metrics_hours_hour','1 1');
INSERT INTO sqlite_stat1 VALUES('metrics_hours','metrics_hours','1 1 1');
INSERT INTO sqlite_stat1 VALUES('rolled_country_bans','rolled_country_bans','12 12 4 1');
INSERT INTO sqlite_stat1 VALUES('rolled_jail_bans','rolled_jail_bans','12 6 3 1');
INSERT INTO sqlite_stat1 VALUES('rolled_server_bans','rolled_server_bans','12 12 4 1');
INSERT INTO sqlite_stat1 VALUES('rolled_ban_fleet','rolled_ban_fleet','2 1 1');
INSERT INTO sqlite_stat1 VALUES('known_networks','sqlite_autoindex_known_networks_1','1 1 1');
INSERT INTO sqlite_stat1 VALUES('audit','audit_user','17 9 2 1');
INSERT INTO sqlite_stat1 VALUES('audit','audit_name','17 2 1');
INSERT INTO sqlite_stat1 VALUES('audit','audit_at','17 2');
INSERT INTO sqlite_stat1 VALUES('whitelist','whitelist_expiry','0 0');
INSERT INTO sqlite_stat1 VALUES('whitelist','sqlite_autoindex_whitelist_1','1 1');
INSERT INTO sqlite_stat1 VALUES('commands','commands_address','1 1 1');
INSERT INTO sqlite_stat1 VALUES('commands','commands_batch','1 1');
INSERT INTO sqlite_stat1 VALUES('commands','commands_status','1 1 1 1');
INSERT INTO sqlite_stat1 VALUES('commands','commands_server','1 1 1 1');
INSERT INTO sqlite_stat1 VALUES('commands','commands_at','1 1 1');
INSERT INTO sqlite_stat1 VALUES('commands','sqlite_autoindex_commands_1','1 1');
INSERT INTO sqlite_stat1 VALUES('rolled_ban_days_country','rolled_ban_days_country','1 1 1 1');
INSERT INTO sqlite_stat1 VALUES('kysely_migration_lock','sqlite_autoindex_kysely_migration_lock_1','1 1');
INSERT INTO sqlite_stat1 VALUES('servers','servers_quarantined','0 0');
INSERT INTO sqlite_stat1 VALUES('servers','servers_token','2 1');
INSERT INTO sqlite_stat1 VALUES('servers','sqlite_autoindex_servers_1','2 1');
INSERT INTO sqlite_stat1 VALUES('users','users_invite','0 0');
INSERT INTO sqlite_stat1 VALUES('users','users_oauth','1 1 1');
INSERT INTO sqlite_stat1 VALUES('users','sqlite_autoindex_users_2','1 1');
INSERT INTO sqlite_stat1 VALUES('users','sqlite_autoindex_users_1','1 1');
INSERT INTO sqlite_stat1 VALUES('kysely_migration','sqlite_autoindex_kysely_migration_1','43 1');
INSERT INTO sqlite_stat1 VALUES('sessions','sessions_user','1 1');
INSERT INTO sqlite_stat1 VALUES('sessions','sqlite_autoindex_sessions_3','1 1');
INSERT INTO sqlite_stat1 VALUES('sessions','sqlite_autoindex_sessions_2','1 1');
INSERT INTO sqlite_stat1 VALUES('sessions','sqlite_autoindex_sessions_1','1 1');
INSERT INTO sqlite_stat1 VALUES('active_bans','active_bans_end','12 3');
INSERT INTO sqlite_stat1 VALUES('active_bans','active_bans','12 4 1');
INSERT INTO sqlite_stat1 VALUES('rolled_ban_days_jail','rolled_ban_days_jail','2 2 2 1');
INSERT INTO sqlite_stat1 VALUES('api_keys','api_keys_user','4 4');
INSERT INTO sqlite_stat1 VALUES('api_keys','sqlite_autoindex_api_keys_1','4 1');
INSERT INTO sqlite_stat1 VALUES('fleet_bans','fleet_bans_created','1 1');
INSERT INTO sqlite_stat1 VALUES('fleet_bans','fleet_bans_ended','0 0');
INSERT INTO sqlite_stat1 VALUES('fleet_bans','fleet_bans_expiry','1 1');
INSERT INTO sqlite_stat1 VALUES('fleet_bans','fleet_bans_version','1 1');
INSERT INTO sqlite_stat1 VALUES('fleet_bans','fleet_bans_place','1 1 1 1');
INSERT INTO sqlite_stat1 VALUES('jails','sqlite_autoindex_jails_1','2 1');
INSERT INTO sqlite_stat1 VALUES('bans','bans_adopted','0 0 0');
INSERT INTO sqlite_stat1 VALUES('bans','bans_by','0 0');
INSERT INTO sqlite_stat1 VALUES('bans','bans_score','0 0');
INSERT INTO sqlite_stat1 VALUES('bans','bans_reported','0 0');
INSERT INTO sqlite_stat1 VALUES('bans','bans_lifted','0 0');
INSERT INTO sqlite_stat1 VALUES('bans','bans_ip','12 1 1');
INSERT INTO sqlite_stat1 VALUES('bans','bans_at','12 4 1 1 1 1 1 1 1 1');
INSERT INTO sqlite_stat1 VALUES('bans','bans_event','12 1 1');
INSERT INTO sqlite_stat1 VALUES('rolled_ban_hours_server','rolled_ban_hours_server','1 1 1');
INSERT INTO sqlite_stat1 VALUES('rolled_server_totals','rolled_server_totals','1 1');
INSERT INTO sqlite_stat1 VALUES('rolled_ban_hours_jail','rolled_ban_hours_jail','2 2 1');
INSERT INTO sqlite_stat1 VALUES('feeds','sqlite_autoindex_feeds_2','1 1');
INSERT INTO sqlite_stat1 VALUES('feeds','sqlite_autoindex_feeds_1','1 1');
INSERT INTO sqlite_stat1 VALUES('meta','sqlite_autoindex_meta_1','3 1');
INSERT INTO sqlite_stat1 VALUES('rolled_ban_cube','rolled_ban_cube','2 2 1 1');
INSERT INTO sqlite_stat1 VALUES('rolled_ban_hours_country','rolled_ban_hours_country','1 1 1');
DELETE FROM sqlite_sequence;
INSERT INTO sqlite_sequence VALUES('templates',1000);
INSERT INTO sqlite_sequence VALUES('events',31);
INSERT INTO sqlite_sequence VALUES('users',1);
INSERT INTO sqlite_sequence VALUES('servers',2);
INSERT INTO sqlite_sequence VALUES('api_keys',4);
INSERT INTO sqlite_sequence VALUES('jails',2);
INSERT INTO sqlite_sequence VALUES('whitelist',1);
INSERT INTO sqlite_sequence VALUES('fleet_bans',1);
INSERT INTO sqlite_sequence VALUES('feeds',1);
INSERT INTO sqlite_sequence VALUES('channels',1);
CREATE UNIQUE INDEX servers_token on servers (install_token_hash);
CREATE INDEX sessions_user on sessions (user_id);
CREATE UNIQUE INDEX bans_event on bans (event_id, server_no);
CREATE INDEX bans_at on bans (banned_at, id, server_no, jail_id, country_id, asn, ban_duration, ip, city);
CREATE INDEX bans_ip on bans (ip, banned_at);
CREATE INDEX bans_lifted on bans (id) where unbanned_at is not null
        and (ban_duration is null or ban_duration < 0 or unbanned_at < banned_at + cast(ban_duration as bigint) * 1000);
CREATE INDEX bans_reported on bans (id) where reported = 1;
CREATE INDEX bans_score on bans (reputation_score) where reputation_score is not null;
CREATE INDEX bans_by on bans (banned_by) where banned_by is not null;
CREATE INDEX active_bans_end on active_bans (expires_at);
CREATE VIEW server_totals as select server_no, total_bans from rolled_server_totals union all
          select +server_no, 1 from bans where id > (select ban_id from rolled_up);
CREATE VIEW ban_cube as select server_no, jail_id, country_id, n from rolled_ban_cube union all
          select +server_no, +jail_id, +country_id, 1 from bans where id > (select ban_id from rolled_up);
CREATE VIEW ban_hours_jail as select bucket, jail_id, n from rolled_ban_hours_jail union all
          select (banned_at / 3600000) * 3600000, +jail_id, 1 from bans where id > (select ban_id from rolled_up);
CREATE VIEW ban_hours_country as select bucket, country_id, n from rolled_ban_hours_country union all
          select (banned_at / 3600000) * 3600000, +country_id, 1 from bans where id > (select ban_id from rolled_up);
CREATE VIEW ban_hours_server as select server_no, bucket, n from rolled_ban_hours_server union all
          select +server_no, (banned_at / 3600000) * 3600000, 1 from bans where id > (select ban_id from rolled_up);
CREATE VIEW ban_days_jail as select server_no, bucket, jail_id, n from rolled_ban_days_jail union all
          select +server_no, (banned_at / 86400000) * 86400000, +jail_id, 1 from bans where id > (select ban_id from rolled_up);
CREATE VIEW ban_days_country as select server_no, bucket, country_id, n from rolled_ban_days_country union all
          select +server_no, (banned_at / 86400000) * 86400000, +country_id, 1 from bans where id > (select ban_id from rolled_up);
CREATE INDEX commands_at on commands (created_at, id);
CREATE INDEX commands_server on commands (server_no, created_at, id);
CREATE INDEX commands_status on commands (status, created_at, id);
CREATE INDEX commands_batch on commands (batch_id);
CREATE UNIQUE INDEX users_oauth on users (oauth_provider, oauth_subject);
CREATE INDEX failed_attempts_subject on failed_attempts (kind, subject, at);
CREATE INDEX failed_attempts_at on failed_attempts (at);
CREATE INDEX reputation_reports_due on reputation_reports (state, due_at);
CREATE INDEX reputation_reports_ended on reputation_reports (ended_at);
CREATE INDEX reputation_addresses_at on reputation_addresses (reported_at);
CREATE INDEX notifications_waiting on notifications (channel, category, id);
CREATE INDEX audit_at on audit (at);
CREATE INDEX audit_name on audit (name, at);
CREATE INDEX audit_user on audit (user_id, at, name);
CREATE TRIGGER events_unchanged before update on events
                begin select raise(abort, 'events is append-only'); end;
CREATE TRIGGER events_kept before delete on events when (select is_open from retention_gate) = 0
                begin select raise(abort, 'events is append-only'); end;
CREATE TRIGGER audit_unchanged before update on audit
                begin select raise(abort, 'audit is append-only'); end;
CREATE TRIGGER audit_kept before delete on audit when (select is_open from retention_gate) = 0
                begin select raise(abort, 'audit is append-only'); end;
CREATE UNIQUE INDEX knock_sequences_name on knock_sequences (name_key) where deleted_at is null;
CREATE INDEX knock_sequence_servers_server on knock_sequence_servers (server_no);
CREATE UNIQUE INDEX knock_openings_id on knock_openings (id);
CREATE INDEX knock_openings_expiry on knock_openings (expires_at);
CREATE INDEX knock_blocked_expiry on knock_blocked (expires_at);
CREATE INDEX knock_blocked_ip on knock_blocked (ip);
CREATE UNIQUE INDEX knock_history_event on knock_history (server_no, event_id);
CREATE INDEX knock_history_at on knock_history (at, server_no, sequence_id, status, ip);
CREATE INDEX knock_history_place on knock_history (server_no, sequence_id, status, at);
CREATE INDEX knock_history_ip on knock_history (ip, server_no, sequence_id, status, at);
CREATE INDEX knock_history_server on knock_history (server_no, at);
CREATE INDEX siem_queue_waiting on siem_queue (id) where sent_at is null;
CREATE INDEX siem_queue_sent on siem_queue (sent_at) where sent_at is not null;
CREATE INDEX whitelist_expiry on whitelist (expires_at) where expires_at is not null;
CREATE UNIQUE INDEX users_invite on users (invite_hash) where invite_hash is not null;
CREATE VIEW ban_fleet as select jail_id, country_id, n from rolled_ban_fleet union all
        select +jail_id, +country_id, 1 from bans where id > (select ban_id from rolled_up);
CREATE VIEW server_bans as select server_no, banned_at, id, ip, jail_id, country_id, asn from rolled_server_bans union all
      select server_no, banned_at, id, ip, jail_id, country_id, asn from bans not indexed where id > (select ban_id from rolled_up);
CREATE VIEW jail_bans as select jail_id, banned_at, id from rolled_jail_bans union all
      select jail_id, banned_at, id from bans not indexed where id > (select ban_id from rolled_up);
CREATE VIEW country_bans as select country_id, banned_at, id from rolled_country_bans union all
      select country_id, banned_at, id from bans not indexed where id > (select ban_id from rolled_up);
CREATE INDEX api_keys_user on api_keys (user_id);
CREATE INDEX failed_attempts_net on failed_attempts (kind, net, at);
CREATE INDEX failed_attempts_wide on failed_attempts (kind, wide, at);
CREATE INDEX servers_quarantined on servers (no) where quarantined_at is not null;
CREATE INDEX passkeys_user on passkeys (user_id);
CREATE INDEX bans_adopted on bans (server_no, banned_at) where origin is not null;
CREATE INDEX commands_address on commands ((params ->> '$.ip'), created_at) where type in ('ban-ip', 'unban-ip');
CREATE INDEX metrics_hours_hour on metrics_hours (hour);
CREATE TRIGGER bans_removed after delete on bans begin
          insert into removed_bans (ban_id, ip) values (old.id, old.ip);
          delete from removed_bans where seq <= (select max(seq) from removed_bans) - 100000; end;
CREATE UNIQUE INDEX fleet_bans_place on fleet_bans (entry, source, target) where ended_at is null;
CREATE INDEX fleet_bans_version on fleet_bans (version);
CREATE INDEX fleet_bans_expiry on fleet_bans (expires_at) where ended_at is null and expires_at is not null;
CREATE INDEX fleet_bans_ended on fleet_bans (ended_at) where ended_at is not null;
CREATE INDEX fleet_bans_created on fleet_bans (created_at);
CREATE INDEX agent_rollouts_open on agent_rollouts (state) where ended_at is null;
CREATE INDEX agent_rollout_hosts_state on agent_rollout_hosts (rollout_id, state);
CREATE INDEX fleet_tags_version on fleet_tags (version);
CREATE INDEX fleet_tags_tag on fleet_tags (tag);
CREATE UNIQUE INDEX blocklists_name on blocklists (name);
CREATE UNIQUE INDEX rule_matches_ban on rule_matches (rule_id, ban_id);
CREATE INDEX rule_matches_at on rule_matches (at);
CREATE INDEX channel_deliveries_of on channel_deliveries (channel_id, id);
COMMIT;
