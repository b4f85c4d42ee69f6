import {
  allowedCloneFlags,
  allowedIoctls,
  allowedPersonalities,
  allowedUnshareFlags,
  type SocketKind,
  socketKinds,
} from './allowedArguments.ts'
import { allowedCalls, argumentCalls, type CallTable, enteringCalls, privilegedCalls } from './allowedCalls.ts'

/** Instructions of classic BPF. See seccomp(2). */
const load = 0x20
const and = 0x54
const ifEqual = 0x15
const ifAbove = 0x25
const jumpIfAtLeast = 0x35
const ifAnyBit = 0x45
const answer = 0x06
const allow = 0x7fff0000
const fail = (errno: number): number => 0x00050000 | errno

/**
 * Offsets in `struct seccomp_data`. For arguments, the offset of the lower half, because the kernel ignores the upper
 * half of these.
 */
const dataOffset = { number: 0, architecture: 4, firstArgument: 16, secondArgument: 24, thirdArgument: 32 }
/** Number of the architecture in <linux/audit.h>, and its column in the tables. */
const architectures: Partial<Record<NodeJS.Architecture, { audit: number; column: 0 | 1 }>> = {
  x64: { audit: 0xc000003e, column: 0 },
  arm64: { audit: 0xc00000b7, column: 1 },
}

const notPermitted = 1
const noTerminal = 25
const noSystemCall = 38
const noProtocol = 93
const noSocketType = 94
const noAddressFamily = 97

/** BPF instruction. Jumps contain the number of instructions to skip, others zeros. */
type Step = readonly [code: number, whenTrue: number, whenFalse: number, value: number]
type ArgumentCall = keyof typeof argumentCalls

/**
 * Builds filters that allow only the listed calls. They reject calls of other architectures, because the numbers
 * differ. `outer` also applies to processes that create or enter the sandbox. `inner` applies to all processes in the
 * sandbox, which cannot create namespaces.
 * @returns the programs in hexadecimal, or undefined on an unsupported architecture
 */
export function buildSeccompFilters(platform = process.arch): { outer: string; inner: string } | undefined {
  const architecture = architectures[platform]
  if (!architecture) return undefined
  const { audit, column } = architecture
  const numbers = (table: CallTable) => Object.values(table).flatMap((row) => row[column] ?? [])
  const program = (allowed: readonly number[], checked: readonly ArgumentCall[]): string => {
    const checks = checked.flatMap((name) => onCall(argumentCalls[name][column], argumentChecks[name]()))
    const steps = [...buildArchitectureSteps(audit), ...checks, ...buildRangeSteps(allowed, numbers(privilegedCalls))]
    return Buffer.concat(steps.map(encode)).toString('hex')
  }
  const { clone, unshare } = argumentCalls
  const making = numbers({ ...enteringCalls, clone, unshare })
  return {
    outer: program([...numbers(allowedCalls), ...making], ['ioctl', 'socket', 'socketpair', 'personality']),
    inner: program(numbers(allowedCalls), ['ioctl', 'socket', 'socketpair', 'personality', 'clone', 'unshare']),
  }
}

function buildArchitectureSteps(audit: number): Step[] {
  return [
    [load, 0, 0, dataOffset.architecture],
    [ifEqual, 1, 0, audit],
    [answer, 0, 0, fail(noSystemCall)],
    [load, 0, 0, dataOffset.number],
  ]
}

/** `steps` must end with a return instruction. */
function onCall(number: number, steps: readonly Step[]): Step[] {
  return [[ifEqual, 0, steps.length, number], ...steps]
}

const argumentChecks: Readonly<Record<ArgumentCall, () => Step[]>> = {
  ioctl: () => matchAny(dataOffset.secondArgument, Object.values(allowedIoctls), noTerminal),
  socket: () => buildSocketSteps(socketKinds),
  socketpair: () => buildSocketSteps(socketKinds.filter(({ family }) => family === 1)),
  personality: () => matchAny(dataOffset.firstArgument, allowedPersonalities, notPermitted),
  clone: () => buildFlagSteps(allowedCloneFlags),
  unshare: () => buildFlagSteps(allowedUnshareFlags),
}

function matchAny(offset: number, values: readonly number[], errno: number): Step[] {
  return [
    [load, 0, 0, offset],
    ...values.flatMap((value): Step[] => [
      [ifEqual, 0, 1, value],
      [answer, 0, 0, allow],
    ]),
    [answer, 0, 0, fail(errno)],
  ]
}

function buildFlagSteps(flags: number): Step[] {
  return [
    [load, 0, 0, dataOffset.firstArgument],
    [ifAnyBit, 0, 1, ~flags],
    [answer, 0, 0, fail(notPermitted)],
    [answer, 0, 0, allow],
  ]
}

/** Ignores flags in the type (SOCK_NONBLOCK, SOCK_CLOEXEC), which the kernel validates. */
function buildSocketSteps(kinds: readonly SocketKind[]): Step[] {
  const ofType = ({ type, protocols }: SocketKind['types'][number]): Step[] => {
    const steps: Step[] = protocols
      ? matchAny(dataOffset.thirdArgument, protocols, noProtocol)
      : [[answer, 0, 0, allow]]
    return [[ifEqual, 0, steps.length, type], ...steps]
  }
  const ofFamily = ({ family, types }: SocketKind): Step[] => {
    const steps: Step[] = [
      [load, 0, 0, dataOffset.secondArgument],
      [and, 0, 0, 0xf],
      ...types.flatMap(ofType),
      [answer, 0, 0, fail(noSocketType)],
    ]
    return [[ifEqual, 0, steps.length, family], ...steps]
  }
  return [[load, 0, 0, dataOffset.firstArgument], ...kinds.flatMap(ofFamily), [answer, 0, 0, fail(noAddressFamily)]]
}

/** Compares ranges of numbers to reduce the number of instructions. The kernel caches calls that are always allowed. */
function buildRangeSteps(allowed: readonly number[], privileged: readonly number[]): Step[] {
  const answers = new Map([...privileged.map((it) => [it, fail(notPermitted)] as const)])
  for (const number of allowed) answers.set(number, allow)
  const ranges: { first: number; last: number; value: number }[] = []
  for (const [number, value] of [...answers].sort(([a], [b]) => a - b)) {
    const range = ranges.at(-1)
    if (range && number === range.last + 1 && value === range.value) range.last = number
    else ranges.push({ first: number, last: number, value })
  }
  return [
    ...ranges.flatMap(({ first, last, value }): Step[] => [
      [jumpIfAtLeast, 1, 0, first],
      [answer, 0, 0, fail(noSystemCall)],
      [ifAbove, 1, 0, last],
      [answer, 0, 0, value],
    ]),
    [answer, 0, 0, fail(noSystemCall)],
  ]
}

function encode([code, whenTrue, whenFalse, value]: Step): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeUInt16LE(code, 0)
  bytes.writeUInt8(whenTrue, 2)
  bytes.writeUInt8(whenFalse, 3)
  bytes.writeUInt32LE(value >>> 0, 4)
  return bytes
}
