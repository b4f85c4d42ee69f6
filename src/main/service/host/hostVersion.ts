import { AppError } from '../../../shared/appError.ts'
import { hostIpcVersion } from '../../../shared/contract/hostIpc.ts'
import type { HostCall } from './hostCalls.ts'

/**
 * A host outlives the service, so it may be one of an earlier Steward. It is ended when no machine runs on it, and
 * a new one is started in its place; a busy one is left alone.
 * @throws AppError `host/unavailable` when the host cannot be used.
 */
export async function replaceOtherVersion(call: HostCall): Promise<void> {
  const { result: description } = await call('describe', {})
  if (description.ipcVersion === hostIpcVersion) return
  const { result } = await call('machine.list', {})
  if (result.machines.length > 0) {
    throw new AppError(
      'host/unavailable',
      `A sandbox host of Steward ${description.version} still runs ${result.machines.length} sandboxes.`,
      { detail: `This Steward cannot use it. End process ${description.pid} to replace it; the files are kept.` },
    )
  }
  await call('shutdown', {})
  throw new AppError('host/unavailable', `The sandbox host of Steward ${description.version} is being replaced.`)
}
