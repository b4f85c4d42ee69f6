/**
 * Measures command-line peers in a separate process: `node byHand.ts PEER COUNT FOLDER`. libuv forks to spawn, and a
 * fork is more expensive in a larger process, so the benchmark itself must not spawn a peer. Prints one line of JSON:
 * `PeerFigures`.
 */
import { readFileSync } from 'node:fs'
import { measureEach, type Samples } from '../figures.ts'
import { createManualSandbox } from './bubblewrapByHand.ts'
import { openTmuxScreen } from './tmuxScreen.ts'
import { createTypedLine } from './typedLine.ts'

export type Peer = keyof typeof peers
/** `maxMegabytes`: peak resident set of the process that spawned the peer. */
export type PeerFigures = { samples: Samples; maxMegabytes: number }

const peers = { create: createToFirstExec, burst, exec: execTrue, tmux: writeToScreen }

const [peer = '', count = '', folder = ''] = process.argv.slice(2)
if (!isPeer(peer)) throw new Error(`Unknown peer ${peer}. Use one of ${Object.keys(peers).join(', ')}.`)
const samples = await peers[peer](Number(count), folder)
const figures: PeerFigures = { samples, maxMegabytes: readPeakMegabytes() }
process.stdout.write(`${JSON.stringify(figures)}\n`)

/**
 * Reads the peak memory of this program. `resourceUsage().maxRSS` also includes the process that spawned it, before
 * exec.
 */
function readPeakMegabytes(): number {
  const [, kilobytes] = /^VmHWM:\s+(\d+) kB/m.exec(readFileSync('/proc/self/status', 'utf8')) ?? []
  return Number(kilobytes) / 1024
}

function isPeer(name: string): name is Peer {
  return Object.hasOwn(peers, name)
}

async function createToFirstExec(count: number): Promise<Samples> {
  const sandboxes: { close(): Promise<void> }[] = []
  const samples = await measureEach(count, async () => {
    const sandbox = await createManualSandbox()
    sandboxes.push(sandbox)
    await sandbox.exec('true')
  })
  for (const sandbox of sandboxes) await sandbox.close()
  return samples
}

/**
 * Starts `count` sandboxes concurrently.
 * @returns one sample: the time in ms until the last one has executed its first command
 */
async function burst(count: number): Promise<Samples> {
  const start = performance.now()
  const sandboxes = await Promise.all(
    Array.from({ length: count }, async () => {
      const sandbox = await createManualSandbox()
      await sandbox.exec('true')
      return sandbox
    }),
  )
  const lastMs = performance.now() - start
  for (const sandbox of sandboxes) await sandbox.close()
  return [lastMs]
}

async function execTrue(count: number): Promise<Samples> {
  const sandbox = await createManualSandbox()
  const samples = await measureEach(count, () => sandbox.exec('true'))
  await sandbox.close()
  return samples
}

async function writeToScreen(count: number, folder: string): Promise<Samples> {
  const screen = await openTmuxScreen(folder)
  const samples = await measureEach(count, async (index) => {
    const { line, answer } = createTypedLine(index)
    await screen.type(line)
    while (!(await screen.read()).includes(answer));
  })
  await screen.close()
  return samples
}
