/** Reading values of unknown shape (a server's answer, a file of an older version) without trusting them. */

export type Fields = Readonly<Record<string, unknown>>

export function asFields(value: unknown): Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {}
}

export function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? (value as readonly unknown[]) : []
}

export function asText(value: unknown, otherwise = ''): string {
  return typeof value === 'string' ? value : otherwise
}

export function asInteger(value: unknown, otherwise: number): number {
  return typeof value === 'number' && Number.isSafeInteger(value) ? value : otherwise
}
