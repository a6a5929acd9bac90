import { networkInterfaces } from 'node:os'
import { readText } from '../files.ts'
import { canonicalIp, isOwnGround } from '../ip.ts'
import type { Interpreter } from '../python/interpreter.ts'
import { probe } from '../python/programs.ts'
import { createProbe, listeningPorts } from './probe.ts'
import { createSelfTest } from './self-test.ts'
import type { TestBan } from './self-test.ts'

/** The command `self-test` of this host. */
export const createHostSelfTest = (testBan: TestBan, python: Interpreter): (() => Promise<string>) =>
  createSelfTest({
    testBan,
    probe: createProbe(python, probe),
    addresses: () =>
      Object.values(networkInterfaces())
        .flatMap(addresses => addresses ?? [])
        .flatMap(({ address }) => canonicalIp(address) ?? [])
        .filter(address => !isOwnGround(address)),
    ports: () => listeningPorts([readText('/proc/net/tcp'), readText('/proc/net/tcp6')]),
    steadyNow: () => performance.now(),
  })
