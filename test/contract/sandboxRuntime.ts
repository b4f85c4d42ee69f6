import { createHash, randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type {
  SandboxInstance,
  SandboxRuntime,
  SandboxTerminal,
  TerminalRequest,
} from '#host/runtimes/sandboxRuntime.ts'
import { execStreamBytes } from '#host/runtimes/sandboxRuntime.ts'
import type { SandboxSpec } from '#shared/contract/hostIpc.ts'
import type { ImageName } from '#shared/contract/images.ts'
import { until } from '../support/assertions/eventually.ts'
import { createSandboxSpec, expectAppError, never, run } from '../support/fixtures/sandboxSpecs.ts'
import { snapshotsContract } from './sandboxSnapshots.ts'

export type RuntimeUnderTest = {
  runtime: SandboxRuntime
  /** Image of the sandboxes, or null for the runtime's base. */
  image: ImageName | null
  /** Whether sandboxes use the programs of this computer, which they cannot modify. */
  sharesPrograms: boolean
  /** Whether snapshots store sparse files in full. */
  fillsHoles?: boolean
  close(): Promise<void>
}

/**
 * Contract of all sandbox runtimes. The base must include bash, coreutils, procps and perl.
 * @param parts titles of the parts to run. Defaults to all
 */
export function sandboxRuntimeContract(
  name: string,
  makeRuntime: () => Promise<RuntimeUnderTest>,
  parts?: readonly string[],
): void {
  const part = (title: string, define: () => void): void => {
    if (parts === undefined || parts.includes(title)) describe(title, define)
  }
  describe(`the ${name} runtime`, () => {
    let under: RuntimeUnderTest
    let runtime: SandboxRuntime
    let instance: SandboxInstance
    const createSpec = (changes: Partial<SandboxSpec> = {}) =>
      createSandboxSpec({ runtime: runtime.name, image: under.image, ...changes })

    beforeAll(async () => {
      under = await makeRuntime()
      runtime = under.runtime
      const report = await runtime.describe()
      expect(report.available, report.detail).toBe(true)
      instance = await runtime.create(createSpec({ hostname: 'contract' }), never)
    })
    afterAll(async () => {
      await instance?.stop()
      if (instance) await runtime.remove(instance.id)
      await under?.close()
    })

    part('machines', () => {
      test('are described in one sentence', async () => {
        const report = await runtime.describe()
        expect(report.name).toBe(runtime.name)
        expect(report.detail).not.toBe('')
      })

      test('have a separate host name and process list', async () => {
        expect(await run(instance, 'hostname')).toBe('contract\n')
        const processes = (await run(instance, 'ps -eo pid=,comm=')).trim().split('\n')
        expect(processes.length).toBeLessThan(8)
        expect(processes.some((line) => /\b1\b/.test(line))).toBe(true)
      })

      test('keep only their files across a restart', async () => {
        const spec = createSpec()
        const first = await runtime.create(spec, never)
        await run(first, 'echo kept > /root/kept; echo own > /etc/own; sleep 1000 >/dev/null 2>&1 &')
        await first.stop()
        expect(await first.ended).not.toBe('')
        expect(await runtime.listStored()).toContain(spec.id)
        const second = await runtime.start(spec, never)
        expect(await run(second, 'cat /root/kept /etc/own')).toBe('kept\nown\n')
        expect(await sleeping(second)).toBe(0)
        await second.stop()
        await runtime.remove(spec.id)
        expect(await runtime.listStored()).not.toContain(spec.id)
      })

      test('can write to system folders, and to programs unless these are shared', async () => {
        const folders = '/etc /usr/local /opt /var /srv /home /root /tmp /run'
        expect(await run(instance, `for place in ${folders}; do touch $place/probe || echo $place; done`)).toBe('')
        const refused = await instance.exec({ command: 'touch /usr/probe', timeoutMs: 60_000, signal: never })
        expect(refused.exitCode).toBe(under.sharesPrograms ? 1 : 0)
      })

      test('do not start without files', async () => {
        await expectAppError('sandbox/not-found', runtime.start(createSpec(), never))
      })

      test('leave nothing behind when creation is aborted', async () => {
        const spec = createSpec()
        await expect(runtime.create(spec, AbortSignal.abort())).rejects.toThrow()
        expect(await runtime.listStored()).not.toContain(spec.id)
      })

      test('are removed without an error when missing', async () => {
        await runtime.remove(createSpec().id)
      })

      test('stop once with all their processes and refuse further work', async () => {
        const spec = createSpec()
        const ending = await runtime.create(spec, never)
        const terminal = await openTerminal(ending, { command: 'sleep 1000' })
        const pending = ending.exec({ command: 'echo begun; sleep 1000', timeoutMs: 600_000, signal: never })
        const answer = pending.catch(() => undefined)
        await until('it to run', async () => (await sleeping(ending)) === 2)
        await Promise.all([ending.stop(), ending.stop()])
        expect((await terminal.ended).exitCode ?? 137).toBeGreaterThan(128)
        expect(await answer).toMatchObject({ exitCode: 137 })
        expect((await pending).stdout.toString()).toBe('begun\n')
        await expectAppError('sandbox/not-running', ending.exec({ command: 'true', timeoutMs: 1000, signal: never }))
        await expectAppError('sandbox/not-running', ending.openTerminal({ command: 'bash', cols: 80, rows: 24 }))
        await runtime.remove(spec.id)
      })

      test('reap orphaned processes', async () => {
        await run(instance, 'for each in 1 2 3; do (sleep 0.01 &) ; done')
        await until('the orphans to be gone', async () => (await sleeping(instance)) === 0)
      })

      test('survive a command that kills every process it can', async () => {
        const spec = createSpec()
        const tough = await runtime.create(spec, never)
        await tough.exec({ command: 'kill -9 -1', timeoutMs: 60_000, signal: never })
        await tough.exec({ command: 'kill -9 1', timeoutMs: 60_000, signal: never })
        expect(await run(tough, 'echo still here')).toBe('still here\n')
        await tough.stop()
        await runtime.remove(spec.id)
      })
    })

    part('usage', () => {
      test('counts the resources of a program and releases them when it ends', async () => {
        const before = await instance.usage()
        expect(before.processes).toBeGreaterThanOrEqual(1)
        const over = new AbortController()
        const hungry = instance.exec({
          command: `sleep 1000 & sleep 1000 & sleep 1000 & exec perl -e 'my $held = "x" x shift; open my $told, ">", "/tmp/full"; close $told; sleep 1000' 100000000`,
          timeoutMs: 600_000,
          signal: over.signal,
        })
        await until('it to be full', async () => (await run(instance, 'ls /tmp')).includes('full\n'))
        const full = await until('it to be counted', async () => {
          const usage = await instance.usage()
          return usage.memoryBytes - before.memoryBytes > 90_000_000 && usage
        })
        expect(full.memoryBytes).toBeLessThan(512 * 1024 * 1024)
        expect(full.processes).toBeGreaterThan(before.processes)
        over.abort()
        await hungry
        await until('it to be gone', async () => {
          const after = await instance.usage()
          return after.processes < full.processes && after.memoryBytes < full.memoryBytes - 90_000_000
        })
      })

      test('counts the CPU time of running and ended processes', async () => {
        const before = await instance.usage()
        const over = new AbortController()
        const busy = instance.exec({ command: 'while :; do :; done', timeoutMs: 600_000, signal: over.signal })
        await until('it to have worked', async () => (await instance.usage()).cpuMs - before.cpuMs > 200)
        const working = await instance.usage()
        over.abort()
        await busy
        const after = await instance.usage()
        expect(after.cpuMs).toBeGreaterThanOrEqual(working.cpuMs)
        expect(after.atMs).toBeGreaterThan(before.atMs)
      })

      test('counts the disk space of files', async () => {
        await until('a first count', async () => (await instance.usage()).diskBytes !== undefined)
        const { diskBytes = 0 } = await instance.usage()
        await run(instance, 'head -c 20000000 /dev/urandom > /root/large')
        await until('another count', async () => ((await instance.usage()).diskBytes ?? 0) - diskBytes > 19_000_000)
        await run(instance, 'rm /root/large')
      })

      test('is unavailable for a stopped sandbox', async () => {
        const spec = createSpec()
        const stopped = await runtime.create(spec, never)
        await stopped.stop()
        await expectAppError('sandbox/not-running', stopped.usage())
        await runtime.remove(spec.id)
      })
    })

    part('processes', () => {
      const findProcesses = async (text: string) =>
        (await instance.processes()).filter(({ command }) => command.includes(text))

      test('are listed with their details and usage by PID inside the sandbox', async () => {
        const over = new AbortController()
        const command = `perl -e 'my $held = "x" x 50000000; print STDOUT $$; sleep 1000' named-process`
        const running = instance.exec({ command, timeoutMs: 600_000, signal: over.signal })
        const result = await until('it to be full', async () =>
          (await findProcesses('named-process')).find(({ memoryBytes }) => memoryBytes > 45_000_000),
        )
        expect(result).toMatchObject({ user: 'root', command: expect.stringMatching(/^perl -e /) })
        expect((await run(instance, 'pgrep -f named-process')).split('\n')).toContain(String(result.pid))
        over.abort()
        await running
        const first = (await instance.processes()).find(({ pid }) => pid === 1)
        expect(first?.startedAtMs).toBeLessThanOrEqual(result.startedAtMs)
      })

      test('receive the signal that is sent to them', async () => {
        // Signals readiness by its process name.
        const command = `perl -e '$SIG{TERM} = sub { print "told\\n"; exit 5 }; $0 = "ready" . "-for-signals"; sleep 1 while 1'`
        const running = instance.exec({ command, timeoutMs: 600_000, signal: never })
        const pid = await until('it to run', async () => (await findProcesses('ready-for-signals')).at(0)?.pid)
        await instance.signal(pid, 'SIGSTOP')
        await instance.signal(pid, 'SIGTERM')
        await instance.signal(pid, 'SIGCONT')
        const { exitCode, stdout } = await running
        expect([exitCode, stdout.toString()]).toEqual([5, 'told\n'])
        await until('it to be gone', async () => (await findProcesses('ready-for-signals')).length === 0)
        await expectAppError('process/not-found', instance.signal(pid, 'SIGKILL'))
        await expectAppError('process/not-found', instance.signal(1, 'SIGKILL'))
      })

      test('report the ports on which they listen', async () => {
        const over = new AbortController()
        const serving = `perl -MIO::Socket::INET -e 'my $all = IO::Socket::INET->new(Listen => 1, LocalPort => 4311); my $own = IO::Socket::INET->new(Listen => 1, LocalAddr => "127.0.0.1", LocalPort => 4312); sleep 1000'`
        const running = instance.exec({ command: serving, timeoutMs: 600_000, signal: over.signal })
        await until('both', async () => (await instance.listeningPorts()).filter((port) => port > 4310).length === 2)
        expect(await instance.listeningPorts()).toEqual([4311, 4312])
        over.abort()
        await running
        await until('none', async () => (await instance.listeningPorts()).length === 0)
      })
    })

    part('exec', () => {
      const exec = (command: string, more: { timeoutMs?: number; cwd?: string; env?: Record<string, string> } = {}) =>
        instance.exec({ command, timeoutMs: 120_000, signal: never, ...more })

      test('separates stdout and stderr and returns the exit code', async () => {
        const outcome = await exec('echo out; echo err >&2; exit 7')
        expect(outcome.stdout.toString()).toBe('out\n')
        expect(outcome.stderr.toString()).toBe('err\n')
        expect(outcome).toMatchObject({ exitCode: 7, timedOut: false, truncated: false })
      })

      test.each([
        ['TERM', 143],
        ['KILL', 137],
        ['SEGV', 139],
        ['FPE', 136],
        ['PIPE', 141],
      ])('returns 128 + N when SIG%s ended the command', async (signal, code) => {
        expect((await exec(`kill -${signal} $$`)).exitCode).toBe(code)
      })

      test('passes the command to the shell unchanged', async () => {
        expect((await exec('--help-me')).exitCode).toBe(127)
        expect((await exec(`echo "it's" '"quoted"' \\\\ \`echo tick\` $((1+1))`)).stdout.toString()).toBe(
          `it's "quoted" \\ tick 2\n`,
        )
        expect((await exec('echo one\n\n# a comment\necho двa 🦀\n')).stdout.toString()).toBe('one\nдвa 🦀\n')
        expect((await exec('cat <<EOF\nline $((40 + 2))\nEOF')).stdout.toString()).toBe('line 42\n')
        expect((await exec('if')).exitCode).toBe(2)
      })

      test.each([100, 500])('accepts a command of %i KB', async (size) => {
        const word = 'ü"$'.repeat((size * 1024) / 4)
        const outcome = await exec(`cat <<'END' | wc -c\n${word}\nEND`)
        expect(outcome.stdout.toString().trim()).toBe(String(Buffer.byteLength(word) + 1))
        expect(outcome.exitCode).toBe(0)
      })

      test('rejects input that no program can receive', async () => {
        await expectAppError('request/invalid', exec('echo \0'))
        await expectAppError('request/too-large', exec('true', { env: { BIG: 'x'.repeat(3_000_000) } }))
        await expectAppError('file/not-found', exec('true', { cwd: '/no/such/folder' }))
        await expectAppError('file/not-a-folder', exec('true', { cwd: '/etc/passwd' }))
      })

      test('closes stdin and lets programs open the streams by name', async () => {
        expect((await exec('cat; read -r line || echo none')).stdout.toString()).toBe('none\n')
        const outcome = await exec('echo out > /dev/stdout; echo err > /dev/stderr; tty')
        expect(outcome.stdout.toString()).toBe('out\nnot a tty\n')
        expect(outcome.stderr.toString()).toBe('err\n')
      })

      test('starts in the home folder with a clean environment and the requested variables', async () => {
        const names = (await exec('env | cut -d= -f1 | sort')).stdout.toString().trim().split('\n')
        expect(names).toEqual(
          ['HOME', 'LANG', 'LOGNAME', 'OLDPWD', 'PATH', 'PWD', 'SHELL', 'SHLVL', 'USER', '_'].filter((it) =>
            names.includes(it),
          ),
        )
        const env = { GREETING: 'a b=c\n"d"', HOME: '/opt', LD_DEBUG: '', PERL5OPT: '-Mnothing', BASH_ENV: '/nowhere' }
        const outcome = await exec('pwd; echo "$GREETING"; echo $HOME $PERL5OPT', { cwd: '/var/tmp', env })
        expect(outcome.stdout.toString()).toBe('/var/tmp\na b=c\n"d"\n/opt -Mnothing\n')
        expect((await exec('pwd; echo $HOME; umask')).stdout.toString()).toBe('/root\n/root\n0022\n')
      })

      test('returns every byte unchanged', async () => {
        const outcome = await exec(`perl -e 'print map { chr } 0 .. 255; print STDERR "\\xff\\xfe"'`)
        expect(outcome.stdout).toEqual(Buffer.from(Array.from({ length: 256 }, (_, byte) => byte)))
        expect(outcome.stderr).toEqual(Buffer.from([0xff, 0xfe]))
      })

      test('returns the first 10 MiB of a stream and reports the truncation', async () => {
        const size = execStreamBytes + 5_000_000
        const outcome = await exec(`head -c ${size} /dev/zero; head -c ${size} /dev/zero >&2; echo end >&2; exit 3`)
        expect(outcome).toMatchObject({ exitCode: 3, truncated: true })
        expect(outcome.stdout.length).toBe(execStreamBytes)
        expect(outcome.stderr.length).toBe(execStreamBytes)
      })

      test('returns the output until the timeout and kills the process group', async () => {
        const outcome = await exec('echo before; sleep 4242 & sleep 4242; echo after', { timeoutMs: 6_000 })
        expect(outcome).toMatchObject({ exitCode: 124, timedOut: true })
        expect(outcome.stdout.toString()).toBe('before\n')
        await until(
          'the group to be gone',
          async () => (await run(instance, 'pgrep -f "sleep 424[2]" | wc -l')) === '0\n',
        )
      })

      test('kills the command even when the timeout passes before it starts', async () => {
        expect(await exec('sleep 4343', { timeoutMs: 1 })).toMatchObject({ exitCode: 124, timedOut: true })
        expect(await run(instance, 'pgrep -f "sleep 434[3]" | wc -l')).toBe('0\n')
      })

      test('kills the command on abort', async () => {
        const controller = new AbortController()
        const pending = instance.exec({ command: 'echo on; sleep 4444', timeoutMs: 600_000, signal: controller.signal })
        await until('it to run', async () => (await run(instance, 'pgrep -xf "sleep 444[4]" | wc -l')) !== '0\n')
        controller.abort()
        const outcome = await pending
        expect(outcome.exitCode).toBe(124)
        expect(outcome.stdout.toString()).toBe('on\n')
      })

      test('does not wait for background processes', async () => {
        const outcome = await exec('sleep 300 & (while :; do echo noise; sleep 0.01; done) & echo started')
        expect(outcome.exitCode).toBe(0)
        expect(outcome.stdout.toString()).toContain('started\n')
        expect(outcome.timedOut).toBe(false)
        await run(instance, 'pkill sleep; pkill bash; true').catch(() => {})
      })

      test('returns the result of a command that signals its process group', async () => {
        const outcome = await exec('trap "echo caught; exit 9" TERM; kill -TERM 0; sleep 10')
        expect(outcome.stdout.toString()).toBe('caught\n')
        expect(outcome.exitCode).toBe(9)
      })

      test('runs many commands concurrently', async () => {
        const outcomes = await Promise.all(
          Array.from({ length: 16 }, (_, index) => exec(`echo ${index}; exit ${index}`)),
        )
        expect(outcomes.map((outcome) => outcome.exitCode)).toEqual(Array.from({ length: 16 }, (_, index) => index))
        expect(outcomes.map((outcome) => outcome.stdout.toString())).toEqual(outcomes.map((_, index) => `${index}\n`))
      })
    })

    part('terminals', () => {
      const open = (request: Partial<TerminalRequest> & { command: string }) => openTerminal(instance, request)

      test('are PTYs of the requested size and report resizes', async () => {
        const shell = await open({ command: 'bash --norc', cols: 91, rows: 17 })
        shell.write('tty; stty size; echo $TERM; trap "echo changed; stty size" WINCH; echo rea""dy\n')
        await until('the shell', () => shell.text().includes('ready\r\n'))
        expect(shell.text()).toMatch(/\/dev\/pts\/\d+\r\n17 91\r\nxterm-256color\r\n/)
        shell.resize(120, 40)
        await until('the new size', () => {
          shell.write('\n') // the shell may become ready only after a line, and the signal may arrive after it
          return /changed\s+40 120\r\n/.test(shell.text()) // the echoed line may appear in between
        })
        shell.write('exit 5\n')
        expect(await shell.ended).toEqual({ exitCode: 5, signal: null })
      })

      test('report the signal that ended their program', async () => {
        expect(await (await open({ command: 'kill -TERM $$' })).ended).toEqual({ exitCode: 143, signal: 'SIGTERM' })
        expect(await (await open({ command: 'exit 143' })).ended).toEqual({ exitCode: 143, signal: null })
      })

      test('deliver all output written before the end', async () => {
        for (const lines of [2, 3_000, 3_000, 200_000]) {
          const terminal = await open({ command: `seq ${lines}; echo the end` })
          await terminal.ended
          expect(terminal.text().slice(-40).endsWith(`\r\n${lines}\r\nthe end\r\n`), terminal.text().slice(-40)).toBe(
            true,
          )
          expect(terminal.text().split('\r\n').length).toBe(lines + 2)
        }
      })

      test('apply backpressure while paused without losing output', async () => {
        const terminal = await open({ command: 'read -r go; seq 100000' })
        terminal.pause()
        terminal.write('\n')
        await until('the kernel to hold it up', async () => {
          const states = await run(instance, 'ps -o stat=,comm= -C seq || true')
          return /S/.test(states)
        })
        const length = terminal.text().length
        expect(length).toBeLessThan(200_000)
        terminal.resume()
        await terminal.ended
        expect(terminal.text().endsWith('\r\n100000\r\n')).toBe(true)
      })

      test('accept one megabyte of input in a single write', async () => {
        const pasted = randomBytes(512 * 1024).toString('hex')
        const terminal = await open({ command: `stty raw -echo; echo ready; head -c ${pasted.length} | sha256sum` })
        await until('raw mode', () => terminal.text().includes('ready'))
        terminal.write(pasted)
        await terminal.ended
        expect(terminal.text()).toContain(createHash('sha256').update(pasted).digest('hex'))
      })

      test('queue unread input up to the limit and drop it on close', async () => {
        const terminal = await open({ command: 'stty raw -echo; echo ready; sleep 1000' })
        await until('raw mode', () => terminal.text().includes('ready'))
        const written: number[] = []
        const type = async (bytes: number) => terminal.write('x'.repeat(bytes), () => written.push(bytes))
        await type(3_000)
        await type(1_000_000)
        await expectAppError('terminal/input-full', type(1_000_000))
        expect(await run(instance, 'echo fine')).toBe('fine\n')
        expect(written).toEqual([3_000])
        terminal.close()
        await terminal.ended
        expect(written).toEqual([3_000, 1_000_000])
      })

      test('show a typed line once, even before the program is ready', async () => {
        const terminal = await open({ command: 'sleep 0.3; cat' })
        terminal.write('hello\n')
        await until('the answer', () => terminal.text().match(/hello/g)?.length === 2)
        terminal.write('\x04')
        expect(await terminal.ended).toEqual({ exitCode: 0, signal: null })
        expect(terminal.text()).toBe('hello\r\nhello\r\n')
      })

      test('interrupt and suspend their foreground program', async () => {
        const shell = await open({ command: 'bash --norc' })
        shell.write('sleep 4545\n')
        await until('sleep', async () => (await run(instance, 'pgrep -f "sleep 454[5]" | wc -l')) === '1\n')
        shell.write('\x03')
        shell.write('echo code $?\n')
        await until('the interrupt', () => shell.text().includes('code 130\r\n'))
        shell.write('sleep 4546\n')
        await until('sleep', async () => (await run(instance, 'pgrep -f "sleep 454[6]" | wc -l')) === '1\n')
        shell.write('\x1a')
        await until('the suspension', () => shell.text().includes('Stopped'))
        shell.write('kill %1; exit\n')
        shell.write('exit\n')
        await shell.ended
      })

      test('report the foreground program unless it is the shell', async () => {
        const shell = await open({ command: 'bash --norc' })
        const inFront = () => shell.foreground?.()
        shell.write('echo rea""dy\n')
        await until('the shell', () => shell.text().includes('ready\r\n'))
        expect(await inFront()).toBeUndefined()
        shell.write('sleep 4547\n')
        await until('sleep in the foreground', async () => (await inFront()) === 'sleep')
        shell.write('\x03')
        await until('the shell in the foreground', async () => (await inFront()) === undefined)
        shell.write('exit\n')
        await shell.ended
        expect(await inFront()).toBeUndefined()
      })

      test('send SIGHUP to their program when closed', async () => {
        const terminal = await open({
          command: `trap 'echo hung up > /tmp/hung-up; exit' HUP; echo ready; while :; do sleep 0.05; done`,
        })
        await until('the program', () => terminal.text().includes('ready'))
        terminal.close()
        await terminal.ended
        expect(await run(instance, 'cat /tmp/hung-up')).toBe('hung up\n')
      })

      test('are killed when their program ignores SIGHUP', async () => {
        const terminal = await open({ command: `trap '' HUP; echo ready; while :; do sleep 0.05; done` })
        await until('the program', () => terminal.text().includes('ready'))
        terminal.close()
        terminal.close()
        expect(await terminal.ended).toEqual({ exitCode: 137, signal: 'SIGKILL' })
      })

      test('end with their program, not with its background processes', async () => {
        const terminal = await open({ command: `trap '' HUP; sleep 4747 & echo left; exit 2` })
        expect(await terminal.ended).toEqual({ exitCode: 2, signal: null })
        expect(terminal.text()).toBe('left\r\n')
        await run(instance, 'pkill -f "sleep 474[7]"')
      })

      test('ignore writes and resizes after the end', async () => {
        const terminal = await open({ command: 'true' })
        await terminal.ended
        terminal.write('late')
        terminal.resize(10, 10)
        terminal.close()
      })

      test('report the working directory of the foreground program as a sandbox path', async () => {
        await run(instance, 'mkdir -p "/tmp/a site/deep"')
        const shell = await open({ command: 'bash' })
        if (!shell.directory) return expect(name).not.toBe('bubblewrap')
        expect(await shell.directory()).toBe('/root')
        shell.write('cd "/tmp/a site" && cd deep && exec sleep 4748\n')
        await until('sleep in its directory', async () => (await shell.directory?.()) === '/tmp/a site/deep')
        await run(instance, 'rmdir "/tmp/a site/deep"')
        expect(await shell.directory()).toBeUndefined()
        shell.close()
        await shell.ended
        expect(await shell.directory()).toBeUndefined()
      })

      test('are refused when the working directory is missing', async () => {
        const request = { command: 'bash', cols: 80, rows: 24, cwd: '/no/such/folder' }
        await expectAppError('file/not-found', instance.openTerminal(request))
      })

      test('share the sandbox with exec', async () => {
        const serve = `perl -MIO::Socket::INET -e '$s = IO::Socket::INET->new(LocalAddr => "127.0.0.1", LocalPort => 80, Listen => 5, ReuseAddr => 1) or die; print "listening\\n"; $| = 1; while ($c = $s->accept) { print $c "from the terminal\\n"; close $c }'`
        const server = await open({
          command: `stdbuf -o0 true; ${serve.replace('print "listening', '$| = 1; print "listening')}`,
        })
        await until('the server', () => server.text().includes('listening'))
        expect(await run(instance, 'cat < /dev/tcp/127.0.0.1/80')).toBe('from the terminal\n')
        server.close()
        await server.ended
      })
    })

    part('ports', () => {
      /** Starts a server with a script of a few lines. `$peer` is the client. */
      const serve = async (port: number, family: 'INET' | 'INET6', script: string): Promise<void> => {
        const address = family === 'INET' ? 'INADDR_LOOPBACK' : 'IN6ADDR_LOOPBACK'
        const pack = family === 'INET' ? 'sockaddr_in' : 'pack_sockaddr_in6'
        await instance.writeFile(
          `/tmp/serve-${port}`,
          Buffer.from(`use strict; use Socket qw(:all); $SIG{CHLD} = 'IGNORE';
            socket(my $server, AF_${family}, SOCK_STREAM, 0) or die; setsockopt $server, SOL_SOCKET, SO_REUSEADDR, 1;
            bind($server, ${pack}(${port}, ${address})) && listen($server, 100) or die "$!";
            while (1) {
              accept(my $peer, $server) or next;
              next if fork;
              $peer->autoflush(1);
              ${script};
              exit;
            }`),
          never,
        )
        await run(instance, `setsid perl -MIO::Handle /tmp/serve-${port} </dev/null >/tmp/serve-${port}.log 2>&1 &`)
      }
      const connect = (port: number) =>
        until('the server to listen', () => instance.connect(port, never).catch(() => undefined))

      test('transfer every byte in both directions and signal the end of input', async () => {
        await serve(7001, 'INET', `while (sysread $peer, my $bytes, 65536) { print $peer $bytes }`)
        const payload = randomBytes(8 * 1024 * 1024)
        const connection = await connect(7001)
        connection.end(payload)
        expect(Buffer.concat(await connection.toArray()).equals(payload)).toBe(true)
      })

      test('are reachable over IPv6', async () => {
        await serve(7002, 'INET6', `print $peer 'six'`)
        const connection = await connect(7002)
        expect(Buffer.concat(await connection.toArray()).toString()).toBe('six')
      })

      test('report an error when no server listens', async () => {
        await expectAppError('port/no-server', instance.connect(7003, never))
        await expect(instance.connect(7003, AbortSignal.abort(new Error('off')))).rejects.toThrow('off')
      })

      test('apply backpressure to a server that sends more than is read', async () => {
        await serve(7004, 'INET', `print $peer 'x' x 100000 while 1`)
        const connection = await connect(7004)
        await new Promise((resolve) => connection.once('readable', resolve))
        expect(connection.readableLength).toBeLessThan(1024 * 1024)
        connection.destroy()
        await until(
          'the server to see it',
          async () => (await run(instance, 'pgrep -fc serve-700[4] || true')) === '1\n',
        )
      })

      test('are limited to their sandbox and close with it', async () => {
        const spec = createSpec()
        const otherSandbox = await runtime.create(spec, never)
        await expectAppError('port/no-server', otherSandbox.connect(7001, never))
        await otherSandbox.exec({
          command: `setsid perl -MIO::Socket::INET -e 'my $s = IO::Socket::INET->new(LocalAddr => "127.0.0.1", LocalPort => 7001, Listen => 9); while (1) { push @all, $s->accept }' </dev/null >/dev/null 2>&1 &`,
          timeoutMs: 120_000,
          signal: never,
        })
        const connection = await until('its own server', () => otherSandbox.connect(7001, never).catch(() => undefined))
        connection.on('error', () => {})
        const closed = new Promise((resolve) => connection.once('close', resolve))
        await otherSandbox.stop()
        connection.destroy()
        await closed
        await expectAppError('sandbox/not-running', otherSandbox.connect(7001, never))
        await runtime.remove(spec.id)
      })
    })

    part('files', () => {
      test('are written with their folders, read back and listed', async () => {
        const content = randomBytes(3_000_000)
        await instance.writeFile('/srv/new/folder/ü b.bin', content, never)
        expect((await instance.readFile('/srv/new/folder/ü b.bin', 3_000_000, never)).equals(content)).toBe(true)
        await run(
          instance,
          `cd /srv/new && mkdir -p z a && ln -s folder link && mkfifo pipe && echo hi > $'line\\nbreak'`,
        )
        const entries = await instance.listFiles('/srv/new', never)
        expect(entries.map(({ name, type, path }) => ({ name, type, path }))).toEqual([
          { name: 'a', type: 'directory', path: '/srv/new/a' },
          { name: 'folder', type: 'directory', path: '/srv/new/folder' },
          { name: 'z', type: 'directory', path: '/srv/new/z' },
          { name: 'line\nbreak', type: 'file', path: '/srv/new/line\nbreak' },
          { name: 'link', type: 'symlink', path: '/srv/new/link' },
          { name: 'pipe', type: 'other', path: '/srv/new/pipe' },
        ])
        expect(await run(instance, 'stat -c "%U %a" "/srv/new/folder/ü b.bin"')).toBe('root 644\n')
      })

      test('may be empty, truncated or as large as 64 MiB', async () => {
        await instance.writeFile('/tmp/file', Buffer.from('something'), never)
        await instance.writeFile('/tmp/file', Buffer.alloc(0), never)
        expect(await instance.readFile('/tmp/file', 10, never)).toEqual(Buffer.alloc(0))
        const large = Buffer.alloc(64 * 1024 * 1024, 'steward')
        await instance.writeFile('/tmp/file', large, never)
        expect((await instance.readFile('/tmp/file', large.length, never)).equals(large)).toBe(true)
        await expectAppError('file/too-large', instance.readFile('/tmp/file', large.length - 1, never))
        await run(instance, 'rm /tmp/file')
      })

      test('fail with a specific error code', async () => {
        await run(instance, 'echo text > /tmp/text; mkfifo /tmp/fifo; ln -s loop /tmp/loop')
        const bytes = Buffer.from('x')
        await expectAppError('file/not-found', instance.readFile('/tmp/none', 10, never))
        await expectAppError('file/not-a-file', instance.readFile('/tmp', 10, never))
        await expectAppError('file/not-a-file', instance.readFile('/tmp/fifo', 10, never))
        await expectAppError('file/not-a-file', instance.readFile('/dev/zero', 10, never))
        await expectAppError('file/not-a-folder', instance.readFile('/tmp/text/more', 10, never))
        await expectAppError('file/path', instance.readFile('/tmp/loop', 10, never))
        await expectAppError('file/path', instance.readFile('relative', 10, never))
        await expectAppError('file/path', instance.readFile('/tmp/\0', 10, never))
        await expectAppError('file/not-a-file', instance.writeFile('/tmp', bytes, never))
        await expectAppError('file/not-a-file', instance.writeFile('/tmp/fifo', bytes, never))
        await expectAppError('file/not-a-folder', instance.writeFile('/tmp/text/more', bytes, never))
        await expectAppError('file/denied', instance.writeFile('/proc/sys/kernel/hostname', bytes, never))
        if (under.sharesPrograms) {
          await expectAppError('file/denied', instance.writeFile('/usr/bin/new', bytes, never))
          await expectAppError('file/denied', instance.writeFile('/usr/new/folder/file', bytes, never))
        }
        await expectAppError('file/not-found', instance.listFiles('/tmp/none', never))
        await expectAppError('file/not-a-folder', instance.listFiles('/tmp/text', never))
        await expectAppError('file/path', instance.readFile(`/${'x'.repeat(300)}`, 10, never))
      })

      test('resolve inside the sandbox, including through links that point outside', async () => {
        await run(instance, 'ln -sfn /etc /tmp/outside; ln -sfn /../../../../../etc/hostname /tmp/up')
        expect((await instance.readFile('/tmp/outside/hostname', 100, never)).toString().trim()).toBe('contract')
        const above = await instance.readFile('/tmp/up', 100, never)
        expect(above.toString().trim()).toBe('contract')
      })

      describe('in detail', () => {
        const { signal } = new AbortController()
        const folder = '/root/detail'
        const at = (name: string) => `${folder}/${name}`
        const bash = (command: string) => run(instance, `cd ${folder} && ${command}`)
        beforeAll(() => run(instance, `mkdir -p ${folder}`))
        afterAll(() => run(instance, `chattr -i ${folder} 2>/dev/null; rm -rf ${folder}`))

        test('have a state that includes links and a version that writes change', async () => {
          await bash('printf hello > file; chmod 750 file; touch -d @1700000000.25 file; mkfifo fifo')
          await bash('ln -s file good; ln -s nowhere bad; ln -s . folder')
          const state = await instance.files.stat(at('file'), signal)
          expect(state).toMatchObject({ name: 'file', path: at('file'), type: 'file', size: 5, mode: 0o750 })
          expect(state.modified_at).toBe('2023-11-14T22:13:20.250Z')
          expect(await instance.files.stat(at('file'), signal)).toEqual(state)
          expect(await instance.files.stat(at('good'), signal)).toMatchObject({
            type: 'symlink',
            target: 'file',
            target_type: 'file',
          })
          expect(await instance.files.stat(at('bad'), signal)).toMatchObject({ target: 'nowhere', target_type: null })
          expect(await instance.files.stat('/', signal)).toMatchObject({ type: 'directory' })
          expect((await instance.files.stat(at('fifo'), signal)).type).toBe('other')
          const links = (await instance.listFiles(folder, signal)).filter(({ type }) => type === 'symlink')
          expect(links.map(({ name, target, target_type }) => [name, target, target_type])).toEqual([
            ['bad', 'nowhere', null],
            ['folder', '.', 'directory'],
            ['good', 'file', 'file'],
          ])
          await bash('printf world > file')
          expect((await instance.files.stat(at('file'), signal)).version).not.toBe(state.version)
          await expectAppError('file/not-found', instance.files.stat(at('none'), signal))
        })

        test('are read and written in chunks, with holes and through links', async () => {
          const content = randomBytes(700_000)
          for (const offset of [0, 300_000]) {
            await instance.files.writeRange(
              at('pieces'),
              { offset, content: content.subarray(offset, offset + 400_000) },
              signal,
            )
          }
          await bash('ln -s pieces link')
          const { bytes, state } = await instance.files.readRange(
            at('link'),
            { offset: 250_000, length: 100_000 },
            signal,
          )
          expect(bytes.equals(content.subarray(250_000, 350_000))).toBe(true)
          expect(state).toMatchObject({ type: 'file', size: 700_000 })
          const end = await instance.files.readRange(at('pieces'), { offset: 699_990, length: 1000 }, signal)
          expect(end.bytes).toEqual(content.subarray(699_990))
          expect((await instance.files.readRange(at('pieces'), { offset: 9e6, length: 9 }, signal)).bytes).toHaveLength(
            0,
          )
          const cut = await instance.files.writeRange(
            at('pieces'),
            { offset: 5, content: Buffer.from('\0\r\n'), truncate: true },
            signal,
          )
          expect(cut.size).toBe(8)
          const far = 6 * 1024 ** 3
          const sparse = await instance.files.writeRange(
            at('sparse'),
            { offset: far, content: Buffer.from('end') },
            signal,
          )
          expect(sparse.size).toBe(far + 3)
          const tail = await instance.files.readRange(at('sparse'), { offset: far - 2, length: 100 }, signal)
          expect(tail.bytes).toEqual(Buffer.from('\0\0end'))
          await instance.files.remove(at('sparse'), { recursive: false }, signal)
        })

        test('are not read or written if they are devices, pipes or folders', async () => {
          const range = { offset: 0, length: 10 }
          const piece = { offset: 0, content: Buffer.from('x') }
          await bash('mkfifo pipe')
          for (const path of [at('pipe'), '/dev/zero', folder]) {
            await expectAppError('file/not-a-file', instance.files.readRange(path, range, signal))
            await expectAppError('file/not-a-file', instance.files.writeRange(path, piece, signal))
          }
          await expectAppError('file/not-found', instance.files.readRange(at('none'), range, signal))
          await expectAppError('file/not-found', instance.files.writeRange(at('none/file'), piece, signal))
          await expectAppError('file/path', instance.files.stat('relative', signal))
          if (under.sharesPrograms)
            await expectAppError('file/denied', instance.files.writeRange('/usr/bin/new', piece, signal))
        })

        test('support names of any bytes', async () => {
          const names = [
            'ü 🦀',
            'line\nbreak',
            `it's "quoted" \\x41 $HOME`,
            '-rf',
            '\uefff\uef80.bin',
            '\uefee\uefbe\uef80',
          ]
          await bash(`mkdir names; cd names; touch $'\\xff\\x80.bin' $'\\xee\\xbe\\x80'`)
          for (const name of names) {
            await instance.files.writeRange(at(`names/${name}`), { offset: 0, content: Buffer.from(name) }, signal)
          }
          const listed = await instance.listFiles(at('names'), signal)
          expect(new Set(listed.map(({ name }) => name))).toEqual(new Set(names))
          expect(await bash(`cd names; ls $'\\xff\\x80.bin' $'\\xee\\xbe\\x80' | wc -l`)).toBe('2\n')
          for (const name of names) {
            await instance.files.copy({ from: at(`names/${name}`), to: at(`names/${name}2`) }, signal)
            await instance.files.move({ from: at(`names/${name}2`), to: at(`names/${name}3`), replace: false }, signal)
            await instance.files.remove(at(`names/${name}3`), { recursive: false }, signal)
          }
          expect(await instance.listFiles(at('names'), signal)).toHaveLength(names.length)
        })

        test('are placed in nested folders created on request', async () => {
          expect(await instance.files.makeFolder(at('a/b/c'), signal)).toBe(true)
          expect(await instance.files.makeFolder(at('a/b/c'), signal)).toBe(false)
          await bash('echo text > a/file')
          await expectAppError('file/exists', instance.files.makeFolder(at('a/file'), signal))
          await expectAppError('file/not-a-folder', instance.files.makeFolder(at('a/file/b'), signal))
          if (under.sharesPrograms) await expectAppError('file/denied', instance.files.makeFolder('/usr/new', signal))
        })

        test('move and replace others only where allowed', async () => {
          await bash('mkdir m m/full m/empty; echo one > m/one; echo two > m/two; echo x > m/full/x; chmod 700 m/two')
          const move = (from: string, to: string, more: object = {}) =>
            instance.files.move({ from: at(`m/${from}`), to: at(`m/${to}`), replace: false, ...more }, signal)
          await expectAppError('file/exists', move('one', 'two'))
          await expectAppError('file/not-found', move('none', 'three'))
          await expectAppError('file/not-found', move('one', 'none/one'))
          await expectAppError('file/not-a-folder', move('one', 'two/one'))
          await expectAppError('file/path', move('full', 'full/inside'))
          await expectAppError('file/exists', move('one', 'full', { replace: true }))
          await expectAppError('file/not-empty', move('empty', 'full', { replace: true }))
          const { version } = await instance.files.stat(at('m/two'), signal)
          await expectAppError('file/changed', move('one', 'two', { replace: true, ifVersion: `${version}0` }))
          await expectAppError('file/changed', move('one', 'two', { replace: true, ifVersion: null }))
          expect(await bash('cat m/one m/two m/full/x')).toBe('one\ntwo\nx\n')
          await move('one', 'two', {
            replace: true,
            ifVersion: version,
            keepMode: true,
            modifiedAtMs: 1_600_000_000_000,
          })
          expect(await bash('cat m/two; stat -c "%a %Y" m/two; ls m')).toBe('one\n700 1600000000\nempty\nfull\ntwo\n')
          await move('full', 'moved')
          await move('two', 'new', { ifVersion: null })
          expect(await bash('ls m m/moved')).toBe('m:\nempty\nmoved\nnew\n\nm/moved:\nx\n')
        })

        test('move between file systems', async () => {
          await bash(`mkdir -p across/deep; ln -s deep across/link; echo x > across/deep/x; chmod 640 across/deep/x`)
          const otherPath = '/run/across'
          await instance.files.move({ from: at('across'), to: otherPath, replace: false }, signal)
          expect(
            await run(
              instance,
              `ls ${folder}/across 2>&1 | grep -c cannot; cd ${otherPath}; readlink link; stat -c %a link/x`,
            ),
          ).toBe('1\ndeep\n640\n')
          await bash('mkdir across')
          await expectAppError(
            'file/exists',
            instance.files.move({ from: otherPath, to: at('across'), replace: false }, signal),
          )
          await instance.files.move({ from: otherPath, to: at('across'), replace: true }, signal)
          expect(await bash('cat across/deep/x; ls -A | grep -c part || true')).toBe('x\n0\n')
        })

        test('are copied atomically with their modes and times', async () => {
          await bash(
            'mkdir -p c/deep; echo x > c/deep/x; chmod 600 c/deep/x; ln -s x c/deep/link; touch -d @1500000000 c/deep/x',
          )
          await instance.files.copy({ from: at('c'), to: at('d') }, signal)
          expect(await bash('stat -c "%a %Y" d/deep/x; readlink d/deep/link')).toBe('600 1500000000\nx\n')
          await expectAppError('file/exists', instance.files.copy({ from: at('c'), to: at('d') }, signal))
          await expectAppError('file/not-found', instance.files.copy({ from: at('none'), to: at('e') }, signal))
          await expectAppError('file/not-found', instance.files.copy({ from: at('c'), to: at('none/e') }, signal))
          await expectAppError('file/path', instance.files.copy({ from: at('c'), to: at('c/inside') }, signal))
          expect(await bash('ls -A c; ls -A | grep -c part || true')).toBe('deep\n0\n')
        })

        test('are removed at any depth without following links', async () => {
          await bash('mkdir r kept; echo kept > kept/kept; ln -s ../kept r/link; mkdir r/sub; echo x > r/sub/x')
          await expectAppError('file/not-empty', instance.files.remove(at('r'), { recursive: false }, signal))
          await expectAppError('file/not-found', instance.files.remove(at('none'), { recursive: true }, signal))
          if (under.sharesPrograms)
            await expectAppError('file/denied', instance.files.remove('/usr/bin/env', { recursive: false }, signal))
          await bash(`perl -e 'chdir "r"; for (1 .. 3000) { mkdir "deeper"; chdir "deeper" or die }'`)
          await instance.files.remove(at('r'), { recursive: true }, signal)
          expect(await bash('ls -d r 2>&1 | grep -c cannot; cat kept/kept')).toBe('1\nkept\n')
        })

        test('are archived unchanged with long names, links and large files', async () => {
          const long = 'long '.repeat(40)
          await bash(
            `mkdir -p 'tar/${long}/${long}'; cd tar; head -c 3000000 /dev/urandom > big; : > empty; mkfifo pipe`,
          )
          await bash(
            `cd tar; echo deep > '${long}/${long}/file'; ln -s '${long}/${long}/file' link; chmod 751 big; touch -d @1234567890 big`,
          )
          const chunks = await (await instance.files.archive(at('tar'), signal)).toArray()
          await instance.writeFile(at('out.tar'), Buffer.concat(chunks), signal)
          await bash('mkdir out; tar -xf out.tar -C out')
          expect(await bash('rm tar/pipe; diff -r --no-dereference tar out/tar && stat -c "%a %Y" out/tar/big')).toBe(
            '751 1234567890\n',
          )
          await expectAppError('file/not-a-folder', instance.files.archive(at('tar/big'), signal))
          await expectAppError('file/not-found', instance.files.archive(at('none'), signal))
        })

        test('apply backpressure to an archive and stop with its reader', async () => {
          await bash('mkdir slow; head -c 50000000 /dev/zero > slow/zeros')
          const slow = await instance.files.archive(at('slow'), signal)
          await new Promise((resolve) => slow.once('readable', resolve))
          expect(slow.readableLength).toBeLessThan(1_000_000)
          slow.destroy()
          let bytes = 0
          for await (const piece of await instance.files.archive(at('slow'), signal)) bytes += piece.length
          expect(bytes).toBeGreaterThan(50_000_000)
          const controller = new AbortController()
          const called = await instance.files.archive(at('slow'), controller.signal)
          const failed = new Promise((resolve) => called.once('error', resolve))
          controller.abort(new Error('called off'))
          expect(await failed).toMatchObject({ message: 'called off' })
        })

        test('report a change during a read', async () => {
          await bash('head -c 8000000 /dev/zero > busy')
          const over = new AbortController()
          const writer = instance.exec({
            command: `cd ${folder}; while :; do printf x | dd of=busy conv=notrunc status=none; done`,
            timeoutMs: 600_000,
            signal: over.signal,
          })
          await until('it to be seen', async () => {
            const read = instance.files.readRange(at('busy'), { offset: 0, length: 8_000_000 }, signal)
            return read.then(
              () => false,
              (error: unknown) => error instanceof Error && 'code' in error && error.code === 'file/changed',
            )
          })
          over.abort()
          await writer
        })
      })

      test('are not accessed after an abort', async () => {
        await expect(instance.readFile('/etc/hostname', 100, AbortSignal.abort())).rejects.toThrow()
      })
    })

    if (parts === undefined || parts.includes('snapshots')) snapshotsContract(() => under)
  })
}

/** Counts processes named `sleep`, except the sandbox's first process, which may have the same name. */
async function sleeping(sandbox: SandboxInstance): Promise<number> {
  return Number(await run(sandbox, 'pgrep -x sleep | grep -vcx 1 || true'))
}

type WatchedTerminal = Omit<SandboxTerminal, 'write' | 'onOutput'> & {
  text(): string
  write(input: string, onWritten?: () => void): void
}

async function openTerminal(
  sandbox: SandboxInstance,
  request: Partial<TerminalRequest> & { command: string },
): Promise<WatchedTerminal> {
  const terminal = await sandbox.openTerminal({ cols: 80, rows: 24, ...request })
  const chunks: Buffer[] = []
  terminal.onOutput((bytes) => chunks.push(Buffer.from(bytes)))
  return {
    ...terminal,
    write: (input, onWritten) => terminal.write(Buffer.from(input), onWritten),
    text: () => Buffer.concat(chunks).toString('utf8'),
  }
}
