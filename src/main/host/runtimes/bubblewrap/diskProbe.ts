import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { createDiskTemplates, type DiskTemplates } from './diskTemplates.ts'
import { findExecutable } from './hostTools.ts'
import type { Spawner } from './spawner.ts'
import { hiddenMountPoint, toLaunchRequest } from './startRequest.ts'
import { tryLaunch } from './tryLaunch.ts'

export type DiskSupport =
  | { templates: DiskTemplates; detail: undefined }
  /** Reason for missing support, and the fix command. */
  | { templates: undefined; detail: string; cure: string | null }

/** Any uid except root, to test the id mapping. */
const probeUid = 1_899_999_999

/** Probes support by creating a disk and mounting it as for a sandbox. Never rejects. */
export async function probeDisk(options: {
  spawner: Spawner
  /** Folder of the sandboxes, which determines the file system of their disks. */
  folder: string
}): Promise<DiskSupport> {
  const without = (reason: string, cure: string | null = null): DiskSupport => ({
    templates: undefined,
    detail: `Disk limits of sandboxes are not enforced: ${reason}`,
    cure,
  })
  if (process.getuid?.() !== 0) return without('only root can mount disk images.')
  const mke2fs = await findExecutable('mke2fs')
  if (mke2fs === undefined) {
    return without(
      'mke2fs is missing. On Debian and Ubuntu: apt-get install e2fsprogs',
      'sudo apt-get install e2fsprogs',
    )
  }
  const templates = createDiskTemplates({ folder: join(options.folder, 'templates'), mke2fs })
  const disk = join(options.folder, `probe-${process.pid}.ext4`)
  try {
    const storage = {
      kind: 'image',
      path: disk,
      template: await templates.find({ content: probeTree, diskGb: 1 }),
    } as const
    const command = ['/bin/sh', '-c', `: > ${hiddenMountPoint}/root/file`]
    const launch = { cgroups: [], folder: { image: null, storage }, user: { uid: probeUid, holder: undefined } }
    await tryLaunch(options.spawner, toLaunchRequest({ ...launch, image: undefined, entries: [], command }))
    return { templates, detail: undefined }
  } catch (error) {
    const said = error instanceof Error ? error.message : String(error)
    return without(`${said}. Disk limits require loop devices, ext4 and Linux 5.12.`)
  } finally {
    await rm(disk, { force: true })
  }
}

const probeTree = [{ kind: 'folder', path: '/root', mode: 0o755 }] as const
