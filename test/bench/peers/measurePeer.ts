import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { Samples } from '../figures.ts'
import type { Peer, PeerFigures } from './byHand.ts'

const run = promisify(execFile)
const program = fileURLToPath(new URL('./byHand.ts', import.meta.url))
/** Maximum size of the spawning process in MB. Forks of a larger process distort the result. */
export const maxSpawnerMegabytes = 130

/** Runs a peer from a small separate process. Rejects if that process grows beyond `maxSpawnerMegabytes`. */
export async function measurePeer(peer: Peer, count: number, folder = ''): Promise<Samples> {
  const { stdout } = await run(process.execPath, [program, peer, String(count), folder], { maxBuffer: 16e6 })
  const { samples, maxMegabytes } = JSON.parse(stdout) as PeerFigures // printed by byHand.ts
  if (maxMegabytes > maxSpawnerMegabytes)
    throw new Error(
      `The process of the peer ${peer} took ${maxMegabytes.toFixed(0)} MB, so that its figures are false.`,
    )
  return samples
}
