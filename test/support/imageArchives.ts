import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { type Header, pack } from 'tar-stream'

export type Member = Partial<Header> & { name: string; content?: string | Buffer }

/** Creates a tar, including hostile ones that regular tools would not write. */
export function createTar(members: readonly Member[]): Promise<Buffer> {
  const tar = pack()
  for (const { content, ...header } of members) {
    const sized = { mode: header.type === 'directory' ? 0o755 : 0o644, mtime: new Date(0), ...header }
    if (content === undefined) tar.entry(sized)
    else tar.entry({ size: Buffer.byteLength(content), ...sized }, Buffer.from(content))
  }
  tar.finalize()
  return buffer(Readable.from(tar))
}

const sandboxes: Partial<Record<NodeJS.Architecture, number>> = { x64: 62, arm64: 183 }

/** Creates an ELF header with the fields that are checked before the program runs. See elf(5). */
export function programHead(options: { architecture?: NodeJS.Architecture; interpreter?: string } = {}): Buffer {
  const { architecture = process.arch, interpreter } = options
  const header = Buffer.alloc(64)
  header.write('\x7fELF\x02\x01\x01', 'latin1')
  header.writeUInt16LE(2, 16)
  header.writeUInt16LE(sandboxes[architecture] ?? 0, 18)
  header.writeBigUInt64LE(64n, 32)
  header.writeUInt16LE(56, 54)
  if (interpreter === undefined) return header
  header.writeUInt16LE(1, 56)
  const part = Buffer.alloc(56)
  part.writeUInt32LE(3, 0)
  part.writeBigUInt64LE(120n, 8)
  part.writeBigUInt64LE(BigInt(interpreter.length + 1), 32)
  return Buffer.concat([header, part, Buffer.from(`${interpreter}\0`)])
}

/** Minimum content of a valid image. The program is never run. */
export const bash: Member = { name: 'bin/bash', mode: 0o755, content: programHead() }

/** Writes the smallest tar that is accepted as an image. */
export async function tinyImage(folder: string): Promise<string> {
  const path = join(folder, 'tiny.tar')
  await writeFile(path, await createTar([bash]))
  return path
}
