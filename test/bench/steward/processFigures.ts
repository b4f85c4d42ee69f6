import { readFileSync } from 'node:fs'
import { closeTerminal, createTerminal, readTerminal } from '../../../src/shared/contract/terminals.ts'
import type { SandboxId } from '../../../src/shared/ids.ts'
import { until } from '../../support/eventually.ts'
import { type Steward, startSteward } from '../../support/steward.ts'
import type { StewardClient } from '../../support/stewardClient.ts'
import type { Samples } from '../figures.ts'

/** From the command line to the ready line, with the build there and the host not yet running. */
export async function coldStarts(count: number): Promise<Samples> {
  const samples: number[] = []
  for (let index = 0; index < count; index++) {
    const start = performance.now()
    const steward = await startSteward()
    samples.push(performance.now() - start)
    await steward.close()
  }
  return samples
}

/** Resident memory of main, service and host in MB. */
export function residentMegabytes(steward: Steward): { main: number; service: number; host: number } {
  const { main, service, host } = steward.pids()
  return { main: residentOf(main), service: residentOf(service), host: residentOf(host) }
}

/** What each terminal with a full scrollback adds, in all three processes. */
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

function total(steward: Steward): number {
  const { main, service, host } = residentMegabytes(steward)
  return main + service + host
}

function residentOf(pid: number): number {
  const [, kilobytes] = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  if (kilobytes === undefined) throw new Error(`Process ${pid} tells no resident memory.`)
  return Number(kilobytes) / 1000
}
