import { execFileSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { createBubblewrapRuntime } from '#host/runtimes/bubblewrap/bubblewrapRuntime.ts'
import { silentLog } from '#platform/logging/log.ts'
import { SandboxSpec } from '#shared/contract/hostIpc.ts'
import { SnapshotId } from '#shared/ids.ts'

/** Starts a snapshot that never completes, of a sandbox that writes continuously. The test then kills this process. */
const [folder = '', id = '', snapshot = ''] = process.argv.slice(2)
const signal = new AbortController().signal
const runtime = createBubblewrapRuntime({ folder, log: silentLog, now: Date.now })
const size = { vcpu: 1, memoryMb: 512, diskGb: 1 }
const spec = SandboxSpec.parse({ id, hostname: 'box', runtime: runtime.name, ...size, image: null, network: 'none' })
const instance = await runtime.create(spec, signal)
const writer = 'while :; do echo tick >> /root/ticks; done'
await instance.exec({ command: `echo kept > /root/kept; (${writer}) >/dev/null 2>&1 &`, timeoutMs: 60_000, signal })
const snapshotId = SnapshotId.parse(snapshot)
const snapshots = join(folder, id, 'snapshots')
mkdirSync(snapshots)
// Blocks the copy, because the FIFO has no reader.
execFileSync('mkfifo', [join(snapshots, `${snapshotId}.ext4.part`)])
process.stdout.write(`${spec.id}\n`)
await runtime.snapshot({ sandboxId: spec.id, snapshotId }, signal, instance)
