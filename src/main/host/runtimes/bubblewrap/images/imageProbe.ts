import { randomBytes } from 'node:crypto'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ImageName } from '#shared/contract/images.ts'
import { imageContent } from '../baseFiles.ts'
import type { DiskTemplates } from '../diskTemplates.ts'
import { makeTree, type SandboxStorage } from '../sandboxFolder.ts'
import type { Spawner } from '../spawner.ts'
import { hiddenMountPoint, toLaunchRequest } from '../startRequest.ts'
import { tryLaunch } from '../tryLaunch.ts'
import { findIdRange, type IdRange } from './idRange.ts'
import { removeInRange } from './inRange.ts'

export type ImageSupport = { range: IdRange; detail: undefined } | { range: undefined; detail: string }

/** Not used by any sandbox. */
const probeUid = 1_899_900_000
const probeName = ImageName.parse('probe')

/**
 * Probes support for sandboxes with images by mounting an overlay as a sandbox does. Never rejects.
 * @param options.folder folder of the images and sandboxes
 */
export async function probeImages(options: {
  spawner: Spawner
  folder: string
  templates: DiskTemplates | undefined
}): Promise<ImageSupport> {
  const { folder, templates } = options
  const range = await findIdRange()
  if (typeof range === 'string') return { range: undefined, detail: `Images are not supported: ${range}` }
  const probeFolder = join(folder, `probe-image-${process.pid}-${randomBytes(4).toString('hex')}`)
  const uid = process.getuid?.() === 0 ? probeUid : undefined
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 })
    await mkdir(probeFolder, { mode: 0o755 })
    const root = join(probeFolder, 'image')
    await mkdir(root, { mode: 0o755 })
    await writeFile(join(root, 'file'), 'of the image')
    const storage = await createStorage(probeFolder, uid, templates)
    const rootPath = `${hiddenMountPoint}/root`
    const command = [
      '/bin/sh',
      '-c',
      `echo changed > ${rootPath}/file && chown 1000:1000 ${rootPath}/file && mkdir ${rootPath}/folder`,
    ]
    const launch = { cgroups: [], folder: { image: probeName, storage }, image: { root, range }, entries: [], command }
    const user = uid === undefined ? undefined : { uid, holder: undefined }
    await tryLaunch(options.spawner, toLaunchRequest({ ...launch, user }))
    return { range, detail: undefined }
  } catch (error) {
    const said = error instanceof Error ? error.message : String(error)
    const detail = `Images are not supported: ${said}. They require Linux 5.19 and a file system such as ext4, XFS or Btrfs.`
    return { range: undefined, detail }
  } finally {
    await removeInRange(probeFolder).catch(() => {}) // otherwise removed with the folder
  }
}

async function createStorage(
  folder: string,
  uid: number | undefined,
  templates: DiskTemplates | undefined,
): Promise<SandboxStorage> {
  const template = await templates?.find({ content: imageContent, diskGb: 1 })
  if (template !== undefined) return { kind: 'image', path: join(folder, 'disk.ext4'), template }
  const path = join(folder, 'files')
  makeTree(path, uid === undefined ? undefined : { uid, gid: uid }, imageContent)
  return { kind: 'folder', path }
}
