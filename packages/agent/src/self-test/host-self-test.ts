import { networkInterfaces } from 'node:os'
import { readText } from '../files.ts'
import { canonicalIp, isOwnGround } from '../ip.ts'
import { listeningPorts } from './probe.ts'
import type { Probe } from './probe.ts'
import { createSelfTest } from './self-test.ts'
import type { TestBan } from './self-test.ts'

/** This host's addresses without loopback and link-local. */
export const ownAddresses = (): string[] =>
  Object.values(networkInterfaces())
    .flatMap(addresses => addresses ?? [])
    .flatMap(({ address }) => canonicalIp(address) ?? [])
    .filter(address => !isOwnGround(address))

/** The command `self-test` of this host. */
export const createHostSelfTest = (testBan: TestBan, probe: Probe): (() => Promise<string>) =>
  createSelfTest({
    testBan,
    probe,
    addresses: ownAddresses,
    ports: () => listeningPorts([readText('/proc/net/tcp'), readText('/proc/net/tcp6')]),
    steadyNow: () => performance.now(),
  })
