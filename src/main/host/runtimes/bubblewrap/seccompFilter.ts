import type { SystemCalls } from './systemCalls.ts'

/** Instructions of classic BPF; see seccomp(2). */
const load = 0x20
const ifEqual = 0x15
const ifAtLeast = 0x35
const answer = 0x06
const allow = 0x7fff0000
const fail = (errno: number): number => 0x00050000 | errno

/** Offsets in what the kernel shows of a call. */
const shown = { number: 0, architecture: 4, firstArgument: 16 }
/**
 * Families of sockets that nobody gets: frames that no rule of the machine's network sees (AF_PACKET, AF_XDP), and
 * sockets to the hypervisor and its other guests, which no network namespace holds back (AF_VSOCK).
 */
const forbiddenFamilies = [17, 40, 44]
const noSystemCall = 38
const noAddressFamily = 97

type Step = readonly [code: number, whenTrue: number, whenFalse: number, value: number]

/**
 * Namespaces do not cover everything: refuses sockets past the network's rules, the kernel's key rings, and calls that only
 * widen what can be attacked. Programs of another architecture are refused altogether, since their calls are numbered
 * differently. @returns the program in hexadecimal
 */
export function seccompFilter(calls: SystemCalls): string {
  const steps: Step[] = [
    [load, 0, 0, shown.architecture],
    [ifEqual, 1, 0, calls.architecture],
    [answer, 0, 0, fail(noSystemCall)],
    [load, 0, 0, shown.number],
    [ifAtLeast, 0, 1, calls.foreignFrom],
    [answer, 0, 0, fail(noSystemCall)],
    ...calls.forbidden.flatMap((number): Step[] => [
      [ifEqual, 0, 1, number],
      [answer, 0, 0, fail(noSystemCall)],
    ]),
    [ifEqual, 0, 1 + 2 * forbiddenFamilies.length, calls.socket],
    [load, 0, 0, shown.firstArgument],
    ...forbiddenFamilies.flatMap((family): Step[] => [
      [ifEqual, 0, 1, family],
      [answer, 0, 0, fail(noAddressFamily)],
    ]),
    [answer, 0, 0, allow],
  ]
  return Buffer.concat(steps.map(encode)).toString('hex')
}

function encode([code, whenTrue, whenFalse, value]: Step): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeUInt16LE(code, 0)
  bytes.writeUInt8(whenTrue, 2)
  bytes.writeUInt8(whenFalse, 3)
  bytes.writeUInt32LE(value >>> 0, 4)
  return bytes
}
