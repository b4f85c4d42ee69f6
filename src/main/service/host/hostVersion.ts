import { z } from 'zod'
import type { IpcClient } from '#platform/ipc/ipcClient.ts'
import { AppError } from '#shared/appError.ts'
import { hostIpcVersion } from '#shared/contract/hostIpc.ts'

/** A host of another protocol version: of an earlier Steward, or of a later one after a downgrade. */
export type OtherHost = { version: string; runningSandboxes: number }

/** The part of the protocol that every version has. */
const Description = z.looseObject({ ipcVersion: z.int(), version: z.string() })
const Machines = z.looseObject({ machines: z.array(z.unknown()) })
const deadlineMs = 30_000

/** Returns undefined for a host that this service can use. @throws AppError `host/unavailable` */
export async function findOtherHost(client: Pick<IpcClient, 'call'>): Promise<OtherHost | undefined> {
  const ask = async (method: string): Promise<unknown> =>
    (await client.call(method, {}, { signal: AbortSignal.timeout(deadlineMs) })).result
  const { ipcVersion, version } = Description.parse(await ask('describe'))
  if (ipcVersion === hostIpcVersion) return undefined
  const { machines } = Machines.parse(await ask('machine.list'))
  return { version, runningSandboxes: machines.length }
}

/** Ends a host of another version; its sandboxes stop and keep their files. */
export async function endOtherHost(client: Pick<IpcClient, 'call'>): Promise<void> {
  await client.call('shutdown', {}, { signal: AbortSignal.timeout(deadlineMs) })
}

export function createOtherVersionError({ version, runningSandboxes }: OtherHost): AppError {
  const sandboxes = runningSandboxes === 1 ? '1 sandbox' : `${runningSandboxes} sandboxes`
  return new AppError('host/unavailable', `A sandbox host of Steward ${version} still runs ${sandboxes}.`, {
    detail: 'This Steward cannot use it. Choose “Stop all and continue” in Sandboxes; files are kept.',
  })
}

export function createReplacingError({ version }: OtherHost): AppError {
  return new AppError('host/unavailable', `The sandbox host of Steward ${version} is being replaced.`)
}
