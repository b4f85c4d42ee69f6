import { createBubblewrapRuntime } from '#host/runtimes/bubblewrap/bubblewrapRuntime.ts'
import { silentLog } from '#platform/logging/log.ts'
import { SandboxSpec } from '#shared/contract/hostIpc.ts'

/** Starts a sandbox and keeps it busy until the test kills this process. Prints the sandbox id when ready. */
const [folder = '', id = ''] = process.argv.slice(2)
const signal = new AbortController().signal
const runtime = createBubblewrapRuntime({ folder, log: silentLog, now: Date.now })
const size = { vcpu: 1, memoryMb: 512, diskGb: 1 }
const spec = SandboxSpec.parse({ id, hostname: 'box', runtime: runtime.name, ...size, image: null, network: 'none' })
const instance = await runtime.create(spec, signal)
await instance.exec({ command: 'echo kept > /root/kept; setsid sleep 1000 &', timeoutMs: 60_000, signal })
const terminal = await instance.openTerminal({ command: 'trap "" HUP; sleep 1000', cols: 80, rows: 24 })
terminal.onOutput(() => {})
void instance.exec({ command: 'sleep 1000', timeoutMs: 600_000, signal })
process.stdout.write(`${spec.id}\n`)
