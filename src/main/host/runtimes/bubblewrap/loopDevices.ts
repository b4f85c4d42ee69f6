import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'

/** Loop devices of files below this folder. */
export async function loopDevices(folder: string): Promise<string[]> {
  const names = (await readdir('/sys/block').catch(() => [])).filter((name) => name.startsWith('loop'))
  const files = await Promise.all(
    names.map((name) => readFile(join('/sys/block', name, 'loop/backing_file'), 'utf8').catch(() => '')),
  )
  return names.filter((_, index) => files[index]?.startsWith(`${folder}/`)).map((name) => `/dev/${name}`)
}
