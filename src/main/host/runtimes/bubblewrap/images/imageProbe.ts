import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { imageContent } from '../baseFiles.ts'
import type { DiskTemplates } from '../diskTemplates.ts'
import { type MachineStorage, makeTree } from '../machineFolder.ts'
import { startArguments, startScript } from '../startScript.ts'
import { findIdRange, type IdRange, idsOfImage } from './idRange.ts'
import { removeInRange } from './inRange.ts'

export type ImageAbility = { range: IdRange; detail: undefined } | { range: undefined; detail: string }

const probeMs = 20_000
/** Any that no machine has. */
const probeUid = 1_899_900_000

/**
 * Finds out whether machines can be made of images, by laying one folder over another like a machine does. Never rejects.
 * @param options.folder where images and machines are
 */
export async function probeImages(options: {
  perl: string
  folder: string
  doorway: string
  templates: DiskTemplates | undefined
}): Promise<ImageAbility> {
  const { folder, doorway, templates } = options
  const range = await findIdRange()
  if (typeof range === 'string') return { range: undefined, detail: range }
  const place = join(folder, `probe-image-${process.pid}-${randomBytes(4).toString('hex')}`)
  const uid = process.getuid?.() === 0 ? probeUid : undefined
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 })
    await mkdir(place, { mode: 0o755 })
    const root = join(place, 'image')
    await mkdir(root, { mode: 0o755 })
    await writeFile(join(root, 'file'), 'of the image')
    const storage = await storageIn(place, uid, templates)
    const how = { cgroups: 0, uid, ids: idsOfImage, storage, doorway, image: { root, range }, entries: [] }
    const at = `${doorway}/root`
    const use = ['/bin/sh', '-c', `echo changed > ${at}/file && chown 1000:1000 ${at}/file && mkdir ${at}/folder`]
    const limits = { timeout: probeMs, cwd: '/', env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin' } }
    await promisify(execFile)(options.perl, ['-e', startScript, ...startArguments(how), ...use], limits)
    return { range, detail: undefined }
  } catch (failure) {
    const said = failure instanceof Error && 'stderr' in failure ? String(failure.stderr).trim() : String(failure)
    const detail = `Images cannot be used here: ${said || 'overlays do not work'}. They need Linux 5.19 and a file system such as ext4, XFS or Btrfs.`
    return { range: undefined, detail }
  } finally {
    await removeInRange(place).catch(() => {}) // swept with the folder
  }
}

async function storageIn(
  place: string,
  uid: number | undefined,
  templates: DiskTemplates | undefined,
): Promise<MachineStorage> {
  const template = await templates?.find({ content: imageContent, diskGb: 1 })
  if (template !== undefined) return { kind: 'image', path: join(place, 'disk.ext4'), template }
  const path = join(place, 'files')
  makeTree(path, uid, imageContent)
  return { kind: 'folder', path }
}
