import { createBubblewrapRuntime } from '#host/runtimes/bubblewrap/bubblewrapRuntime.ts'
import { silentLog } from '#platform/logging/log.ts'
import { SandboxSpec } from '#shared/contract/hostIpc.ts'
import { SnapshotId } from '#shared/ids.ts'

/** Creates, uses and removes a sandbox as the current user, and prints the observations as JSON. */
const [folder = '', id = ''] = process.argv.slice(2)
const signal = new AbortController().signal
const runtime = createBubblewrapRuntime({ folder, log: silentLog, now: Date.now })
const report = await runtime.describe()
const size = { vcpu: 1, memoryMb: 512, diskGb: 1 }
const spec = SandboxSpec.parse({ id, hostname: 'box', runtime: runtime.name, ...size, image: null, network: 'none' })
const instance = await runtime.create(spec, signal)
const exec = async (command: string) => {
  const outcome = await instance.exec({ command, timeoutMs: 120_000, signal })
  return { code: outcome.exitCode, out: outcome.stdout.toString(), err: outcome.stderr.toString() }
}

const user = await exec('id -u; touch /etc/mine /usr/local/mine; cat /proc/self/uid_map')
const attempt = await exec('echo evil > /proc/sys/kernel/core_pattern')
const spawn = 'while ($n < 3000) { $p = fork; last unless defined $p; if (!$p) { sleep 99; exit } push @p, $p; $n++ }'
const processes = Number((await exec(`perl -e '${spawn} kill 9, @p; waitpid $_, 0 for @p; print $n'`)).out)
await instance.writeFile('/srv/folder/file', Buffer.from('content'), signal)
const file = (await instance.readFile('/srv/folder/file', 100, signal)).toString()
await exec('mkdir -p /root/closed/inner; chmod -R 0 /root/closed')

const usage = await instance.usage()

const terminal = await instance.openTerminal({ command: 'tty; stty size; exit 4', cols: 100, rows: 30 })
let screen = ''
terminal.onOutput((bytes) => {
  screen += bytes.toString()
})
const ended = await terminal.ended
const snapshot = { sandboxId: spec.id, snapshotId: SnapshotId.parse(`snap_${'0'.repeat(24)}`) }
await exec('echo closed > /root/closed/inner/file; chmod 0 /root/closed/inner/file; mkfifo /root/fifo')
await exec('(while :; do echo >> /root/ticks; sleep 0.01; done) >/dev/null 2>&1 &')
const snapshotBytes = await runtime.snapshot(snapshot, signal, instance)
const ticks = async () => Number((await exec('wc -l < /root/ticks')).out)
const before = await ticks()
while ((await ticks()) === before);
await instance.stop()
const again = await runtime.start(spec, signal)
const content = (await again.readFile('/srv/folder/file', 100, signal)).toString()
await again.writeFile('/srv/folder/file', Buffer.from('changed'), signal)
await again.stop()
await runtime.restore(snapshot, signal)
const forkId = SandboxSpec.shape.id.parse([...spec.id].toReversed().join(''))
const copies = [
  await runtime.start(spec, signal),
  await runtime.create({ ...spec, id: forkId, hostname: 'fork' }, signal, snapshot),
]
const restored: string[] = []
for (const copy of copies) {
  const command = 'cat /srv/folder/file /root/closed/inner/file /etc/hostname; stat -c %F /root/fifo'
  restored.push((await copy.exec({ command, timeoutMs: 120_000, signal })).stdout.toString())
  await copy.stop()
  await runtime.remove(copy.id)
}

const observations = {
  user: process.getuid?.(),
  report,
  enforced: instance.enforced,
  who: user,
  attempt,
  processes,
  usage,
  file,
  screen,
  ended,
  kept: content,
  snapshotBytes,
  restored,
}
process.stdout.write(JSON.stringify({ ...observations, stored: await runtime.listStored() }))
