import { execFile } from 'node:child_process'
import { readdir, readFile, readlink, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { SandboxInstance } from '#host/runtimes/sandboxRuntime.ts'
import { silentLog } from '#platform/logging/log.ts'
import { eventually, until } from '../support/assertions/eventually.ts'
import { findUid } from '../support/assertions/sandboxResources.ts'
import { testRuntime } from '../support/fixtures/bubblewrapSandboxes.ts'
import { createSandboxSpec, expectAppError, never, run } from '../support/fixtures/sandboxSpecs.ts'
import { temporaryFolder } from '../support/fixtures/temporaryFolder.ts'

/** Requests a command as Steward would, and prints the reply. */
const caller = String.raw`
  my $path = shift;
  $SIG{PIPE} = 'IGNORE';
  my $socket;
  socket($socket, 1, 1, 0) && connect($socket, pack 'S Z108', 1, $path) or die "refused: $!";
  syswrite $socket, join "\0", 'exec', 3, '/', 'echo in', 'A=b', '';
  print "connected\n";
  print <$socket>;
`

describe('the fork server of a sandbox', () => {
  const folder = join(temporaryFolder('keeper'), 'machines')
  const runtime = testRuntime({ folder, log: silentLog, now: Date.now })
  let instance: SandboxInstance

  beforeAll(async () => {
    instance = await runtime.create(createSandboxSpec({ memoryMb: 4096 }), never)
    await run(instance, 'true')
  })
  afterAll(async () => {
    await instance?.stop()
    if (instance) await runtime.remove(instance.id)
    await eventually(async () => expect(await forkServers()).toEqual([]))
  })

  async function findForkServer(): Promise<number> {
    const [only, another] = await forkServers()
    if (only === undefined || another !== undefined) throw new Error('There is not exactly one fork server.')
    return only
  }

  test('cannot be seen or reached from inside the sandbox', async () => {
    const pid = await findForkServer()
    expect(await run(instance, 'cat /proc/[0-9]*/cmdline | tr "\\0" " "')).not.toContain('fork-server')
    expect(await run(instance, 'cat /proc/net/unix')).not.toContain('keeper')
    expect(await run(instance, 'find / -xdev -type s -not -path "/proc/*" 2>/dev/null; true')).toBe('')
    const attach = `perl -e 'syscall(${process.arch === 'x64' ? 101 : 117}, 16, ${pid}, 0, 0) < 0 and die $! + 0'`
    for (const attempt of [`kill -0 ${pid}`, `ls /proc/${pid}/`, `cat /proc/${pid}/mem`, attach]) {
      const outcome = await instance.exec({ command: attempt, timeoutMs: 60_000, signal: never })
      expect(outcome.exitCode, attempt).not.toBe(0)
    }
  })

  test('survives every signal sent inside the sandbox', async () => {
    const pid = await findForkServer()
    const outcome = await instance.exec({ command: 'kill -STOP -1; kill -KILL -1', timeoutMs: 60_000, signal: never })
    expect(outcome.timedOut).toBe(false)
    expect(await run(instance, 'echo alive')).toBe('alive\n')
    expect(await findForkServer()).toBe(pid)
  })

  test('serves only the process that started it', async () => {
    const path = join(folder, instance.id, 'keeper')
    const file = await stat(path)
    expect(file.mode & 0o777).toBe(0o600)
    expect(file.uid).toBe(process.getuid?.())
    const { stdout } = await promisify(execFile)('perl', ['-e', caller, path], { timeout: 60_000 })
    expect(stdout).toBe('connected\n')
  })

  test('holds no host resource and cannot be inspected', async () => {
    const pid = await findForkServer()
    const numbers = await readdir(`/proc/${pid}/fd`)
    const files = await Promise.all(numbers.map((number) => readlink(`/proc/${pid}/fd/${number}`)))
    expect(
      files.filter((file) => !/^(\/dev\/null|socket:\[\d+\]|(cgroup|ipc|mnt|net|pid|user|uts):\[\d+\])$/.test(file)),
    ).toEqual([])
    expect(await readlink(`/proc/${pid}/cwd`)).toBe('/')
    const status = await readFile(`/proc/${pid}/status`, 'utf8')
    expect(status).toMatch(/NoNewPrivs:\s+1/)
    expect(status).toMatch(/Seccomp:\s+2/)
    expect(status).toMatch(/CapBnd:\s+00000000a00405fb/)
    const uid = (await findUid(folder, instance.id)) ?? process.getuid?.()
    expect(status).toMatch(new RegExp(`Uid:\\s+${uid}\\s+${uid}\\s+${uid}\\s+${uid}\n`))
    // The kernel assigns the files of processes that others may not trace to root.
    expect((await stat(`/proc/${pid}/mem`)).uid).toBe(0)
  })

  test('is replaced when killed, whether idle or serving', async () => {
    const first = await findForkServer()
    const serving = instance.exec({ command: 'mkfifo /tmp/go && cat /tmp/go', timeoutMs: 120_000, signal: never })
    await until(
      'the command to run',
      async () => (await run(instance, 'test -p /tmp/go && echo yes; true')) === 'yes\n',
    )
    process.kill(first, 'SIGKILL')
    expect(await run(instance, 'echo next')).toBe('next\n')
    await run(instance, 'echo served > /tmp/go')
    expect((await serving).stdout.toString()).toBe('served\n')
    const second = await findForkServer()
    expect(second).not.toBe(first)
    process.kill(second, 'SIGKILL')
    await until('its end', async () => !(await forkServers()).includes(second))
    await instance.writeFile('/tmp/after', Buffer.from('kept'), never)
    expect((await instance.readFile('/tmp/after', 10, never)).toString()).toBe('kept')
  })

  test('gives access to files when the sandbox has reached its process limit', async () => {
    const full = 'while ($n < 3000) { $p = fork; last unless defined $p; if (!$p) { sleep 1000; exit } $n++ }'
    const controller = new AbortController()
    const filling = instance.exec({
      command: `perl -e '${full} open F, ">/tmp/full"; close F; sleep 1000'`,
      timeoutMs: 300_000,
      signal: controller.signal,
    })
    await until('the sandbox to be full', () =>
      instance.readFile('/tmp/full', 10, never).then(
        () => true,
        () => false,
      ),
    )
    expect((await instance.readFile('/etc/hostname', 100, never)).toString()).toBe('box\n')
    expect((await instance.listFiles('/tmp', never)).map(({ name }) => name)).toContain('full')
    await expectAppError('port/no-server', instance.connect(7070, never))
    await expectAppError('sandbox/full', instance.exec({ command: 'true', timeoutMs: 60_000, signal: never }))
    controller.abort()
    expect((await filling).exitCode).toBe(124)
    expect(await run(instance, 'echo room')).toBe('room\n')
  })
})

/** Lists the fork servers of supervisors that this process's spawner has started. */
async function forkServers(): Promise<number[]> {
  const { stdout } = await promisify(execFile)('ps', ['-eo', 'pid=,ppid=,args='])
  const rows = stdout.split('\n').flatMap((line) => {
    const [, pid, parent, name] = /^\s*(\d+)\s+(\d+) steward ([\w-]+)\s*$/.exec(line) ?? []
    return name === undefined ? [] : [{ pid: Number(pid), parent: Number(parent), name }]
  })
  const below = (name: string, parents: readonly number[]): number[] =>
    rows.filter((row) => row.name === name && parents.includes(row.parent)).map(({ pid }) => pid)
  return below('fork-server', below('supervisor', below('spawner', [process.pid])))
}
