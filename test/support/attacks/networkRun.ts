import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { reach, refused } from '../network/reach.ts'
import { attackStage, preload, type StageOptions } from './stage.ts'

/**
 * S1: a sandbox with network `internet` leaves the network that has rules while it is connected. Runs in the namespaces
 * of `test/support/network/world.sh`. Prints as JSON what the sandbox reached before and after each start, attempted at
 * different moments, and the state of a host file to which the sandbox's /etc/resolv.conf links. Arguments: folder,
 * options of the stage as JSON.
 */
const [folder = '', optionsJson = '{}'] = process.argv.slice(2)
const options = JSON.parse(optionsJson) as StageOptions // passed by escapeLayers.test.ts
/** Each delay costs a start. With a layer removed, the first few are enough. */
const delaysMs = [8, 12, 16, 20, 6, 24, 10, 30, 14, 18].slice(0, options.layers === undefined ? 10 : 3)
/** A connection fails immediately without a rule. With a rule, it times out, once per start. */
const waitSeconds = options.layers === undefined ? 3 : 1
/** A private address, the cloud metadata address, and listeners on this computer. */
const forbidden = ['10.77.0.1:80', '169.254.169.254:80', '198.51.100.2:5000', '10.0.2.2:4000', '10.0.2.2:5000']

const stage = attackStage(folder, options)
try {
  const target = await stage.make({ network: 'internet' })
  const listReachable = async (): Promise<string[]> => {
    const said = await Promise.all(
      forbidden.map(async (address) => [address, await target.said(reach(address, waitSeconds))]),
    )
    return said.filter(([, answer]) => answer !== refused).map(([address, answer]) => `${address} answered ${answer}`)
  }
  const isPublicReached = async (): Promise<boolean> =>
    (await target.said(reach('203.0.113.7:80', waitSeconds))) !== refused
  const before = { reached: await listReachable(), isPublicReached: await isPublicReached() }
  await preload(target, 'network')
  const after: { delayMs: number; refused: string | null; reached: string[]; moved: string }[] = []
  for (const delayMs of delaysMs) {
    await target.said(`touch /root/once; rm -f /root/moved; echo ${delayMs} > /root/delay`)
    const failed = await target.restart()
    if (failed !== null) {
      after.push({ delayMs, refused: failed, reached: [], moved: '' })
      await target.restart() // no attack without `once`
      continue
    }
    const reachable = await listReachable()
    const moved = await target.said('cat /root/moved 2>/dev/null; true')
    after.push({ delayMs, refused: null, reached: reachable, moved })
    if (reachable.length > 0) break
  }
  const links = options.layers === undefined ? await linkResolvConf() : []
  process.stdout.write(JSON.stringify({ before, after, isPublicReached: await isPublicReached(), links }))
} finally {
  await stage.close()
}

/**
 * Links /etc/resolv.conf to a host file. Name servers are written into the sandbox after it is connected, and the write
 * must not follow the link on the host.
 */
async function linkResolvConf(): Promise<{ link: string; refused: string | null; host: string }[]> {
  const file = join(folder, 'of-the-host')
  const target = await stage.make({ network: 'internet' })
  const observations: { link: string; refused: string | null; host: string }[] = []
  for (const link of [file, `/proc/1/root${file}`, `/proc/self/root/../../../..${file}`, '/dev/pts/ptmx', '/root']) {
    writeFileSync(file, 'of the host', { mode: 0o666 })
    await target.said(`rm -rf /etc/resolv.conf; ln -s ${link} /etc/resolv.conf`)
    const failed = await target.restart()
    observations.push({ link, refused: failed, host: readFileSync(file, 'utf8') })
  }
  return observations
}
