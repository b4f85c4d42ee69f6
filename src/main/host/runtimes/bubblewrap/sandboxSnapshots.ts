import { mkdir, readdir, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { pathExists } from '#platform/files/pathExists.ts'
import { AppError } from '#shared/appError.ts'
import { SnapshotId } from '#shared/ids.ts'
import { copyStorage, measureStorage } from './copyFiles.ts'
import { lockImage, type Thaw } from './holdStill.ts'
import {
  filesName,
  newSuffix,
  oldSuffix,
  partSuffix,
  removeTree,
  type SandboxFolder,
  type SandboxStorage,
} from './sandboxFolder.ts'

/** Snapshots of a sandbox's files, stored beside them and removed with the sandbox. */
export type SandboxSnapshots = {
  /**
   * Creates a snapshot.
   * @param request.holdStill freezes a running sandbox
   * @returns the disk usage of the snapshot, in bytes
   */
  keep(sandbox: SandboxFolder, request: { id: SnapshotId; signal: AbortSignal; holdStill?: Freeze }): Promise<number>
  /** Lists complete snapshots. */
  list(sandboxFolder: string): Promise<SnapshotId[]>
  /** @throws AppError `snapshot/not-found` */
  find(machineFolder: string, id: SnapshotId): Promise<SandboxStorage>
  /** Restores the files of a stopped sandbox, atomically. */
  restore(instance: SandboxFolder, request: { id: SnapshotId; signal: AbortSignal }): Promise<void>
  copy(from: SandboxStorage, to: string, signal: AbortSignal): Promise<void>
  remove(machineFolder: string, id: SnapshotId): Promise<void>
}

export type Freeze = (signal: AbortSignal) => Promise<Thaw>

export function createSandboxSnapshots(tools: () => Promise<{ perl: string; bwrap: string }>): SandboxSnapshots {
  const getPath = (folder: string, id: SnapshotId, kind: SandboxStorage['kind']): string =>
    join(folder, 'snapshots', kind === 'image' ? `${id}.ext4` : id)

  const find: SandboxSnapshots['find'] = async (folder, id) => {
    for (const kind of ['image', 'folder'] as const) {
      const path = getPath(folder, id, kind)
      if (await pathExists(path)) return { kind, path }
    }
    throw new AppError('snapshot/not-found', `There is no snapshot ${id}.`)
  }

  const copy: SandboxSnapshots['copy'] = async (from, to, signal) => {
    await copyStorage({ from, to, tools: await tools(), signal })
  }

  /** Renames the copy to its final name once it is complete. */
  const copyWhole = async (from: SandboxStorage, to: string, signal: AbortSignal): Promise<void> => {
    const part = `${to}${partSuffix}`
    try {
      await copy(from, part, signal)
      await rename(part, to)
    } catch (error) {
      await removeTree(part)
      throw error
    }
  }

  /** Locks the disk image, which may still be unmounting if the sandbox has just ended. */
  const withUnmounted = async ({ kind, path }: SandboxStorage, signal: AbortSignal): Promise<Thaw> =>
    kind === 'image' ? lockImage(path, { perl: (await tools()).perl, signal }) : async () => {}

  return {
    find,
    copy,
    async list(folder) {
      const names = await readdir(join(folder, 'snapshots')).catch(() => [])
      return [...new Set(names.flatMap((name) => SnapshotId.safeParse(name.replace(/\.ext4$/, '')).data ?? []))]
    },
    async keep({ path, storage }, { id, signal, holdStill }) {
      const snapshotPath = getPath(path, id, storage.kind)
      await mkdir(join(path, 'snapshots'), { recursive: true, mode: 0o700 })
      try {
        const letGo = await (holdStill?.(signal) ?? withUnmounted(storage, signal))
        try {
          await copyWhole(storage, snapshotPath, signal)
        } finally {
          await letGo()
        }
        return await measureStorage({ kind: storage.kind, path: snapshotPath })
      } catch (error) {
        await removeTree(snapshotPath)
        throw toError('The files could not be saved', error, signal)
      }
    },
    async restore({ path, storage }, { id, signal }) {
      const from = await find(path, id)
      if (from.kind !== storage.kind) throw new AppError('snapshot/failed', 'The snapshot has another kind of disk.')
      try {
        const letGo = await withUnmounted(storage, signal)
        try {
          if (from.kind === 'image') await copyWhole(from, storage.path, signal)
          else await replaceFolder(join(path, filesName), (to) => copyWhole(from, to, signal))
        } finally {
          await letGo()
        }
      } catch (error) {
        throw toError('The files could not be restored', error, signal)
      }
    },
    async remove(folder, id) {
      for (const kind of ['image', 'folder'] as const) await removeTree(getPath(folder, id, kind))
    },
  }
}

/** If the process is interrupted between the two renames, `mend` completes the change. */
async function replaceFolder(folder: string, copy: (to: string) => Promise<void>): Promise<void> {
  const next = `${folder}${newSuffix}`
  const old = `${folder}${oldSuffix}`
  for (const earlier of [next, old]) await removeTree(earlier)
  await copy(next)
  await rename(folder, old)
  try {
    await rename(next, folder)
  } catch (error) {
    await rename(old, folder)
    throw error
  }
  void removeTree(old).catch(() => {}) // remaining files are removed by the next repair
}

function toError(action: string, error: unknown, signal: AbortSignal): Error {
  if (error instanceof AppError || signal.aborted) return error instanceof Error ? error : new Error(action)
  // Errors of the system and of programs may contain folder names of this computer, so they are only logged.
  const detail = error instanceof Error && !('code' in error) ? `: ${error.message}` : ''
  return new AppError('snapshot/failed', `${action}${detail}.`, { cause: error })
}
