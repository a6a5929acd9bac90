import { isList } from '../json.ts'

/**
 * Python's pickle, as far as fail2ban's control socket needs it (docs.python.org/3/library/pickletools). Reading is an
 * allow-list of opcodes that make plain data; nothing is imported, called or built, whatever the bytes ask for.
 */

export type Pickled =
  null | boolean | number | string | readonly Pickled[] | PyObject | { readonly [key: string]: Pickled }

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
    switch (opcode) {
      case 0x80: // PROTO
        if (this.byte() > 5) throw new PickleError('unknown pickle protocol')
        return
      case 0x95: // FRAME
        this.take(8)
        return
      case 0x28: // MARK
        return this.push(markObject)
      case 0x30: // POP
        this.pop()
        return
      case 0x31: // POP_MARK
        this.toMark()
        return
      case 0x32: // DUP
        return this.push(this.top())
      case 0x4e: // NONE
        return this.push(null)
      case 0x88:
        return this.push(true)
      case 0x89:
        return this.push(false)
      case 0x49: // INT
        return this.push(this.textInt(this.line()))
      case 0x4c: // LONG
        return this.push(this.textInt(this.line().replace(/L$/, '')))
      case 0x4a: // BININT
        return this.push(this.take(4).readInt32LE(0))
      case 0x4b: // BININT1
        return this.push(this.byte())
      case 0x4d: // BININT2
        return this.push(this.take(2).readUInt16LE(0))
      case 0x8a: // LONG1
        return this.push(this.bigInt(this.byte()))
      case 0x8b: // LONG4
        return this.push(this.bigInt(this.length4()))
      case 0x46: // FLOAT
        return this.push(Number(this.line()))
      case 0x47: // BINFLOAT
        return this.push(this.take(8).readDoubleBE(0))
      case 0x53: // STRING
        return this.push(this.quoted(this.line()))
      case 0x55: // SHORT_BINSTRING
      case 0x43: // SHORT_BINBYTES
      case 0x8c: // SHORT_BINUNICODE
        return this.push(this.string(this.byte()))
      case 0x54: // BINSTRING
      case 0x42: // BINBYTES
      case 0x58: // BINUNICODE
        return this.push(this.string(this.length4()))
      case 0x8d: // BINUNICODE8
      case 0x8e: // BINBYTES8
      case 0x96: // BYTEARRAY8
        return this.push(this.string(this.length8()))
      case 0x56: // UNICODE, in Python's raw-unicode-escape
        return this.push(
          this.line('latin1').replace(
            /\\u([0-9a-fA-F]{4})|\\U(000[0-9a-fA-F]{5}|0010[0-9a-fA-F]{4})/g,
            (_, four?: string, eight?: string) => String.fromCodePoint(parseInt(four ?? eight ?? '0', 16)),
          ),
        )
      case 0x5d: // EMPTY_LIST
      case 0x29: // EMPTY_TUPLE
      case 0x8f: // EMPTY_SET
        return this.push([])
      case 0x6c: // LIST
      case 0x74: // TUPLE
      case 0x91: // FROZENSET
        return this.push(this.toMark())
      case 0x85: // TUPLE1..3
      case 0x86:
      case 0x87: {
        const items = Array.from({ length: opcode - 0x84 }, () => this.pop())
        return this.push(items.reverse())
      }
      case 0x61: // APPEND
        return this.extend([this.pop()])
      case 0x65: // APPENDS
      case 0x90: // ADDITEMS
        return this.extend(this.toMark())
      case 0x7d: // EMPTY_DICT
        return this.push(new Map<string, Slot>())
      case 0x64: // DICT
        return this.push(setItems(new Map<string, Slot>(), this.toMark()))
      case 0x73: {
        // SETITEM
        const value = this.pop()
        const key = this.pop()
        setItems(this.top(), [key, value])
        return
      }
      case 0x75: {
        // SETITEMS
        const items = this.toMark()
        setItems(this.top(), items)
        return
      }
      case 0x63: // GLOBAL
        return this.push(new Global(`${this.line()}.${this.line()}`))
      case 0x93: {
        // STACK_GLOBAL
        const name = this.pop()
        const module = this.pop()
        return this.push(new Global(`${String(module)}.${String(name)}`))
      }
      case 0x52: // REDUCE
      case 0x81: {
        // NEWOBJ
        const args = this.pop()
        return this.push(made(this.pop(), args))
      }
      case 0x92: {
        // NEWOBJ_EX
        this.pop()
        const args = this.pop()
        return this.push(made(this.pop(), args))
      }
      case 0x62: // BUILD: an object's inner state, which plain data has no use for
        this.pop()
        return
      case 0x70: // PUT
        return void this.memo.set(Number(this.line()), this.top())
      case 0x71: // BINPUT
        return void this.memo.set(this.byte(), this.top())
      case 0x72: // LONG_BINPUT
        return void this.memo.set(this.length4(), this.top())
      case 0x94: // MEMOIZE
        return void this.memo.set(this.memo.size, this.top())
      case 0x67: // GET
        return this.push(this.remembered(Number(this.line())))
      case 0x68: // BINGET
        return this.push(this.remembered(this.byte()))
      case 0x6a: // LONG_BINGET
        return this.push(this.remembered(this.length4()))
      default:
        throw new PickleError(`opcode 0x${opcode.toString(16)} is not on the list`)
    }
  }

  private push(value: Slot): void {
    this.stack.push(value)
  }

  private pop(): Slot {
    const value = this.stack.pop()
    if (value === undefined || value === markObject) throw new PickleError('the stack is empty')
    return value
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
const made = (what: Slot, args: Slot): Slot => {
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
