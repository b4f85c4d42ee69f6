import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { openSync } from 'node:fs'
import { promisify } from 'node:util'
import {
  buildNetworkArguments,
  type NetworkTools,
  tryToConnect,
} from '#host/runtimes/bubblewrap/network/connectNetwork.ts'
import { probeNetwork } from '#host/runtimes/bubblewrap/network/networkSupport.ts'
import { kill } from '#host/runtimes/bubblewrap/processTable.ts'
import { buildPerlScript, formatPerlArgument } from '#host/runtimes/perlScript.ts'
import { getSystemCallNumbers } from '#host/runtimes/systemCallNumbers.ts'
import { networksClosedToSandboxes as closed } from '#platform/net/specialAddresses.ts'
import { until } from '../assertions/eventually.ts'
import { never } from '../fixtures/sandboxSpecs.ts'
import { pastas } from './pastas.ts'

/**
 * Connects the namespaces of a process that enters other namespaces before it is connected. Prints the result for each.
 */
const uid = 12_345
const { tools } = await probeNetwork(closed)
if (!tools) throw new Error('There are no networks here.')

const unshareCall = getSystemCallNumbers()?.unshare
const moves = `$| = 1; print "here\n"; <STDIN>; syscall(${unshareCall}, 0x50000000) == 0 or die $!; print "gone\n"; <STDIN>`
const become = ['--reuid', `${uid}`, '--regid', `${uid}`, '--clear-groups', '--', 'unshare', '--map-root-user', '--net']
const mover = spawn('setpriv', [...become, 'perl', '-e', moves], { stdio: ['pipe', 'pipe', 'inherit'] })
const said = mover.stdout[Symbol.asyncIterator]()

await said.next()
const pinned = readNamespaces(mover.pid ?? 0)
mover.stdin.write('go\n')
await said.next()
const moved = readNamespaces(mover.pid ?? 0)

/** As the supervisor of a sandbox does. */
const connect = async ({ perl, ...others }: NetworkTools) => {
  const values = buildNetworkArguments({ tools: { perl, ...others }, network: 'internet', uid, closed })
  const argument = formatPerlArgument({ ...values, ...pinned, new: false })
  const child = spawn(perl, ['-e', buildPerlScript('network', 'networkMain'), argument], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const [line] = await once(child.stdout, 'data')
  if (String(line) !== 'connected\n') throw new Error(String(line))
  const ended = once(child, 'close')
  return { pid: child.pid ?? 0, ended, end: () => child.stdin.end() }
}
const first = await connect(tools)
const observations = { pinned: await observe(pinned), moved: await observe(moved) }
first.end()
await first.ended
const afterEnd = pastas()

const second = await connect(tools)
kill(second.pid)
await second.ended
await until('pasta to end with its helper', () => pastas() === 0)

const refusals = {
  program: await tryToConnect({
    tools: { ...tools, pasta: '/nowhere/pasta' },
    user: { uid, holder: undefined },
    closed,
    signal: never,
  }),
  tunnel: await withoutRoot(),
}
mover.kill('SIGKILL')
process.stdout.write(JSON.stringify({ ...observations, leftAfter: { end: afterEnd, kill: pastas() }, refusals }))

function readNamespaces(pid: number) {
  return { net: `/proc/${process.pid}/fd/${openSync(`/proc/${pid}/ns/net`, 'r')}` }
}

async function observe({ net }: { net: string }) {
  const inside = async (...command: string[]) =>
    (await promisify(execFile)('nsenter', [`--net=${net}`, '--', ...command])).stdout.trim()
  return {
    rules: await inside('nft', 'list', 'ruleset'),
    cards: await inside('ip', '-brief', 'link'),
    routes: await inside('ip', 'route'),
  }
}

/** Probes as an ordinary user with a device that only root can open. */
async function withoutRoot(): Promise<string> {
  const probe = `const { probeNetwork } = await import('${new URL('../../../src/main/host/runtimes/bubblewrap/network/networkSupport.ts', import.meta.url)}'); console.log((await probeNetwork(${JSON.stringify(closed)})).detail)`
  const ordinary = ['--reuid', `${uid}`, '--regid', `${uid}`, '--clear-groups', '--']
  const command = [...ordinary, process.execPath, '--input-type=module', '-e', probe]
  return (await promisify(execFile)('setpriv', command)).stdout
}
