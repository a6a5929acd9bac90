import * as fs from 'node:fs'
import { readText } from './files.ts'

export interface Metrics {
  readonly cpu_percent: number
  readonly memory_percent: number
  readonly disk_percent: number
  readonly uptime: number
}

/** The host's load, from /proc; the processor's between two calls. */
export const createMetrics = () => {
  let before = cpuTimes(readText('/proc/stat') ?? '')
  return (): Metrics => {
    const now = cpuTimes(readText('/proc/stat') ?? '')
    const total = now.total - before.total
    const idle = now.idle - before.idle
    before = now
    return {
      cpu_percent: total > 0 ? percent(1 - idle / total) : 0,
      memory_percent: memoryPercent(readText('/proc/meminfo') ?? ''),
      disk_percent: diskPercent(),
      uptime: Math.floor(Number((readText('/proc/uptime') ?? '0').split(' ')[0])),
    }
  }
}

/** user nice system idle iowait irq softirq steal; guest time is in user already. */
const cpuTimes = (stat: string): { total: number; idle: number } => {
  const numbers = (/^cpu\s+(.*)$/m.exec(stat)?.[1] ?? '').trim().split(/\s+/).slice(0, 8).map(Number)
  return { total: numbers.reduce((sum, value) => sum + (value || 0), 0), idle: (numbers[3] ?? 0) + (numbers[4] ?? 0) }
}

const memoryPercent = (meminfo: string): number => {
  const value = (name: string): number => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(meminfo)?.[1] ?? 0)
  const total = value('MemTotal')
  return total > 0 ? percent(1 - value('MemAvailable') / total) : 0
}

export const osName = (): string => {
  const line = /^PRETTY_NAME=(.*)$/m.exec(readText('/etc/os-release') ?? '')?.[1] ?? ''
  return line.replace(/^["']|["']$/g, '').slice(0, 200) || process.platform
}

/** As df counts: space that only root may use is not free. */
const diskPercent = (): number => {
  try {
    const { blocks, bfree, bavail } = fs.statfsSync('/')
    const used = blocks - bfree
    return used + bavail > 0 ? percent(used / (used + bavail)) : 0
  } catch {
    return 0
  }
}

const percent = (share: number): number => Math.round(Math.min(1, Math.max(0, share)) * 1000) / 10
