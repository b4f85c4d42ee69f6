import { existsSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { systemCallTable } from '../../systemCallNumbers.ts'
import { allowedCalls, argumentCalls, type CallTable, enteringCalls, privilegedCalls } from './allowedCalls.ts'
import { buildSeccompFilters } from './seccompFilter.ts'

const audit = { x64: 0xc000003e, arm64: 0xc00000b7 } as const
const columns = ['x64', 'arm64'] as const
type Architecture = (typeof columns)[number]
const allowed = 'allowed'
const filters = (architecture: Architecture) => buildSeccompFilters(architecture) ?? { outer: '', inner: '' }

/** Runs classic BPF as the kernel does. @returns `allowed`, or the errno */
function evaluate(program: string, call: { architecture: number; number: number; arguments?: readonly number[] }) {
  const code = Buffer.from(program, 'hex')
  const data = Buffer.alloc(64)
  data.writeUInt32LE(call.number >>> 0, 0)
  data.writeUInt32LE(call.architecture >>> 0, 4)
  for (const [index, value] of (call.arguments ?? []).entries()) data.writeUInt32LE(value >>> 0, 16 + 8 * index)
  let accumulator = 0
  for (let index = 0; ; index++) {
    const [kind, value] = [code.readUInt16LE(index * 8), code.readUInt32LE(index * 8 + 4)]
    const jump = (isTrue: boolean): void => {
      index += code.readUInt8(index * 8 + (isTrue ? 2 : 3))
    }
    if (kind === 0x20) accumulator = data.readUInt32LE(value)
    else if (kind === 0x54) accumulator = (accumulator & value) >>> 0
    else if (kind === 0x15) jump(accumulator === value)
    else if (kind === 0x25) jump(accumulator > value)
    else if (kind === 0x35) jump(accumulator >= value)
    else if (kind === 0x45) jump((accumulator & value) !== 0)
    else if (kind === 0x06) return value === 0x7fff0000 ? allowed : value & 0xffff
    else throw new Error(`There is no instruction ${kind}.`)
  }
}

describe.each(columns)('the %s filters', (name) => {
  const column = columns.indexOf(name) as 0 | 1
  const { inner, outer } = filters(name)
  const said = (filter: string, number: number | null, ...rest: number[]) =>
    number === null ? undefined : evaluate(filter, { architecture: audit[name], number, arguments: rest })
  const call = (callName: keyof typeof argumentCalls, ...rest: number[]) =>
    said(inner, argumentCalls[callName][column], ...rest)

  test('allow every listed call and return ENOSYS for all others', () => {
    const listed = new Set(Object.values(allowedCalls).map((row) => row[column]))
    const privileged = new Set(Object.values(privilegedCalls).map((row) => row[column]))
    const checked = new Set<number | null>(Object.values(argumentCalls).map((row) => row[column]))
    for (let number = 0; number < 1024; number++) {
      if (checked.has(number)) continue
      const expected = listed.has(number) ? allowed : privileged.has(number) ? 1 : 38
      expect(said(inner, number), `${number}`).toBe(expected)
    }
    for (const number of [0x40000000 + 1, 0x7fffffff, 0xffffffff]) expect(said(inner, number)).toBe(38)
  })

  test('allow mounting and joining namespaces only to sandbox setup', () => {
    for (const [callName, row] of Object.entries(enteringCalls)) {
      expect([said(outer, row[column]), said(inner, row[column])], callName).toEqual([allowed, 1])
    }
    expect(said(outer, argumentCalls.unshare[column], 0x10000000)).toBe(allowed)
  })

  test('refuse calls of another architecture', () => {
    for (const architecture of [0x40000003, 0x40000028, audit[name === 'x64' ? 'arm64' : 'x64']])
      for (const filter of [inner, outer]) expect(evaluate(filter, { architecture, number: 0 })).toBe(38)
  })

  test('allow only the usual sockets of four families', () => {
    const nonblocking = 0x800
    for (const kind of [
      [1, 1],
      [1, 2, 1],
      [1, 5],
      [2, 1, 6],
      [2, 1 | nonblocking],
      [10, 2, 17],
      [2, 2, 1],
      [16, 3, 0],
    ])
      expect(call('socket', ...kind), kind.join()).toBe(allowed)
    for (let family = 0; family < 64; family++)
      if (![1, 2, 10, 16].includes(family)) expect(call('socket', family, 1), `${family}`).toBe(97)
    for (const family of [1, 2, 10, 16]) {
      expect(call('socket', family, 10, 0x300), 'SOCK_PACKET').toBe(94)
      expect(call('socket', family, 10 | nonblocking, 0x300), 'SOCK_PACKET').toBe(94)
    }
    for (const family of [2, 10]) expect(call('socket', family, 3, 255), 'SOCK_RAW').toBe(94)
    expect(call('socket', 2, 1, 262), 'MPTCP').toBe(93)
    expect(call('socket', 16, 3, 12), 'netfilter').toBe(93)
    expect([call('socketpair', 1, 1), call('socketpair', 2, 1)]).toEqual([allowed, 97])
  })

  test('reject flags that create a namespace', () => {
    expect(call('clone', 0x3d0f00)).toBe(allowed) // a thread
    expect(call('clone', 0x1200011)).toBe(allowed) // a process
    expect(call('unshare', 0x200)).toBe(allowed)
    for (const flag of [0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000]) {
      expect([call('clone', flag | 17), call('unshare', flag)], flag.toString(16)).toEqual([1, 1])
    }
    expect(call('unshare', 0x80)).toBe(1) // CLONE_NEWTIME
  })

  test('allow listed ioctls and return ENOTTY for all others', () => {
    expect([call('ioctl', 0, 0x5401), call('ioctl', 0, 0x5413)]).toEqual([allowed, allowed])
    const refused = { TIOCSTI: 0x5412, TIOCSETD: 0x5423, TIOCCONS: 0x541d, TIOCLINUX: 0x541c, FIFREEZE: 0xc0045877 }
    for (const [callName, request] of Object.entries(refused)) expect(call('ioctl', 0, request), callName).toBe(25)
  })

  test('allow disabling address randomization and little else of personality', () => {
    expect([call('personality', 0xffffffff), call('personality', 0x40000), call('personality', 0x400000)]).toEqual([
      allowed,
      allowed,
      1,
    ])
  })
})

test('call numbers match the helper scripts', () => {
  const all: CallTable = { ...allowedCalls, ...argumentCalls, ...enteringCalls, ...privilegedCalls }
  for (const [index, name] of columns.entries())
    for (const [call, number] of Object.entries(systemCallTable[name] ?? {}))
      if (all[call]) expect(all[call]?.[index], call).toBe(number)
})

const header = '/usr/include/x86_64-linux-gnu/asm/unistd_64.h'
test('x64 call numbers match the C library where it is installed', (context) => {
  if (!existsSync(header)) context.skip(`there is no ${header}`)
  const text = readFileSync(header, 'utf8')
  const numbers = new Map(
    [...text.matchAll(/#define __NR_(\w+) (\d+)/g)].map(([, name, number]) => [name, Number(number)]),
  )
  for (const [call, [number]] of Object.entries({ ...allowedCalls, ...argumentCalls, ...privilegedCalls }))
    if (numbers.has(call)) expect(number, call).toBe(numbers.get(call))
})
