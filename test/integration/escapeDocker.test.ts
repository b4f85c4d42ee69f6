import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createDockerRuntime } from '#host/runtimes/docker/dockerRuntime.ts'
import type { SandboxInstance, SandboxRuntime } from '#host/runtimes/sandboxRuntime.ts'
import { silentLog } from '#platform/logging/log.ts'
import { until } from '../support/assertions/eventually.ts'
import { testRuntime } from '../support/fixtures/bubblewrapSandboxes.ts'
import { createSandboxSpec, never, run } from '../support/fixtures/sandboxSpecs.ts'
import { temporaryFolder } from '../support/fixtures/temporaryFolder.ts'
import { type Podman, podmanFault, startPodman } from '../support/processes/podman.ts'
import { skipWhen } from '../support/runner/skipWhen.ts'

const fault = podmanFault()
const mark = 'private-to-one'
const serve = [
  `my $tcp = IO::Socket::INET->new(LocalAddr => "0.0.0.0", LocalPort => 7171, Listen => 5) or die "tcp: $!";`,
  `my $abstract = IO::Socket::UNIX->new(Local => "\\0${mark}", Listen => 5) or die "unix: $!";`,
  `fork and exit; $0 = "${mark}"; sleep 1000`,
].join(' ')
const look: Readonly<Record<string, string>> = {
  files: `ls -d /tmp/${mark} /root/${mark} /dev/shm/${mark}`,
  processes: `ps -eo args | grep -a '[p]rivate-to-one'`,
  port: `timeout 5 bash -c 'exec 3<>/dev/tcp/127.0.0.1/7171'`,
  'abstract socket': `perl -MIO::Socket::UNIX -e 'IO::Socket::UNIX->new(Peer => "\\0${mark}") or exit 1'`,
  'shared memory': `perl -e 'shmget(0x5355, 4096, 0) // exit 1'`,
  keys: `grep ${mark} /proc/keys`,
}

describe('a container and a bubblewrap sandbox, side by side,', () => {
  let podman: Podman
  const sandboxes: { runtime: SandboxRuntime; machine: SandboxInstance }[] = []

  skipWhen(fault)
  beforeAll(async () => {
    if (fault !== undefined) return
    podman = await startPodman()
    const data = temporaryFolder('beside')
    const ground = { log: silentLog, now: Date.now }
    const docker = { endpoint: podman.endpoint, tls: null, image: podman.image, pull: false }
    const runtimes = [
      testRuntime({ folder: join(data, 'machines'), ...ground }),
      createDockerRuntime({ folder: join(data, 'docker'), docker, ...ground }),
    ]
    for (const runtime of runtimes)
      sandboxes.push({ runtime, machine: await runtime.create(createSandboxSpec({ runtime: runtime.name }), never) })
  })
  afterAll(async () => {
    for (const { runtime, machine: instance } of sandboxes) {
      await instance.stop('discard')
      await runtime.remove(instance.id)
    }
    await podman?.close()
  })

  test.each([
    ['the container', 'the sandbox', 0],
    ['the sandbox', 'the container', 1],
  ])('%s sees nothing of %s', async (_seer, _owner, owner) => {
    const neighbour = sandboxes[owner]?.machine
    const seer = sandboxes[1 - owner]?.machine
    if (!neighbour || !seer) throw new Error('One of the two was not made.')
    await run(neighbour, `for place in /tmp /root /dev/shm; do echo ${mark} > $place/${mark}; done`)
    await run(
      neighbour,
      `perl -MIO::Socket::INET -MIO::Socket::UNIX -e '${serve}' >/dev/null 2>/tmp/said; cat /tmp/said`,
    )
    await run(neighbour, `perl -e 'shmget(0x5355, 4096, 01666) // die'`)
    const hasMatch = async (machine: SandboxInstance, command: string): Promise<boolean> =>
      (await machine.exec({ command, timeoutMs: 60_000, signal: never })).exitCode === 0
    for (const kind of Object.keys(look).filter((it) => it !== 'keys'))
      await until(`${kind} to be seen by its owner: else the test shows nothing`, () =>
        hasMatch(neighbour, look[kind] ?? ''),
      )
    for (const [kind, command] of Object.entries(look)) expect(await hasMatch(seer, command), kind).toBe(false)
    const namespaces = 'for it in user mnt net pid ipc uts; do readlink /proc/self/ns/$it; done'
    const [ownNamespaces, others] = await Promise.all([run(seer, namespaces), run(neighbour, namespaces)])
    const shared = ownNamespaces.split('\n').filter((part) => part !== '' && others.split('\n').includes(part))
    expect(shared.filter((it) => !it.startsWith('user:'))).toEqual([])
    await run(neighbour, `rm -f /tmp/${mark} /root/${mark} /dev/shm/${mark}; pkill -f '^${mark}'`)
    await run(neighbour, `perl -e 'shmctl(shmget(0x5355, 4096, 0), 0, 0) // die'`)
  })
})
