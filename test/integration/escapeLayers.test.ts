import { describe, expect, test } from 'vitest'
import { probeNetwork } from '../../src/main/host/runtimes/bubblewrap/network/networkAbilities.ts'
import { type SandboxLayer, sandboxLayers } from '../../src/main/host/runtimes/bubblewrap/sandboxLayers.ts'
import { type User, users } from '../support/asUser.ts'
import { attack, attackFault } from '../support/attacks/attack.ts'
import { withHostKey } from '../support/attacks/withHostKey.ts'
import { printedInWorld } from '../support/network/inWorld.ts'
import { skipWhen } from '../support/skipWhen.ts'

const noWorld = process.getuid?.() === 0 ? (await probeNetwork()).detail : 'a world of namespaces needs root'
type Attack = (given: { user: User; layers: readonly SandboxLayer[] }) => Promise<void>

const leavesTheNetwork: Attack = async ({ user, layers: left }) => {
  type Seen = { after: { reached: string[] }[] }
  const { after } = await printedInWorld<Seen>('test/support/attacks/networkRun.ts', user, [
    JSON.stringify({ layers: left }),
  ])
  expect(after.length).toBeGreaterThan(0)
  for (const start of after) expect(start.reached, JSON.stringify(start)).toEqual([])
}

const takesAFileOfTheHost: Attack = async (given) => {
  const { before, after, saw } = await attack('ownerOfHostFile', given)
  expect(after, saw).toBe(before)
}

const usesForbiddenCallsInPid1: Attack = async (given) => {
  const { calls, said } = await attack('systemCallsOfPid1', given)
  const untraceable = /^trace\t-\d+$/.test(said)
  const tried = calls.filter(({ name }) => /AF_VSOCK|key|io_uring|userfaultfd|perf_event|bpf/.test(name))
  expect(tried.length > 8 || untraceable, `the attack did not run: ${said}`).toBe(true)
  expect(untraceable ? [] : tried.filter(({ there }) => there >= 0), said).toEqual([])
}

const readsKeysOfOthers: Attack = async (given) => {
  const { one, other, listed } = await attack('keyrings', { ...given, through: withHostKey })
  const found = [...one, ...other].filter(([who, , answer]) => who !== 'trace' && !/^-\d+$/.test(answer ?? ''))
  expect(found).toEqual([])
  expect(listed).not.toMatch(/canary/)
}

const startsTooManyProcesses: Attack = async (given) => {
  const { made, said } = await attack('processesOfPid1', given)
  expect(made || 0, said).toBeLessThan(1024)
}

const attacks: readonly (readonly [name: string, tried: Attack])[] = [
  ['S1: leaving the network that has rules', leavesTheNetwork],
  ['S2: taking a file of the host', takesAFileOfTheHost],
  ['S3: forbidden system calls in PID 1', usesForbiddenCallsInPid1],
  ['S3: keys of the host and of other sandboxes', readsKeysOfOthers],
]

/**
 * What closes a sandbox before anything of it runs, each taken away in turn: the attacks stay refused, since another
 * layer stops them too.
 */
describe.each(users)('where Steward runs as %s', (user) => {
  skipWhen(attackFault)
  const withoutOne = (without: SandboxLayer) => ({ user, layers: sandboxLayers.filter((it) => it !== without) })

  // Each waits for processes of its own: several go on at once.
  describe.concurrent.each(sandboxLayers)('and the layer `%s` is taken away', (without) => {
    for (const [name, tried] of attacks)
      test(`${name} stays refused`, async (context) => {
        if (tried === leavesTheNetwork && noWorld !== null) context.skip(noWorld)
        await tried(withoutOne(without))
      })
  })

  // Some limits count the processes of the user, whichever sandbox they are in: one after the other.
  describe.each(sandboxLayers)('and the layer `%s` is taken away', (without) => {
    test('S3: too many processes stays refused', async (context) => {
      if (without === 'process-limit' && user !== 'root')
        context.skip('where no cgroup counts processes, this limit is all there is')
      await startsTooManyProcesses(withoutOne(without))
    })
  })

  test('without any layer the attacks on PID 1 succeed: what stands above shows something', async () => {
    const { calls, said } = await attack('systemCallsOfPid1', { user, layers: [] })
    expect(
      calls.filter(({ there }) => there >= 0).map(({ name }) => name),
      said,
    ).toEqual(expect.arrayContaining(['socket AF_VSOCK', 'keyctl', 'add_key']))
    const { inPid1 } = await attack('preloadInPid1', { user, layers: [] })
    expect(inPid1).toMatch(/^unshare:\t0$/m)
    const { other } = await attack('keyrings', { user, layers: [], through: withHostKey })
    expect(other.filter(([, key]) => key === 'mark').map(([, , found]) => found)).toContain('of-box')
  })
})
