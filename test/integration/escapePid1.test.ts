import { describe, expect, test } from 'vitest'
import { attackFault, attacks } from '../support/attacks/attack.ts'
import { withHostKey } from '../support/attacks/withHostKey.ts'
import { users } from '../support/processes/runAsUser.ts'
import { skipWhen } from '../support/runner/skipWhen.ts'

/**
 * EPERM, EACCES, ENOSPC (no more user namespaces), ENOSYS and EAFNOSUPPORT. Other errors only show that the request was
 * malformed.
 */
const refusals = new Set([1, 13, 28, 38, 97].map((errno) => -errno))
const [noKeyring, noKey] = ['-38', '-126']
const maxProcesses = 1024

describe.each(users)('PID 1 of a sandbox, where Steward runs as %s,', (user) => {
  skipWhen(attackFault)
  const attack = attacks(
    [
      'systemCallsOfPid1',
      'preloadInPid1',
      'keyrings',
      'processesOfPid1',
      'ownerOfHostFile',
      'oldSystemCalls',
      'spoiltPid1',
    ],
    { user, through: withHostKey },
  )

  test('refuses every system call that sandbox commands are refused', async () => {
    const { calls, said, status } = await attack('systemCallsOfPid1')
    const untraceable = /^trace\t-\d+$/.test(said)
    expect(calls.length > 20 || untraceable, `the attack did not run: ${said}`).toBe(true)
    const passed = untraceable ? [] : calls.filter(({ here, there }) => !refusals.has(here) || !refusals.has(there))
    expect(passed, said).toEqual([])
    expect(status).toMatch(/^Seccomp:\t2$/m)
    expect(status).toMatch(/^NoNewPrivs:\t1$/m)
    expect(status).toMatch(/^CapEff:\t0{16}$/m)
  })

  test('loads no library listed in the /etc/ld.so.preload of the sandbox', async () => {
    const { loaded, refused, inPid1 } = await attack('preloadInPid1')
    expect(loaded, 'no program of the sandbox loads the library: the attack shows nothing').toBe(true)
    expect(refused).toBeNull()
    expect(inPid1).toBe('')
  })

  test('has a session keyring that the host and other sandboxes do not share', async () => {
    const { one: first, other: second, listed } = await attack('keyrings')
    for (const [name, looked] of Object.entries({ one: first, other: second })) {
      const tries = looked.filter(([call]) => call !== 'trace')
      expect(tries.length === 4 || looked[0]?.[0] === 'trace', JSON.stringify(looked)).toBe(true)
      for (const [call, key, answer] of tries)
        expect([noKeyring, noKey], `${name}: ${call} found the key ${key}: ${answer}`).toContain(answer)
    }
    expect(listed).not.toMatch(/canary|mark/)
  })

  test('cannot be used to exceed the process limit of the sandbox', async () => {
    const { enforced, made: count, said } = await attack('processesOfPid1')
    expect(enforced, 'the limit of processes is said not to hold here').toBe(true)
    expect(count >= 0 || /^trace\t/.test(said), `the attack did not run: ${said}`).toBe(true)
    expect(count || 0, said).toBeLessThan(maxProcesses)
  })

  test('cannot lead host root to hand a host file to the sandbox', async () => {
    const { before, after, saw } = await attack('ownerOfHostFile')
    expect(after, saw).toBe(before)
    expect(saw).toMatch(/\/dev\/pts\/\d+; \/dev\/pts\/\d+$/)
  })
  test('refuses the system calls of 32-bit programs', async () => {
    const { said } = await attack('oldSystemCalls')
    expect(said).toMatch(/^here\t(-38|none)$/m)
    expect(said).toMatch(/^there\t(-38|none)$|^trace\t-\d+$/m)
  })

  test('may become hostile or stop while the host uses its pinned references', async () => {
    const { replaced, became, held: state, seen: observations } = await attack('spoiltPid1')
    expect(replaced, 'PID 1 did not become the program').toMatch(/^(0|trace\t-\d+)$/)
    expect(state, 'PID 1 was not held').toMatch(/^(held|trace\t-\d+)$/)
    expect(became).not.toMatch(/^[\w ]+\t0$/m)
    expect(observations.length).toBe(2)
    for (const { terminals, command, ports, hostname, again, given: isChanged } of observations) {
      for (const terminal of terminals) expect(terminal, became).toMatch(/^\/dev\/pts\/\d+$/)
      expect({ command, ports, hostname, again, given: isChanged }).toEqual({
        command: 'content',
        ports: [],
        hostname: 'box',
        again: 'content',
        given: false,
      })
    }
  })
})

describe.each(users)('PID 1 of a warm sandbox, where Steward runs as %s,', (user) => {
  skipWhen(attackFault)
  const attack = attacks(['systemCallsOfPid1', 'keyrings', 'processesOfPid1', 'ownerOfHostFile'], {
    user,
    fromWarmPool: true,
    through: withHostKey,
  })

  test('refuses the same system calls and shares no key', async () => {
    const { calls, said } = await attack('systemCallsOfPid1')
    expect(calls.length > 20 || /^trace\t-\d+$/.test(said), `the attack did not run: ${said}`).toBe(true)
    expect(calls.filter(({ here, there }) => here >= 0 || there >= 0)).toEqual([])
    const { one: first, other: second } = await attack('keyrings')
    expect(
      [...first, ...second].filter(([call, , answer]) => call !== 'trace' && !/^-\d+$/.test(answer ?? '')),
    ).toEqual([])
  })

  test('cannot be used to exceed the process limit or to obtain a host file', async () => {
    const { made: count, said } = await attack('processesOfPid1')
    expect(count || 0, said).toBeLessThan(maxProcesses)
    const { before, after, saw } = await attack('ownerOfHostFile')
    expect(after, saw).toBe(before)
  })
})
