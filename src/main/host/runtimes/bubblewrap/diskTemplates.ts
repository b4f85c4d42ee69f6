import { execFile } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { mkdir, rename, rm, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { pathExists } from '#platform/files/pathExists.ts'
import type { BaseEntry } from './baseFiles.ts'
import { makeTree, removeTree } from './sandboxFolder.ts'

/** File systems from which the disks of new sandboxes are copied. Each host process creates its own. */
export type DiskTemplates = {
  /** @returns the path of the template, which is created on first use */
  find(options: { content: readonly BaseEntry[]; diskGb: number }): Promise<string>
}

const makeMs = 60_000
const gigabyte = 1024 ** 3
const bytesPerInode = 8192
const inodeBytes = 256
const journalMegabytes = 4
/** Reserve for group descriptors, bitmaps and the content. The kernel reserves another 16 MB. */
const otherBytes = 28 * 1024 ** 2

/**
 * Computes the image size such that the sandbox can use all of its gigabytes: tables and journal are added on top. The
 * file is sparse and occupies only the written blocks. The journal is small because it protects against power failures
 * and does not serve performance.
 */
const computeImageBytes = (diskGb: number): number => {
  const usable = diskGb * gigabyte
  const tables = Math.ceil(usable / (bytesPerInode - inodeBytes)) * inodeBytes
  const whole = usable + tables + journalMegabytes * 1024 ** 2 + otherBytes + diskGb * 1024 ** 2
  return Math.ceil(whole / 4096) * 4096
}

const formatting = [
  ...['-q', '-F', '-t', 'ext4', '-b', '4096', '-m', '0', '-i', String(bytesPerInode), '-I', String(inodeBytes)],
  ...['-J', `size=${journalMegabytes}`, '-O', '^resize_inode'],
  ...['-E', 'lazy_itable_init=1,lazy_journal_init=1,nodiscard,root_owner=0:0'],
]

export function createDiskTemplates({ folder, mke2fs }: { folder: string; mke2fs: string }): DiskTemplates {
  const making = new Map<string, Promise<void>>()
  const digests = new WeakMap<readonly BaseEntry[], string>()

  const make = async (path: string, content: readonly BaseEntry[], diskGb: number): Promise<void> => {
    const part = `${path}.${randomBytes(6).toString('hex')}.part`
    const tree = `${part}.tree`
    await mkdir(folder, { recursive: true, mode: 0o700 })
    try {
      makeTree(tree, undefined, content)
      await writeFile(part, '', { flag: 'wx', mode: 0o600 })
      await truncate(part, computeImageBytes(diskGb))
      await promisify(execFile)(mke2fs, [...formatting, '-d', tree, part], { timeout: makeMs, cwd: '/' })
      await rename(part, path)
    } finally {
      await rm(part, { force: true })
      await removeTree(tree)
    }
  }

  return {
    async find({ content, diskGb }) {
      const digest = digests.get(content) ?? hashContent(content)
      digests.set(content, digest)
      const path = join(folder, `${digest}-${diskGb}.ext4`)
      if (await pathExists(path)) return path
      const template = making.get(path) ?? make(path, content, diskGb)
      making.set(path, template)
      try {
        await template
      } finally {
        making.delete(path)
      }
      return path
    },
  }
}

function hashContent(content: readonly BaseEntry[]): string {
  const hash = createHash('sha256').update(JSON.stringify(formatting))
  for (const entry of content) {
    const { content: bytes = '', ...rest } = { content: undefined, ...entry }
    hash
      .update(`${JSON.stringify(rest)}\n`)
      .update(bytes)
      .update('\n')
  }
  return hash.digest('hex').slice(0, 16)
}
