import { writeFileSync } from 'node:fs'
import { readFile, stat } from 'node:fs/promises'
import { createServer, type Server } from 'node:net'
import { hostname, networkInterfaces } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { SandboxInstance } from '#host/runtimes/sandboxRuntime.ts'
import { silentLog } from '#platform/logging/log.ts'
import { marksKeyVariable } from '#shared/terminalMarks.ts'
import { until } from '../support/assertions/eventually.ts'
import { findUid } from '../support/assertions/sandboxResources.ts'
import { testRuntime } from '../support/fixtures/bubblewrapSandboxes.ts'
import { createSandboxSpec, expectAppError, never, run } from '../support/fixtures/sandboxSpecs.ts'
import { temporaryFolder } from '../support/fixtures/temporaryFolder.ts'

const secret = 'a-secret-of-the-host'
const corePattern = '/proc/sys/kernel/core_pattern'

describe('a process in a sandbox', () => {
  const data = temporaryFolder('isolation')
  const folder = join(data, 'machines')
  const runtime = testRuntime({ folder, log: silentLog, now: Date.now })
  let instance: SandboxInstance
  let neighbour: SandboxInstance

  async function expectRefusal(command: string, on = instance): Promise<string> {
    const outcome = await on.exec({ command, timeoutMs: 120_000, signal: never })
    expect(outcome.exitCode, `${command} succeeded: ${outcome.stdout.toString()}`).not.toBe(0)
    return outcome.stderr.toString()
  }

  beforeAll(async () => {
    process.env.STEWARD_TEST_SECRET = secret
    writeFileSync(join(data, 'secret'), secret)
    instance = await runtime.create(createSandboxSpec(), never)
    neighbour = await runtime.create(createSandboxSpec({ hostname: 'neighbour' }), never)
  })
  afterAll(async () => {
    delete process.env.STEWARD_TEST_SECRET
    for (const target of [instance, neighbour]) {
      await target?.stop()
      if (target) await runtime.remove(target.id)
    }
  })

  test('cannot change how the host handles a crash', async () => {
    const before = await readFile(corePattern, 'utf8')
    try {
      await expectRefusal(`echo '|/tmp/evil' > ${corePattern}`)
      await expectRefusal(
        `umount /proc/sys; umount -l /proc/sys; mount -o remount,rw /proc/sys; echo evil > ${corePattern}`,
      )
      await expectRefusal(`mount -t proc proc /mnt && echo evil > /mnt/sys/kernel/core_pattern`)
      await expectAppError('file/denied', instance.writeFile(corePattern, Buffer.from('evil'), never))
      expect(await readFile(corePattern, 'utf8')).toBe(before)
    } finally {
      if ((await readFile(corePattern, 'utf8')) !== before) writeFileSync(corePattern, before)
    }
  })

  test.each([
    '/proc/sys/vm/drop_caches',
    '/proc/sys/kernel/hostname',
    '/proc/sys/kernel/modprobe',
    '/proc/sys/fs/binfmt_misc/register',
    '/proc/sysrq-trigger',
    '/proc/irq/default_smp_affinity',
  ])('cannot write %s', async (path) => {
    await expectRefusal(`printf 1 > ${path}`)
  })

  test('reads only the kernel files in /proc that programs need', async () => {
    const files = 'interrupts kallsyms timer_list slabinfo iomem softirqs zoneinfo config.gz'
    expect(await run(instance, `cd /proc && for it in ${files}; do cat $it 2>/dev/null; done | wc -c`)).toBe('0\n')
    const folders = '/proc/irq /proc/fs /proc/bus /proc/driver /proc/acpi'
    expect(await run(instance, `find ${folders} -mindepth 1 2>/dev/null | wc -l`)).toBe('0\n')
    expect(await run(instance, 'cat /proc/loadavg /proc/uptime /proc/self/mounts /proc/sys/kernel/ostype')).not.toBe('')
  })

  test('is not root of the host', async () => {
    const [inside, outside, count] = (await run(instance, 'cat /proc/self/uid_map /proc/self/gid_map'))
      .trim()
      .split(/\s+/)
    expect([inside, count]).toEqual(['0', '1'])
    expect(Number(outside)).not.toBe(0)
    const uids = await Promise.all([findUid(folder, instance.id), findUid(folder, neighbour.id)])
    if (process.getuid?.() === 0) expect(uids[0]).toBe(Number(outside))
    if (uids[0] !== undefined) expect(uids[0]).not.toBe(uids[1])
    else expect(process.getuid?.()).not.toBe(0)
  })

  test('has the capabilities of a container and cannot gain more', async () => {
    const status = await run(instance, 'cat /proc/self/status')
    for (const set of ['CapPrm', 'CapEff', 'CapBnd']) expect(status).toMatch(new RegExp(`${set}:\\s+00000000a00405fb`))
    for (const set of ['CapInh', 'CapAmb']) expect(status).toMatch(new RegExp(`${set}:\\s+0000000000000000`))
    expect(status).toMatch(/NoNewPrivs:\s+1/)
    const init = await run(instance, 'cat /proc/1/status')
    for (const set of ['CapPrm', 'CapEff']) expect(init).toMatch(new RegExp(`${set}:\\s+0000000000000000`))
  })

  test('cannot make namespaces, mounts or devices', async () => {
    await expectRefusal('unshare --user --map-root-user true')
    await expectRefusal('unshare --mount true')
    await expectRefusal('unshare --net true')
    await expectRefusal('mount -t tmpfs none /mnt')
    await expectRefusal('mount --bind /root /mnt')
    await expectRefusal('umount /usr')
    await expectRefusal('mount -o remount,rw /usr')
    await expectRefusal('mount -t cgroup2 none /mnt')
    await expectRefusal('mount -t cgroup -o memory none /mnt')
    await expectRefusal('mknod /tmp/disk b 8 0')
    await expectRefusal('mknod /tmp/memory c 1 1')
    await expectRefusal('chroot /proc/1/root/../.. ls /work')
    await expectRefusal('hostname evil')
    expect(hostname()).not.toBe('evil')
  })

  test('sees only the devices of a container', async () => {
    const devices = (await run(instance, 'cd /dev && find . -type c -o -type b | sort')).trim().split('\n')
    expect(
      devices.filter((name) => !/^\.\/(pts\/\d+|null|zero|full|random|urandom|tty|pts\/ptmx|ptmx)$/.test(name)),
    ).toEqual([])
    await expectRefusal('head -c1 /dev/mem')
    await expectRefusal('head -c1 /dev/kmsg')
    await expectRefusal('test -c /dev/kmsg')
  })

  test('cannot see or signal processes of the host', async () => {
    await expectRefusal(`kill -0 ${process.pid}`)
    await expectRefusal(`ls /proc/${process.pid}/cwd/`)
    await expectRefusal(`ls /proc/${process.ppid}/root/`)
    const names = await run(instance, 'ps -eo args')
    expect(names).not.toMatch(/vitest|node|bwrap/)
  })

  test('inherits no open file of the host', async () => {
    const list = 'for it in /proc/self/fd /proc/1/fd; do for file in $it/*; do readlink $file; done; done; true'
    const files = (await run(instance, list)).trim().split('\n')
    expect(files.filter((file) => !/^(\/dev\/null|pipe:\[\d+\]|\/proc\/\d+\/fd)$/.test(file))).toEqual([])
    const terminal = await instance.openTerminal({ command: list, cols: 300, rows: 24 })
    let text = ''
    terminal.onOutput((bytes) => {
      text += bytes.toString()
    })
    await terminal.ended
    const open = text.trim().split('\r\n')
    expect(open.filter((file) => !/^(\/dev\/null|\/dev\/pts\/\d+|\/proc\/\d+\/fd)$/.test(file))).toEqual([])
  })

  test('finds the key of the command marks in no process environment', async () => {
    const env = { [marksKeyVariable]: 'key-of-marks' }
    const terminal = await instance.openTerminal({ command: 'bash', cols: 200, rows: 24, env })
    let text = ''
    terminal.onOutput((bytes) => {
      text += bytes.toString()
    })
    const look = `cat /proc/[0-9]*/environ | tr '\\0' '\\n' | grep -c of-marks; ls /proc/$PPID/fd | grep -c 200`
    await instance.writeFile('/root/look.sh', Buffer.from(look), never)
    terminal.write(Buffer.from('sh /root/look.sh; echo d""one\n'))
    await until('the search', () => text.includes('done'))
    expect(text).toContain('0\r\n0\r\ndone')
    expect(text).toContain(';steward=key-of-marks')
    terminal.close()
    await terminal.ended
  })

  test('starts programs that depend on system settings', async () => {
    expect(await run(instance, 'man -w man')).toMatch(/^\/usr\/share\/man\//)
    expect(await run(instance, 'grep -c ^tty: /etc/group || true')).toBe('0\n')
  })

  test('cannot read files of the host', async () => {
    await expectRefusal(`ls ${data}`)
    await expectRefusal(`cat ${join(data, 'secret')}`)
    await expectRefusal(`cat /proc/1/root${join(data, 'secret')}`)
    await expectRefusal(`cat /proc/1/cwd/../..${join(data, 'secret')}`)
    await expectAppError('file/not-found', instance.readFile(join(data, 'secret'), 1000, never))
    await expectAppError('file/not-found', instance.readFile(`/proc/self/root${join(data, 'secret')}`, 1000, never))
    await expectRefusal(`ls ${process.cwd()}/package.json`)
    expect(await run(instance, 'ls -A /root /home /tmp /opt /srv /mnt')).not.toContain('steward')
    expect(await run(instance, 'grep -c . /etc/shadow || true')).toBe('')
  })

  test('cannot read the environment of the host', async () => {
    const environments = await run(instance, 'env; cat /proc/1/environ /proc/self/environ | tr "\\0" "\\n"')
    expect(environments).not.toContain(secret)
    expect(environments).not.toContain('STEWARD_TEST_SECRET')
  })

  test('has its own loopback and no other network', async () => {
    const interfaces = (await run(instance, "tail -n +3 /proc/net/dev | cut -d: -f1 | tr -d ' '")).trim().split('\n')
    expect(interfaces).toContain('lo')
    expect((await run(instance, 'tail -n +2 /proc/net/route')).trim()).toBe('')
    const server = createServer((socket) => socket.end('host')).listen(0, '0.0.0.0')
    try {
      const port = await getPort(server)
      const ownAddresses = Object.values(networkInterfaces())
        .flatMap((it) => it ?? [])
        .filter((it) => it.family === 'IPv4')
      for (const address of ['127.0.0.1', '127.0.0.2', '0.0.0.0', ...ownAddresses.map((it) => it.address)]) {
        await expectRefusal(`timeout 5 bash -c 'cat < /dev/tcp/${address}/${port}'`)
      }
    } finally {
      await closed(server)
    }
  })

  test('cannot reach host sockets, whether named or abstract', async () => {
    const connect = (path: string): string =>
      `perl -MIO::Socket::UNIX -e '$s = IO::Socket::UNIX->new(Peer => ${path}) or die "refused: $!\\n"; print <$s>'`
    const name = `steward-test-${process.pid}`
    const path = join(data, 'host.sock')
    const servers = [`\0${name}`, path].map((address) => createServer((socket) => socket.end('host')).listen(address))
    try {
      await Promise.all(servers.map((server) => until('the server', () => server.listening)))
      expect(await expectRefusal(connect(`"\\0${name}"`))).toContain('refused')
      expect(await expectRefusal(connect(`"${path}"`))).toContain('refused')
    } finally {
      await Promise.all(servers.map(closed))
    }
  })

  test('cannot reach the hypervisor or the key rings, which namespaces do not cover', async () => {
    expect(
      await expectRefusal(`perl -MSocket -e 'socket($s, 40, SOCK_STREAM, 0) or die "refused: ", $! + 0'`),
    ).toContain('refused: 97')
    const keyctl = process.arch === 'x64' ? 250 : 219
    expect(await expectRefusal(`perl -e 'syscall(${keyctl}, 0, -3, 0) >= 0 or die "refused: ", $! + 0'`)).toContain(
      'refused: 38',
    )
    expect(await run(instance, 'grep Seccomp: /proc/self/status')).toMatch(/\s2\n/)
  })

  test('cannot reach another sandbox', async () => {
    await run(neighbour, 'echo private > /tmp/private')
    const serve = `perl -MIO::Socket -e '$t = IO::Socket::INET->new(LocalAddr => "0.0.0.0", LocalPort => 7070, Listen => 5) or die; $u = IO::Socket::UNIX->new(Local => "\\0neighbour", Listen => 5) or die; print "on\\n"; $| = 1; $c = $t->accept'`
    const server = await neighbour.openTerminal({
      command: serve.replace('print "on', '$| = 1; print "on'),
      cols: 80,
      rows: 24,
    })
    let text = ''
    server.onOutput((bytes) => {
      text += bytes.toString()
    })
    await until('the server', () => text.includes('on'))
    await expectRefusal(`timeout 5 bash -c 'cat < /dev/tcp/127.0.0.1/7070'`)
    await expectRefusal(`perl -MIO::Socket -e 'IO::Socket::UNIX->new(Peer => "\\0neighbour") or die "no"'`)
    await expectRefusal('cat /tmp/private')
    expect(await run(instance, 'ps -eo args')).not.toContain('7070')
    expect(
      await run(instance, 'find / -xdev -name private -path "*/tmp/*" -not -path "/proc/*" 2>/dev/null; true'),
    ).toBe('')
    server.close()
    await server.ended
  })

  test('leaves no setuid program of another user on the host', async () => {
    await run(instance, 'cp /bin/true /root/program && chmod 6755 /root/program')
    const ownFolder = join(folder, instance.id)
    if (instance.enforced.disk) expect((await stat(join(ownFolder, 'disk.ext4'))).mode & 0o777).toBe(0o600)
    else {
      const program = await stat(join(ownFolder, 'files/root/root/program'))
      expect(program.uid).toBe((await findUid(folder, instance.id)) ?? process.getuid?.())
    }
    expect((await stat(folder)).mode & 0o777).toBe(0o700)
  })

  test('cannot inject its own libraries into commands of the host', async () => {
    await run(
      instance,
      'echo /tmp/evil.so > /etc/ld.so.preload; mkdir -p /usr/local/bin; ln -sf /bin/false /usr/local/bin/perl',
    )
    await instance.writeFile('/tmp/through', Buffer.from('in'), never)
    expect((await instance.readFile('/tmp/through', 10, never)).toString()).toBe('in')
    expect(
      await run(instance, 'rm /etc/ld.so.preload /usr/local/bin/perl && grep NoNewPrivs /proc/self/status'),
    ).toContain('1')
  })
})

function getPort(server: Server): Promise<number> {
  return until('the port', () => {
    const address = server.address()
    return typeof address === 'object' && address?.port
  })
}

function closed(server: Server): Promise<void> {
  return new Promise((resolve) => server.close(() => resolve()))
}
