import { writeFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { type AddressInfo, connect } from 'node:net'
import { join } from 'node:path'
import { createServer } from 'node:tls'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createDockerRuntime } from '#host/runtimes/docker/dockerRuntime.ts'
import type { SandboxRuntime } from '#host/runtimes/sandboxRuntime.ts'
import { silentLog } from '#platform/logging/log.ts'
import { ImageName } from '#shared/contract/images.ts'
import { until } from '../support/assertions/eventually.ts'
import { createImageRegistry } from '../support/fakes/imageRegistry.ts'
import { createTar, type Member, programHead } from '../support/fixtures/imageArchives.ts'
import { createSandboxSpec, expectAppError, never, run } from '../support/fixtures/sandboxSpecs.ts'
import { temporaryFolder } from '../support/fixtures/temporaryFolder.ts'
import { type Podman, podmanFault, startPodman } from '../support/processes/podman.ts'
import { runningService } from '../support/processes/runningService.ts'
import { testTls } from '../support/tls/tlsFiles.ts'
import { sandboxRuntimeContract } from './sandboxRuntime.ts'

const fault = podmanFault()
let podman: Podman

const createRuntime = (changes: { image?: string; pull?: boolean; folder?: string } = {}): SandboxRuntime => {
  const { image = podman.image, pull = false, folder = join(temporaryFolder('runtime'), 'docker') } = changes
  const docker = { endpoint: podman.endpoint, tls: null, image, pull }
  return createDockerRuntime({ folder, docker, log: silentLog, now: Date.now })
}
const spec = (changes: Parameters<typeof createSandboxSpec>[0] = {}) =>
  createSandboxSpec({ runtime: 'docker', ...changes })

describe.skipIf(fault !== undefined)(`Podman${fault === undefined ? '' : `, skipped: ${fault}`}`, () => {
  beforeAll(async () => {
    podman = await startPodman()
  })
  afterAll(() => podman?.close())

  sandboxRuntimeContract('docker', async () => {
    const runtime = createRuntime()
    return {
      runtime,
      image: null,
      sharesPrograms: false,
      fillsHoles: true,
      async close() {
        expect(await runtime.listStored()).toEqual([])
        expect(podman.run('ps', '--all', '--quiet')).toBe('')
        expect(podman.run('images', '--format', '{{.Repository}}')).toBe('localhost/base\n')
      },
    }
  })

  test('leaves containers of other programs and other Steward instances unchanged', async () => {
    podman.run('create', '--name', 'foreign', '--label', 'steward.data=0123456789abcdef', podman.image, 'true')
    const [first, second] = [createRuntime(), createRuntime()]
    const instance = await first.create(spec(), never)
    await second.sweep()
    await second.remove(instance.id)
    expect(await second.listStored()).toEqual([])
    await expectAppError('sandbox/not-found', second.start(spec({ id: instance.id }), never))
    expect(await run(instance, 'echo untouched')).toBe('untouched\n')
    await instance.stop()
    await first.remove(instance.id)
    expect(podman.run('ps', '--all', '--format', '{{.Names}}')).toBe('foreign\n')
    podman.run('rm', 'foreign')
  })

  test('gives a container minimal privileges and enforces its limits', async () => {
    const runtime = createRuntime()
    const machine = await runtime.create(spec({ memoryMb: 600, vcpu: 2 }), never)
    expect(machine.enforced).toEqual({ memory: true, cpu: true, processes: true, disk: false })
    const status = await run(machine, 'grep -E "^(CapBnd|CapEff|NoNewPrivs|Seccomp):" /proc/self/status')
    expect(status.replaceAll('\t', '')).toBe(
      'CapEff:00000000a00405fb\nCapBnd:00000000a00405fb\nNoNewPrivs:1\nSeccomp:2\n',
    )
    await expect(run(machine, 'mount -t tmpfs none /mnt')).rejects.toThrow()
    expect(await run(machine, 'tail -n 1 /root/.bashrc')).toContain('/etc/profile.d/steward-marks.sh')
    await expect(run(machine, 'echo x > /proc/sysrq-trigger')).rejects.toThrow()
    expect(await run(machine, 'ls /sys/class/net')).toBe('lo\n')
    const hog = await machine.exec({
      command: `perl -e 'my @all; push @all, "x" x 10_000_000 while 1'`,
      timeoutMs: 120_000,
      signal: never,
    })
    expect(hog.exitCode).toBe(137)
    expect(await run(machine, 'echo alive')).toBe('alive\n')
    const bomb = 'for each in $(seq 3000); do sleep 1000 & done 2>/dev/null; true'
    await machine.exec({ command: bomb, timeoutMs: 5_000, signal: never })
    expect((await machine.usage()).processes).toBeLessThanOrEqual(1024)
    await machine.stop()
    await runtime.remove(machine.id)
  })

  test('applies a changed host name and network on the next start', async () => {
    const runtime = createRuntime()
    const first = spec({ hostname: 'before' })
    const machine = await runtime.create(first, never)
    await run(machine, 'echo kept > /root/kept')
    for (const [hostname, network] of [
      ['after', 'open'],
      ['last', 'none'],
    ] as const) {
      await (hostname === 'after' ? machine.stop() : undefined)
      const changed = await runtime.start({ ...first, hostname, network }, never)
      expect(await run(changed, 'hostname; cat /root/kept')).toBe(`${hostname}\nkept\n`)
      expect(await run(changed, 'ls /sys/class/net | wc -l')).toBe(network === 'open' ? '2\n' : '1\n')
      await changed.stop()
    }
    await expectAppError('egress/unavailable', runtime.start({ ...first, network: 'internet' }, never))
    await runtime.remove(first.id)
    expect(podman.run('images', '--format', '{{.Repository}}')).toBe('localhost/base\n')
  })

  describe('images', () => {
    test('are added from an archive and from a registry, and removed', async () => {
      const runtime = createRuntime({ image: 'localhost/none:latest' })
      const layout = join(temporaryFolder('layout'), 'layout')
      podman.run('save', '--quiet', '--format', 'oci-dir', '--output', layout, podman.image)
      const archive = join(temporaryFolder('archive'), 'base.tar')
      podman.run('save', '--quiet', '--output', archive, podman.image)
      const registry = await createImageRegistry(layout)
      const exitCodes: (number | null)[] = []
      const onProgress = (_: string, share: number | null): void => void exitCodes.push(share)
      const add = (name: string, source: Parameters<typeof runtime.images.add>[0]['source']) =>
        runtime.images.add({ name, source, onProgress }, never)
      try {
        const saved = await add('saved', { kind: 'archive', path: archive })
        expect(saved).toMatchObject({ name: 'saved', runtime: 'docker', status: 'ready' })
        expect(saved.sizeBytes).toBeGreaterThan(20_000_000)
        expect(exitCodes).toContain(1)
        await add('pulled', { kind: 'registry', reference: registry.reference })
        await add('unpacked', { kind: 'archive', path: podman.baseFile })
        expect((await runtime.images.list()).map(({ name }) => name).toSorted()).toEqual([
          'pulled',
          'saved',
          'unpacked',
        ])
        expect(podman.run('images', '--format', '{{.Repository}}')).not.toContain('127.0.0.1')
        await expectAppError('image/exists', add('saved', { kind: 'archive', path: archive }))
        for (const image of ['pulled', 'unpacked']) {
          const machine = await runtime.create(spec({ image }), never)
          expect(await run(machine, 'echo made of it')).toBe('made of it\n')
          await machine.stop()
          await runtime.remove(machine.id)
        }
        const refused = registry.reference.replace('/small:', '/other:')
        await expectAppError('image/failed', add('none', { kind: 'registry', reference: refused }))
        await expectAppError('image/source', add('none', { kind: 'archive', path: '/etc/passwd' }))
        await expectAppError('image/source', add('none', { kind: 'archive', path: '/no/such/file' }))
        await expectAppError('image/source', add('none', { kind: 'system', packages: [] }))
        await expectAppError('image/not-found', runtime.create(spec({ image: 'none' }), never))
        await expectAppError('image/not-found', runtime.create(spec(), never))
        for (const name of ['pulled', 'saved', 'unpacked']) await runtime.images.remove(name)
        await runtime.images.remove('pulled')
        expect(await runtime.images.list()).toEqual([])
        expect(await runtime.listStored()).toEqual([])
      } finally {
        await registry.close()
      }
    })

    test('are rejected with a reason and without leftovers when no sandbox could use them', async () => {
      const runtime = createRuntime()
      const folder = temporaryFolder('archive')
      const add = (path: string) =>
        runtime.images.add({ name: ImageName.parse('poor'), source: { kind: 'archive', path }, onProgress() {} }, never)
      const archive = async (file: string, members: readonly Member[]) => {
        await writeFile(join(folder, file), await createTar(members))
        return join(folder, file)
      }
      const before = podman.run('images', '--all', '--quiet')

      podman.run('run', '--name', 'poor', podman.image, 'rm', '/usr/bin/bash')
      podman.run('export', '--output', join(folder, 'poor.tar'), 'poor')
      podman.run('rm', 'poor')
      const perl = { name: 'usr/bin/perl', mode: 0o755 }
      const [architecture, platform] =
        process.arch === 'x64' ? (['arm64', 'arm64'] as const) : (['x64', 'amd64'] as const)
      const otherArchive = await archive('other.tar', [{ ...perl, content: programHead({ architecture }) }])
      podman.run('import', '--quiet', '--arch', platform, otherArchive, 'localhost/foreign')
      podman.run('save', '--quiet', '--output', join(folder, 'foreign.tar'), 'localhost/foreign')
      podman.run('rmi', 'localhost/foreign')
      const refused: [path: string, sentence: RegExp][] = [
        [join(folder, 'poor.tar'), /has no bash/],
        [await archive('empty.tar', [{ name: 'etc/nothing', content: '' }]), /has no perl/],
        [join(folder, 'foreign.tar'), /built for a\w+64, but this computer has a\w+64/],
        [await archive('silent.tar', [{ ...perl, content: programHead() }]), /did not start/],
      ]
      for (const [path, message] of refused) {
        await expect(add(path)).rejects.toMatchObject({
          code: 'image/failed',
          message: expect.stringMatching(message),
        })
      }
      expect(await runtime.images.list()).toEqual([])
      expect(await runtime.listStored()).toEqual([])
      expect(podman.run('images', '--all', '--quiet')).toBe(before)
      expect(podman.run('ps', '--all', '--quiet')).toBe('')
    })

    test('are pulled for the first sandbox that needs them if pulling is allowed', async () => {
      const layout = join(temporaryFolder('layout'), 'layout')
      podman.run('save', '--quiet', '--format', 'oci-dir', '--output', layout, podman.image)
      const registry = await createImageRegistry(layout)
      try {
        const runtime = createRuntime({ image: registry.reference, pull: true })
        expect((await runtime.describe()).detail).toContain('will be pulled when the first sandbox needs it')
        const machine = await until('it to be fetched', () =>
          runtime.create(spec(), never).catch((error: unknown) => {
            if (error instanceof Error && 'code' in error && error.code === 'image/not-ready') return undefined
            throw error
          }),
        )
        expect(await run(machine, 'echo fetched')).toBe('fetched\n')
        await machine.stop()
        await runtime.remove(machine.id)
        podman.run('rmi', registry.reference)
        const refused = createRuntime({ image: registry.reference.replace('/small:', '/other:'), pull: true })
        await expectAppError('image/failed', refused.create(spec(), never))
      } finally {
        await registry.close()
      }
    })
  })

  test('connects to a remote engine over TLS with the configured certificates only', async () => {
    const folder = temporaryFolder('tls')
    const file = (name: string, content: string): string => {
      writeFileSync(join(folder, name), content)
      return join(folder, name)
    }
    const pem = { caFile: file('ca.pem', testTls.cert), certFile: file('cert.pem', testTls.cert) }
    const tls = { ...pem, keyFile: file('key.pem', testTls.key) }
    const served = { ...testTls, ca: testTls.cert, requestCert: true, rejectUnauthorized: true }
    const proxy = createServer(served, (outside) => {
      const inside = connect(podman.socketPath)
      outside.pipe(inside).pipe(outside)
      for (const [architecture, foreign] of [
        [outside, inside],
        [inside, outside],
      ] as const) {
        architecture.on('error', () => {})
        architecture.once('close', () => foreign.destroy())
      }
    })
    proxy.on('tlsClientError', () => {})
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
    const { port } = proxy.address() as AddressInfo // the server listens on TCP
    const endpoint = `tcp://127.0.0.1:${port}`
    try {
      const docker = { endpoint, tls, image: podman.image, pull: false }
      const runtime = createDockerRuntime({ folder: join(folder, 'own'), docker, log: silentLog, now: Date.now })
      const machine = await runtime.create(spec(), never)
      expect(await run(machine, 'seq 100000 | tail -n 1')).toBe('100000\n')
      await machine.stop()
      await runtime.remove(machine.id)
      const plain = { folder: join(folder, 'own'), docker: { ...docker, tls: null }, log: silentLog, now: Date.now }
      expect(await createDockerRuntime(plain).describe()).toMatchObject({ available: false })
    } finally {
      await new Promise((resolve) => proxy.close(resolve))
    }
  })

  test('serves the sandbox API over REST', async () => {
    const service = await runningService({ runtimes: ['docker'], runtimeOf: ({ folder }) => createRuntime({ folder }) })
    try {
      const request = async (path: string, body: unknown) => {
        const answer = await service.send(path, { body })
        expect(answer.status, answer.text).toBeLessThan(300)
        return answer.json
      }
      const { id } = await request('/v1/sandboxes', { name: 'in a container', runtime: 'docker' })
      const sandbox = `/v1/sandboxes/${id}`
      expect((await service.send(sandbox)).json).toMatchObject({ runtime: 'docker', status: 'running' })
      expect(await request(`${sandbox}/exec`, { command: 'hostname; exit 3' })).toMatchObject({
        stdout: 'in-a-container\n',
        exit_code: 3,
      })
      await request(`${sandbox}/files`, { path: '/root/page', content: 'a page' })
      expect((await service.send(`${sandbox}/files/read?path=/root/page`)).json.content).toBe('a page')
      const terminal = await request(`${sandbox}/pty`, { command: 'cat', cols: 80, rows: 24 })
      await request(`${sandbox}/pty/${terminal.session_id}/write`, { input: 'typed\n' })
      await until('the echo', async () =>
        (await service.send(`${sandbox}/pty/${terminal.session_id}/read`)).text.includes('typed\\ntyped'),
      )
      const answer = `print {$c} "HTTP/1.0 200 OK\\r\\n\\r\\nfrom a container"`
      const server = `$s = IO::Socket::INET->new(LocalAddr => "127.0.0.1", LocalPort => 3000, Listen => 9); while ($c = $s->accept) { 1 while ($l = <$c>) =~ /\\S/; ${answer}; close $c }`
      const serving = `setsid perl -MIO::Socket::INET -e '${server}' >/dev/null 2>&1 </dev/null &`
      await request(`${sandbox}/exec`, { command: serving })
      const { url } = await request(`${sandbox}/ports`, { port: 3000, visibility: 'public' })
      const { hostname, port } = new URL(url)
      await until('the page', async () => {
        const page = await service.send('/', { key: null, headers: { host: `${hostname}:${port}` } })
        return page.text === 'from a container'
      })
      const snapshot = await request(`${sandbox}/snapshots`, { name: 'kept' })
      await request(`${sandbox}/exec`, { command: 'rm /root/page' })
      await request(`${sandbox}/snapshots/${snapshot.id}/restore`, {})
      await until('it to run again', async () => (await service.send(sandbox)).json.status === 'running')
      expect(await request(`${sandbox}/exec`, { command: 'cat /root/page' })).toMatchObject({ stdout: 'a page' })
      expect((await service.send(sandbox, { method: 'DELETE' })).status).toBe(200)
      expect(podman.run('ps', '--all', '--quiet')).toBe('')
    } finally {
      await service.close()
    }
  })

  test('ends sandboxes when the engine stops and finds them after it restarts', async () => {
    const runtime = createRuntime()
    const ownSpec = spec()
    const machine = await runtime.create(ownSpec, never)
    await run(machine, 'echo kept > /root/kept')
    const pending = machine.exec({ command: 'sleep 1000', timeoutMs: 600_000, signal: never }).catch(() => undefined)
    await podman.kill()
    expect(await machine.ended).toContain('engine')
    await pending
    await expectAppError('sandbox/not-running', machine.exec({ command: 'true', timeoutMs: 1000, signal: never }))
    await machine.stop()
    expect(await runtime.describe()).toMatchObject({ available: false, detail: expect.stringContaining('Podman') })
    await expectAppError('runtime/unavailable', runtime.create(spec(), never))
    await expectAppError('runtime/unavailable', runtime.remove(ownSpec.id))
    await runtime.remove(spec().id)
    await runtime.sweep()
    expect(await runtime.listStored()).toEqual([ownSpec.id])
    await podman.start()
    await runtime.sweep()
    const again = await runtime.start(ownSpec, never)
    expect(await run(again, 'cat /root/kept')).toBe('kept\n')
    podman.run('kill', '--all')
    expect(await again.ended).toContain('killed')
    await runtime.remove(ownSpec.id)
    expect(await runtime.listStored()).toEqual([])
  })
})
