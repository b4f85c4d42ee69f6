import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { closeTerminal, createTerminal, readTerminal } from '#shared/contract/terminals.ts'
import type { SandboxId } from '#shared/ids.ts'
import { until } from '../../support/assertions/eventually.ts'
import type { StewardClient } from '../../support/clients/stewardClient.ts'
import { type Steward, startSteward } from '../../support/processes/steward.ts'
import type { Samples } from '../figures.ts'

/** Length of a kernel tick, the unit of processor time, on every system that Steward supports. */
const tickMs = 10

/** Measures from the command line to the ready line, with an existing build and no running host. */
export async function measureColdStarts(count: number): Promise<Samples> {
  const samples: number[] = []
  for (let index = 0; index < count; index++) {
    const start = performance.now()
    const steward = await startSteward()
    samples.push(performance.now() - start)
    await steward.close()
  }
  return samples
}

/**
 * Returns the memory of main, service and host in MB, including their helpers. Shared pages and processes count once.
 */
export function proportionalMegabytes(steward: Steward): { main: number; service: number; host: number } {
  const { main, service, host } = steward.pids()
  const parts = [main, service, host]
  const sumMemory = (pid: number): number =>
    listHelpers(
      pid,
      parts.filter((part) => part !== pid),
    ).reduce((sum, each) => sum + readProportionalSize(each), 0)
  return { main: sumMemory(main), service: sumMemory(service), host: sumMemory(host) }
}

/** Measures the memory that each terminal with a full scrollback adds to all three processes. */
export async function megabytesPerTerminal(
  { steward, client, id }: { steward: Steward; client: StewardClient; id: SandboxId },
  count: number,
): Promise<number> {
  const before = total(steward)
  const opened = []
  for (let index = 0; index < count; index++) {
    const { session_id: sessionId } = await client.call(createTerminal, { id, command: 'seq 12000; exec cat' })
    opened.push(sessionId)
    await until('the last line is on the screen', async () =>
      (await client.call(readTerminal, { id, sessionId })).output.includes('12000'),
    )
  }
  const grown = total(steward) - before
  for (const sessionId of opened) await client.call(closeTerminal, { id, sessionId })
  return grown / count
}

/** Returns the CPU time in ms of service, host and all helpers outside sandboxes, including exited ones. */
export function processorMs(steward: Steward): number {
  const { service, host } = steward.pids()
  return [...listHelpers(service, [host]), ...listHelpers(host)].reduce(
    (sum, pid) => sum + ownMs(pid) + readChildTicks(pid),
    0,
  )
}

/** Resolves when these processes and their descendants have been nearly idle for a moment. */
export async function waitUntilSettled(subject: string, pids: () => readonly number[]): Promise<void> {
  const readTicks = (): number =>
    [...new Set(pids().flatMap((pid) => listHelpers(pid)))].reduce((sum, pid) => sum + ownMs(pid), 0)
  let before = readTicks()
  let quietSince = performance.now()
  await until(
    `${subject} to settle`,
    () => {
      const now = readTicks()
      if (now - before > tickMs) quietSince = performance.now()
      before = now
      return performance.now() - quietSince > quietMs
    },
    60_000,
  )
}
const quietMs = 300

/**
 * Lists the process and its descendants in its process namespace, which excludes programs in sandboxes. Excludes the
 * processes in `except` and their descendants.
 */
export function listHelpers(pid: number, except: readonly number[] = []): number[] {
  const namespace = readNamespace(pid)
  const children = new Map<number, number[]>()
  for (const each of readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)) {
    const parent = Number(readStat(each)[parentField])
    children.set(parent, [...(children.get(parent) ?? []), each])
  }
  const helpers = [pid]
  for (const each of helpers)
    helpers.push(
      ...(children.get(each) ?? []).filter((value) => readNamespace(value) === namespace && !except.includes(value)),
    )
  return helpers
}

function total(steward: Steward): number {
  const { main, service, host } = proportionalMegabytes(steward)
  return main + service + host
}

function readProportionalSize(pid: number): number {
  const [, kilobytes] = /^Pss:\s+(\d+) kB/m.exec(readText(`/proc/${pid}/smaps_rollup`)) ?? []
  return Number(kilobytes ?? 0) / 1000
}

/** Fields of proc_pid_stat(5) after the name in parentheses, which may contain spaces. The first one is the state. */
const [parentField, userField, systemField, waitedUserField, waitedSystemField] = [1, 11, 12, 13, 14]

/** Returns the processor time that a process has used so far, in ms. */
export const ownMs = (pid: number): number => readTickFields(pid, userField, systemField) * tickMs
const readChildTicks = (pid: number): number => readTickFields(pid, waitedUserField, waitedSystemField) * tickMs

function readTickFields(pid: number, ...fields: readonly number[]): number {
  const stat = readStat(pid)
  return fields.reduce((sum, field) => sum + Number(stat[field] ?? 0), 0)
}

function readStat(pid: number): string[] {
  const text = readText(`/proc/${pid}/stat`)
  return text.slice(text.lastIndexOf(')') + 2).split(' ')
}

function readNamespace(pid: number): string {
  try {
    return readlinkSync(`/proc/${pid}/ns/pid`)
  } catch {
    return '' // process has exited
  }
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return '' // process has exited
  }
}
