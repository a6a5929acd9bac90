import { isList } from '../json.ts'

/**
 * Python's pickle, as far as fail2ban's control socket needs it (docs.python.org/3/library/pickletools). Reading is an
 * allow-list of opcodes that make plain data; nothing is imported, called or built, whatever the bytes ask for.
 */

export type Pickled =
  | null
  | boolean
  | number
  | string
  | readonly Pickled[]
  | PyObject
  | { readonly [key: string]: Pickled }

/** A Python object that is not plain data, such as an exception. */
export interface PyObject {
  readonly py: string
  readonly args: readonly Pickled[]
}

export type Word = string | number | boolean | null | readonly Word[] | { readonly [key: string]: Word }

/** Protocol 2: what every Python since 2.3 reads. */
export const encodePickle = (value: Word): Buffer => {
  const parts: Buffer[] = [Buffer.from([0x80, 2])]
  write(value, parts)
  parts.push(Buffer.from('.'))
  return Buffer.concat(parts)
}

/** Protocols 0 to 5. Throws PickleError on anything else than data. */
export const decodePickle = (bytes: Buffer): Pickled => new Reader(bytes).read()

export class PickleError extends Error {}

const write = (value: Word, parts: Buffer[]): void => {
  if (value === null) parts.push(Buffer.from('N'))
  else if (value === true) parts.push(Buffer.from([0x88]))
  else if (value === false) parts.push(Buffer.from([0x89]))
  else if (typeof value === 'number') parts.push(integer(value))
  else if (typeof value === 'string') parts.push(text(value))
  else if (isList(value)) {
    parts.push(Buffer.from(']('))
    for (const item of value) write(item, parts)
    parts.push(Buffer.from('e'))
  } else {
    parts.push(Buffer.from('}('))
    for (const [key, item] of Object.entries(value)) {
      write(key, parts)
      write(item, parts)
    }
    parts.push(Buffer.from('u'))
  }
}

const integer = (value: number): Buffer => {
  if (!Number.isInteger(value) || value < -(2 ** 31) || value >= 2 ** 31)
    throw new PickleError(`not a 32-bit integer: ${value}`)
  const bytes = Buffer.from('J\0\0\0\0')
  bytes.writeInt32LE(value, 1)
  return bytes
}

const text = (value: string): Buffer => {
  const utf8 = Buffer.from(value, 'utf8')
  const head = Buffer.from('X\0\0\0\0')
  head.writeUInt32LE(utf8.length, 1)
  return Buffer.concat([head, utf8])
}

const markObject = Symbol('mark')
const plainText = new Set(['str', 'set', 'frozenset', 'list', 'tuple', 'dict'])

class Global {
  readonly name: string
  constructor(name: string) {
    this.name = name
  }
}

/** While reading: a list may still grow, and is shared through the memo. */
type Slot = Pickled | Slot[] | Global | typeof markObject | Dict
type Dict = Map<string, Slot>
const isSlots = (value: Slot | undefined): value is Slot[] => Array.isArray(value)

/** A list with holes for the opcodes that are not allowed. */
const byOpcode = <R>(steps: readonly (readonly [opcode: number, step: (reader: R) => void])[]) => {
  const list: (((reader: R) => void) | undefined)[] = Array.from({ length: 256 })
  for (const [opcode, step] of steps) list[opcode] = step
  return list
}

class Reader {
  private readonly bytes: Buffer
  private at = 0
  private stack: Slot[] = []
  private readonly memo = new Map<number, Slot>()

  constructor(bytes: Buffer) {
    this.bytes = bytes
  }

  read(): Pickled {
    for (;;) {
      const opcode = this.byte()
      if (opcode === 0x2e) return plain(this.pop(), 0)
      this.step(opcode)
    }
  }

  private step(opcode: number): void {
    const step = Reader.steps[opcode]
    if (!step) throw new PickleError(`opcode 0x${opcode.toString(16)} is not on the list`)
    step(this)
  }

  /** What each opcode does, by its number: a list of bans has hundreds of thousands, and an array is as fast as a switch. */
  private static readonly steps = byOpcode<Reader>([
    [0x80, reader => reader.protocol()], // PROTO
    [0x95, reader => void reader.take(8)], // FRAME
    [0x28, reader => reader.push(markObject)], // MARK
    [0x30, reader => void reader.pop()], // POP
    [0x31, reader => void reader.toMark()], // POP_MARK
    [0x32, reader => reader.push(reader.top())], // DUP
    [0x4e, reader => reader.push(null)], // NONE
    [0x88, reader => reader.push(true)], // NEWTRUE
    [0x89, reader => reader.push(false)], // NEWFALSE
    [0x49, reader => reader.push(reader.textInt(reader.line()))], // INT
    [0x4c, reader => reader.push(reader.textInt(reader.line().replace(/L$/, '')))], // LONG
    [0x4a, reader => reader.push(reader.take(4).readInt32LE(0))], // BININT
    [0x4b, reader => reader.push(reader.byte())], // BININT1
    [0x4d, reader => reader.push(reader.take(2).readUInt16LE(0))], // BININT2
    [0x8a, reader => reader.push(reader.bigInt(reader.byte()))], // LONG1
    [0x8b, reader => reader.push(reader.bigInt(reader.length4()))], // LONG4
    [0x46, reader => reader.push(Number(reader.line()))], // FLOAT
    [0x47, reader => reader.push(reader.take(8).readDoubleBE(0))], // BINFLOAT
    [0x53, reader => reader.push(reader.quoted(reader.line()))], // STRING
    [0x55, reader => reader.push(reader.string(reader.byte()))], // SHORT_BINSTRING
    [0x43, reader => reader.push(reader.string(reader.byte()))], // SHORT_BINBYTES
    [0x8c, reader => reader.push(reader.string(reader.byte()))], // SHORT_BINUNICODE
    [0x54, reader => reader.push(reader.string(reader.length4()))], // BINSTRING
    [0x42, reader => reader.push(reader.string(reader.length4()))], // BINBYTES
    [0x58, reader => reader.push(reader.string(reader.length4()))], // BINUNICODE
    [0x8d, reader => reader.push(reader.string(reader.length8()))], // BINUNICODE8
    [0x8e, reader => reader.push(reader.string(reader.length8()))], // BINBYTES8
    [0x96, reader => reader.push(reader.string(reader.length8()))], // BYTEARRAY8
    [0x56, reader => reader.rawUnicode()], // UNICODE
    [0x5d, reader => reader.push([])], // EMPTY_LIST
    [0x29, reader => reader.push([])], // EMPTY_TUPLE
    [0x8f, reader => reader.push([])], // EMPTY_SET
    [0x6c, reader => reader.push(reader.toMark())], // LIST
    [0x74, reader => reader.push(reader.toMark())], // TUPLE
    [0x91, reader => reader.push(reader.toMark())], // FROZENSET
    [0x85, reader => reader.push(reader.popMany(1))], // TUPLE1
    [0x86, reader => reader.push(reader.popMany(2))], // TUPLE2
    [0x87, reader => reader.push(reader.popMany(3))], // TUPLE3
    [0x61, reader => reader.extend([reader.pop()])], // APPEND
    [0x65, reader => reader.extend(reader.toMark())], // APPENDS
    [0x90, reader => reader.extend(reader.toMark())], // ADDITEMS
    [0x7d, reader => reader.push(new Map<string, Slot>())], // EMPTY_DICT
    [0x64, reader => reader.push(setItems(new Map<string, Slot>(), reader.toMark()))], // DICT
    [0x73, reader => reader.setItem()], // SETITEM
    [0x75, reader => reader.setAll(reader.toMark())], // SETITEMS
    [0x63, reader => reader.push(new Global(`${reader.line()}.${reader.line()}`))], // GLOBAL
    [0x93, reader => reader.stackGlobal()], // STACK_GLOBAL
    [0x52, reader => reader.build()], // REDUCE
    [0x81, reader => reader.build()], // NEWOBJ
    [0x92, reader => reader.buildWithoutNames()], // NEWOBJ_EX
    [0x62, reader => void reader.pop()], // BUILD: an object's inner state, which plain data has no use for
    [0x70, reader => void reader.memo.set(Number(reader.line()), reader.top())], // PUT
    [0x71, reader => void reader.memo.set(reader.byte(), reader.top())], // BINPUT
    [0x72, reader => void reader.memo.set(reader.length4(), reader.top())], // LONG_BINPUT
    [0x94, reader => void reader.memo.set(reader.memo.size, reader.top())], // MEMOIZE
    [0x67, reader => reader.push(reader.remembered(Number(reader.line())))], // GET
    [0x68, reader => reader.push(reader.remembered(reader.byte()))], // BINGET
    [0x6a, reader => reader.push(reader.remembered(reader.length4()))], // LONG_BINGET
  ])

  private protocol(): void {
    if (this.byte() > 5) throw new PickleError('unknown pickle protocol')
  }

  /** Python's raw-unicode-escape. */
  private rawUnicode(): void {
    const text = this.line('latin1').replace(
      /\\u([0-9a-fA-F]{4})|\\U(000[0-9a-fA-F]{5}|0010[0-9a-fA-F]{4})/g,
      (_, four?: string, eight?: string) => String.fromCodePoint(parseInt(four ?? eight ?? '0', 16)),
    )
    this.push(text)
  }

  private setItem(): void {
    const value = this.pop()
    this.setAll([this.pop(), value])
  }

  private setAll(items: Slot[]): void {
    setItems(this.top(), items)
  }

  private stackGlobal(): void {
    const name = this.pop()
    this.push(new Global(`${String(this.pop())}.${String(name)}`))
  }

  private build(): void {
    const args = this.pop()
    this.push(construct(this.pop(), args))
  }

  private buildWithoutNames(): void {
    this.pop()
    this.build()
  }

  private push(value: Slot): void {
    this.stack.push(value)
  }

  private pop(): Slot {
    const value = this.stack.pop()
    if (value === undefined || value === markObject) throw new PickleError('the stack is empty')
    return value
  }

  private popMany(count: number): Slot[] {
    return Array.from({ length: count }, () => this.pop()).reverse()
  }

  private top(): Slot {
    const value = this.stack[this.stack.length - 1]
    if (value === undefined) throw new PickleError('the stack is empty')
    return value
  }

  private toMark(): Slot[] {
    const mark = this.stack.lastIndexOf(markObject)
    if (mark < 0) throw new PickleError('no mark on the stack')
    const items = this.stack.splice(mark + 1)
    this.stack.pop()
    return items
  }

  private extend(items: Slot[]): void {
    const list = this.top()
    if (!isSlots(list)) throw new PickleError('append to something that is not a list')
    for (const item of items) list.push(item)
  }

  private remembered(index: number): Slot {
    const value = this.memo.get(index)
    if (value === undefined) throw new PickleError(`nothing remembered at ${index}`)
    return value
  }

  private take(length: number): Buffer {
    if (length < 0 || this.at + length > this.bytes.length) throw new PickleError('the pickle ends too early')
    this.at += length
    return this.bytes.subarray(this.at - length, this.at)
  }

  /** Without a view of the bytes for each value: a list of bans has hundreds of thousands. */
  private byte(): number {
    const value = this.bytes[this.at]
    if (value === undefined) throw new PickleError('the pickle ends too early')
    this.at += 1
    return value
  }

  private string(length: number): string {
    if (length < 0 || this.at + length > this.bytes.length) throw new PickleError('the pickle ends too early')
    this.at += length
    return this.bytes.toString('utf8', this.at - length, this.at)
  }

  private length4(): number {
    return this.take(4).readUInt32LE(0)
  }

  private length8(): number {
    const length = this.take(8).readBigUInt64LE(0)
    if (length > BigInt(this.bytes.length)) throw new PickleError('the pickle ends too early')
    return Number(length)
  }

  private line(encoding: 'utf8' | 'latin1' = 'utf8'): string {
    const end = this.bytes.indexOf(0x0a, this.at)
    if (end < 0) throw new PickleError('the pickle ends too early')
    const line = this.bytes.toString(encoding, this.at, end)
    this.at = end + 1
    return line
  }

  private textInt(line: string): Slot {
    if (line === '00') return false
    if (line === '01') return true
    const value = Number(line)
    if (!/^-?\d+$/.test(line)) throw new PickleError('not an integer')
    return Number.isSafeInteger(value) ? value : line
  }

  private bigInt(length: number): Slot {
    if (length > 1024) throw new PickleError('an integer of unreasonable size')
    const bytes = this.take(length)
    let value = 0n
    for (let i = length - 1; i >= 0; i -= 1) value = (value << 8n) | BigInt(bytes[i] ?? 0)
    if (length > 0 && (bytes[length - 1] ?? 0) >= 0x80) value -= 1n << BigInt(8 * length)
    const number = Number(value)
    return Number.isSafeInteger(number) ? number : value.toString()
  }

  private quoted(line: string): string {
    const match = /^'(.*)'$/s.exec(line) ?? /^"(.*)"$/s.exec(line)
    if (!match) throw new PickleError('a string without quotes')
    return (match[1] ?? '').replace(
      /\\x([0-9a-fA-F]{2})|\\(.)/g,
      (_, hex: string | undefined, one: string | undefined) => {
        if (hex !== undefined) return String.fromCharCode(parseInt(hex, 16))
        return one === 'n' ? '\n' : one === 't' ? '\t' : one === 'r' ? '\r' : (one ?? '')
      },
    )
  }
}

/** A class called with arguments: plain data for Python's own containers, otherwise only its name and arguments. */
const construct = (what: Slot, args: Slot): Slot => {
  if (!(what instanceof Global)) throw new PickleError('only a named class can be called')
  const list = isSlots(args) ? args : []
  const [module = '', name = ''] = splitLast(what.name)
  if ((module === 'builtins' || module === '__builtin__') && plainText.has(name)) {
    const first = list[0]
    if (name === 'str') return first === undefined ? '' : String(plain(first, 0))
    if (name === 'dict') return first instanceof Map ? first : new Map<string, Slot>()
    return isSlots(first) ? first : []
  }
  if (what.name === 'collections.OrderedDict') {
    const [pairs] = list
    const items = isSlots(pairs) ? pairs.flatMap(pair => (isSlots(pair) ? pair : [])) : []
    return setItems(new Map<string, Slot>(), items)
  }
  return new Map<string, Slot>([
    ['py', what.name],
    ['args', list],
  ])
}

const splitLast = (name: string): [string, string] => {
  const dot = name.lastIndexOf('.')
  return [name.slice(0, dot), name.slice(dot + 1)]
}

const setItems = (target: Slot, items: Slot[]): Slot => {
  if (!(target instanceof Map)) throw new PickleError('items for something that is not a dictionary')
  for (let i = 0; i + 1 < items.length; i += 2) {
    const key = plain(items[i] ?? null, 0)
    target.set(typeof key === 'string' ? key : JSON.stringify(key), items[i + 1] ?? null)
  }
  return target
}

const plain = (value: Slot, depth: number): Pickled => {
  if (depth > 50) throw new PickleError('nested too deeply')
  if (value === markObject) throw new PickleError('a mark is not a value')
  if (value instanceof Global) return { py: value.name, args: [] }
  if (isSlots(value)) return value.map(item => plain(item, depth + 1))
  if (value instanceof Map) {
    const fields: Record<string, Pickled> = Object.create(null)
    for (const [key, item] of value) fields[key] = plain(item, depth + 1)
    return fields
  }
  return value
}
