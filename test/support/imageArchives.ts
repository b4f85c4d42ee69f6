import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { type Header, pack } from 'tar-stream'

export type Member = Partial<Header> & { name: string; content?: string | Buffer }

/** A tar as a test wants it, also one that no honest program would write. */
export function tarOf(members: readonly Member[]): Promise<Buffer> {
  const tar = pack()
  for (const { content, ...header } of members) {
    const sized = { mode: header.type === 'directory' ? 0o755 : 0o644, mtime: new Date(0), ...header }
    if (content === undefined) tar.entry(sized)
    else tar.entry({ size: Buffer.byteLength(content), ...sized }, Buffer.from(content))
  }
  tar.finalize()
  return buffer(Readable.from(tar))
}

/** All that an image must have: it is not run. */
export const bash: Member = { name: 'bin/bash', mode: 0o755, content: '#!/bin/false\n' }

/** A file with the smallest tar that is accepted as an image. */
export async function tinyImage(folder: string): Promise<string> {
  const path = join(folder, 'tiny.tar')
  await writeFile(path, await tarOf([bash]))
  return path
}
