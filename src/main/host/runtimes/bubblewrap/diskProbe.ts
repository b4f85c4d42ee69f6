import { execFile } from 'node:child_process'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { type DiskTemplates, diskTemplates } from './diskTemplates.ts'
import { findExecutable } from './hostTools.ts'
import { startArguments, startScript } from './startScript.ts'

/** Whether machines can have disks of their own size here. */
export type DiskAbility =
  | { templates: DiskTemplates; detail: undefined }
  /** Why not, and a command that changes it. */
  | { templates: undefined; detail: string; cure: string | null }

const probeMs = 20_000
/** Any but root: it tries the mapping of ids. */
const probeUid = 1_899_999_999

/** Finds out by making a disk and mounting it like that of a machine. Never rejects. */
export async function probeDisk(options: {
  perl: string
  /** Of the machines: their disks will be on the same file system. */
  folder: string
  doorway: string
}): Promise<DiskAbility> {
  const without = (reason: string, cure: string | null = null): DiskAbility => ({
    templates: undefined,
    detail: `The disk size of sandboxes does not hold here: ${reason}`,
    cure,
  })
  if (process.getuid?.() !== 0) return without('only root may mount disk images.')
  const mke2fs = await findExecutable('mke2fs')
  if (mke2fs === undefined) {
    return without(
      'mke2fs is missing. On Debian and Ubuntu: apt-get install e2fsprogs',
      'sudo apt-get install e2fsprogs',
    )
  }
  const templates = diskTemplates({ folder: join(options.folder, 'templates'), mke2fs })
  const disk = join(options.folder, `probe-${process.pid}.ext4`)
  try {
    const storage = {
      kind: 'image',
      path: disk,
      template: await templates.find({ content: probeTree, diskGb: 1 }),
    } as const
    const start = startArguments({ cgroups: 0, uid: probeUid, ids: 1, storage, doorway: options.doorway, entries: [] })
    const use = ['/bin/sh', '-c', `: > ${options.doorway}/root/file`]
    await promisify(execFile)(options.perl, ['-e', startScript, ...start, ...use], { timeout: probeMs, cwd: '/' })
    return { templates, detail: undefined }
  } catch (failure) {
    const said = failure instanceof Error && 'stderr' in failure ? String(failure.stderr).trim() : String(failure)
    return without(`${said || 'a disk image could not be mounted'}. It needs loop devices, ext4 and Linux 5.12.`)
  } finally {
    await rm(disk, { force: true })
  }
}

const probeTree = [{ kind: 'folder', path: '/root', mode: 0o755 }] as const
