import { createHash, randomBytes } from 'node:crypto'
import { startHost } from '#host/compose.ts'
import { createBubblewrapRuntime } from '#host/runtimes/bubblewrap/bubblewrapRuntime.ts'
import { connectIpc } from '#platform/ipc/ipcClient.ts'
import { silentLog } from '#platform/logging/log.ts'
import { AppError } from '#shared/appError.ts'
import { SandboxSpec } from '#shared/contract/hostIpc.ts'
import { until } from '../assertions/eventually.ts'

/**
 * Types into programs that do not read input, in raw mode (in canonical mode the kernel drops the excess), while using
 * another sandbox. Runs in a separate process, so that a hung host ends with it. Prints the results as JSON.
 */
const [dataDir = ''] = process.argv.slice(2)
const runtime = createBubblewrapRuntime({ folder: `${dataDir}/machines`, log: silentLog, now: Date.now })
const host = await startHost({
  dataDir,
  runtimes: [runtime],
  version: '0',
  pid: process.pid,
  now: Date.now,
  log: silentLog,
})
const { call, close } = await connectIpc({ path: host.socketPath, onEvent: () => {} })
const size = { vcpu: 1, memoryMb: 512, diskGb: 1 }

const createSandbox = async (): Promise<string> => {
  const id = randomBytes(16).toString('hex')
  const spec = { id, hostname: 'box', runtime: runtime.name, ...size, image: null, network: 'none' }
  await call('machine.create', SandboxSpec.parse(spec))
  return id
}
const openTerminal = async (sandboxId: string, command: string) => {
  const terminalId = `pty_${randomBytes(12).toString('hex')}`
  await call('terminal.create', { sandboxId, terminalId, command, cols: 80, rows: 24 })
  const screen = async () => (await call('terminal.read', { sandboxId, terminalId, full: true, format: 'text' })).body
  const write = (input: string) =>
    call('terminal.write', { sandboxId, terminalId }, { body: Buffer.from(input) }).then(
      () => 'written',
      (error: unknown) => (error instanceof AppError ? error.code : String(error)),
    )
  const showing = (text: string) => until(text, async () => (await screen()).includes(text))
  return { screen, write, showing }
}
const exec = async (sandboxId: string, command: string): Promise<string> =>
  (await call('machine.exec', { sandboxId, command, timeoutMs: 60_000 })).body.toString()

const [evil, victim] = [await createSandbox(), await createSandbox()]
const observations: Record<string, unknown> = { user: process.getuid?.() }

const unread = await openTerminal(evil, 'stty raw -echo; printf ready; sleep 1000')
await unread.showing('ready')
const writes: string[] = []
for (const bytes of [3_000, 2_000, 60_000, 900_000, 1_048_576]) writes.push(await unread.write('x'.repeat(bytes)))
observations.writes = writes
observations.besideInput = await exec(victim, 'echo fine')

const queries = `i=0; while [ $i -lt 3000 ]; do printf '\\033[c\\033[6n'; i=$((i+1)); done`
const asking = await openTerminal(evil, `stty raw -echo; ${queries}; printf 'asked all'; sleep 1000`)
await asking.showing('asked all')
observations.besideQueries = await exec(victim, 'echo fine')

const input = randomBytes(512 * 1024).toString('hex')
const late = `stty raw -echo; printf ready; while [ ! -e /read ]; do sleep 0.02; done; head -c ${input.length} | sha256sum`
const reading = await openTerminal(victim, late)
await reading.showing('ready')
observations.late = await reading.write(input)
await exec(victim, 'touch /read')
await reading.showing(' -')
observations.isWhole = (await reading.screen()).includes(createHash('sha256').update(input).digest('hex'))

await call('machine.delete', { sandboxId: evil })
await call('machine.delete', { sandboxId: victim })
observations.stored = await runtime.listStored()
close()
await host.close()
process.stdout.write(JSON.stringify(observations))
