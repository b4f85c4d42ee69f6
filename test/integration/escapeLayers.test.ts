import { describe, expect, test } from 'vitest'
import { probeNetwork } from '#host/runtimes/bubblewrap/network/networkSupport.ts'
import { type SandboxLayer, sandboxLayers } from '#host/runtimes/bubblewrap/sandboxLayers.ts'
import { networksClosedToSandboxes } from '#platform/net/specialAddresses.ts'
import { suiteForm } from '#scripts/suiteForms.ts'
import { attack, attackFault, attacks } from '../support/attacks/attack.ts'
import { withHostKey } from '../support/attacks/withHostKey.ts'
import { runInWorld } from '../support/network/inWorld.ts'
import { type User, users } from '../support/processes/runAsUser.ts'
import { skipWhen } from '../support/runner/skipWhen.ts'

const noWorld =
  process.getuid?.() === 0 ? (await probeNetwork(networksClosedToSandboxes)).detail : 'a world of namespaces needs root'
type AttackOptions = { user: User; layers: readonly SandboxLayer[] }

async function leavesTheNetwork({ user, layers }: AttackOptions): Promise<void> {
  type Observation = { after: { reached: string[] }[] }
  const { after } = await runInWorld<Observation>('test/support/attacks/networkRun.ts', user, [
    JSON.stringify({ layers }),
  ])
  expect(after.length).toBeGreaterThan(0)
  for (const start of after) expect(start.reached, JSON.stringify(start)).toEqual([])
}

/** Starts the attacks once for each removed layer. */
const startTogether = (options: AttackOptions) =>
  attacks(['ownerOfHostFile', 'systemCallsOfPid1', 'keyrings'], { ...options, through: withHostKey })
type Tried = ReturnType<typeof startTogether>

async function takesAFileOfTheHost(tried: Tried): Promise<void> {
  const { before, after, saw } = await tried('ownerOfHostFile')
  expect(after, saw).toBe(before)
}

async function usesForbiddenCallsInPid1(attempts: Tried): Promise<void> {
  const { calls, said } = await attempts('systemCallsOfPid1')
  const untraceable = /^trace\t-\d+$/.test(said)
  const tried = calls.filter(({ name }) => /AF_VSOCK|key|io_uring|userfaultfd|perf_event|bpf/.test(name))
  expect(tried.length > 8 || untraceable, `the attack did not run: ${said}`).toBe(true)
  expect(untraceable ? [] : tried.filter(({ there }) => there >= 0), said).toEqual([])
}

async function readsKeysOfOthers(tried: Tried): Promise<void> {
  const { one: first, other: second, listed } = await tried('keyrings')
  const unexpected = [...first, ...second].filter(
    ([call, , answer]) => call !== 'trace' && !/^-\d+$/.test(answer ?? ''),
  )
  expect(unexpected).toEqual([])
  expect(listed).not.toMatch(/canary/)
}

async function startsTooManyProcesses(options: AttackOptions): Promise<void> {
  const { made: count, said } = await attack('processesOfPid1', options)
  expect(count || 0, said).toBeLessThan(1024)
}

/** Layers that work differently for an unprivileged user: per user, per user namespace, or with another network. */
const layersOfUsers = sandboxLayers.filter((layer) =>
  ['user-namespaces', 'process-limit', 'no-raw-sockets', 'frame-rules'].includes(layer),
)

/**
 * Removes each layer that confines a sandbox before any of its programs run. The attacks must still fail, because
 * another layer also stops them.
 */
describe.each(users)('where Steward runs as %s', (user) => {
  skipWhen(attackFault)
  const layers = user === 'root' || suiteForm.hasAllLayersOfUsers ? sandboxLayers : layersOfUsers
  const withoutOne = (without: SandboxLayer) => ({ user, layers: sandboxLayers.filter((it) => it !== without) })

  // Tests wait for separate processes, so several run concurrently.
  describe.concurrent.each(layers)('and the layer `%s` is removed', (without) => {
    const tried = startTogether(withoutOne(without))
    test('S1: refuses to leave the network that has rules', async (context) => {
      if (noWorld !== null) context.skip(noWorld)
      await leavesTheNetwork(withoutOne(without))
    })
    test('S2: refuses to take over a host file', () => takesAFileOfTheHost(tried))
    test('S3: refuses forbidden system calls in PID 1', () => usesForbiddenCallsInPid1(tried))
    test('S3: refuses access to keys of the host and of other sandboxes', () => readsKeysOfOthers(tried))
  })

  // Some limits count the processes of the user across all sandboxes, so these tests run sequentially.
  describe.each(layers)('and the layer `%s` is removed', (without) => {
    test('S3: refuses too many processes', async (context) => {
      if (without === 'process-limit' && user !== 'root')
        context.skip('where no cgroup counts processes, this limit is all there is')
      await startsTooManyProcesses(withoutOne(without))
    })
  })

  test('attacks on PID 1 succeed without any layer, which validates the tests above', async () => {
    const { calls, said } = await attack('systemCallsOfPid1', { user, layers: [] })
    expect(
      calls.filter(({ there }) => there >= 0).map(({ name }) => name),
      said,
    ).toEqual(expect.arrayContaining(['socket AF_VSOCK', 'keyctl', 'add_key']))
    const { inPid1 } = await attack('preloadInPid1', { user, layers: [] })
    expect(inPid1).toMatch(/^unshare:\t0$/m)
    const { other: second } = await attack('keyrings', { user, layers: [], through: withHostKey })
    expect(second.filter(([, key]) => key === 'mark').map(([, , answer]) => answer)).toContain('of-box')
  })
})
