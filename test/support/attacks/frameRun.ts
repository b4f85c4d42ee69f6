import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { type SandboxLayer, sandboxLayers } from '#host/runtimes/bubblewrap/sandboxLayers.ts'
import { Network } from '#shared/contract/sandboxes.ts'
import { attackStage, compileInside } from './stage.ts'

/**
 * Writes raw frames from a sandbox to bypass its network rules. Runs in the namespaces of
 * `test/support/network/world.sh`. For each list of removed layers, prints the result of `frames.c` as JSON for a
 * public address (`open`) and for addresses that network `internet` blocks. Arguments: folder, the lists as JSON, the
 * network.
 */
export type FrameObservation = {
  without: SandboxLayer[]
  open: Record<string, string>
  closed: Record<string, string>[]
}

const [folder = '', lists = '[]', network] = process.argv.slice(2)
const closed = ['10.77.0.1 80', '169.254.169.254 80', '168.63.129.16 80', '198.51.100.2 5000', '127.0.0.1 4000']
const observations: FrameObservation[] = []
for (const [index, without] of (JSON.parse(lists) as SandboxLayer[][]).entries()) {
  const runFolder = join(folder, `${index}`)
  mkdirSync(runFolder)
  const stage = attackStage(runFolder, { layers: sandboxLayers.filter((layer) => !without.includes(layer)) })
  try {
    const target = await stage.make({ network: Network.parse(network) })
    const program = await compileInside(target, 'frames', 'program')
    const tried: string[] = []
    for (const to of ['203.0.113.7 80', ...closed]) tried.push(await target.said(`${program} ${to}`))
    const [open = {}, ...others] = tried.map((said) => Object.fromEntries(said.split('\n').map((it) => it.split('\t'))))
    observations.push({ without, open, closed: others })
  } finally {
    await stage.close()
  }
}
process.stdout.write(JSON.stringify(observations))
