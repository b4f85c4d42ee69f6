import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { BubblewrapContext } from './bubblewrapContext.ts'
import { removeCgroups, toCgroupName } from './cgroups.ts'
import { releaseDevice } from './holdStill.ts'
import { endProcess } from './processTable.ts'
import type { SandboxName } from './sandboxFolder.ts'
import { removeStaleSockets } from './spawner.ts'
import { hiddenMountPoint } from './startRequest.ts'

/** Ends all processes and removes all mounts of a previous host. Files of sandboxes are preserved. */
export async function sweepLeftovers(context: BubblewrapContext): Promise<void> {
  const { folder, folders, store } = context
  await store.sweep()
  for (const device of await listLoopDevices(folder)) await releaseLeftover(context, device)
  for (const id of await folders.list()) {
    await endLeftover(context, id)
    await folders.mend(id)
  }
  for (const warm of await folders.listWarmSandboxes()) {
    await endLeftover(context, warm)
    await folders.remove(warm)
  }
  await folders.sweep()
  await removeStaleSockets(folder)
}

export async function endLeftover({ folders, support, log }: BubblewrapContext, name: SandboxName): Promise<void> {
  const run = await folders.readRun(name)
  await Promise.all((run?.processes ?? []).map(endProcess))
  const { controllers } = await support.probe()
  const expected = controllers.map(({ parent }) => join(parent, toCgroupName(name)))
  await removeCgroups([...new Set([...(run?.cgroups ?? []), ...expected])])
  if (!run) return
  await folders.forgetRun(name)
  log.info('ended processes of a previous host', { sandboxId: name })
}

/**
 * Thaws a file system that a snapshot froze before Steward and its helper were killed. Otherwise no process in the
 * sandbox could exit.
 */
async function releaseLeftover({ support, log }: BubblewrapContext, device: string): Promise<void> {
  const { tools } = await support.probe()
  if (!tools) return
  await releaseDevice(device, { perl: tools.perl, doorway: hiddenMountPoint }).catch((error: unknown) =>
    log.warn('failed to release loop device of a previous host', { device, error }),
  )
}

/** Lists loop devices that are backed by files below this folder. */
async function listLoopDevices(folder: string): Promise<string[]> {
  const names = (await readdir('/sys/block').catch(() => [])).filter((name) => name.startsWith('loop'))
  const files = await Promise.all(
    names.map((name) => readFile(join('/sys/block', name, 'loop/backing_file'), 'utf8').catch(() => '')),
  )
  return names.filter((_, index) => files[index]?.startsWith(`${folder}/`)).map((name) => `/dev/${name}`)
}
