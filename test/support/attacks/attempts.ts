import { execFileSync } from 'node:child_process'
import { statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { AppError } from '#shared/appError.ts'
import { ImageName } from '#shared/contract/images.ts'
import { until } from '../assertions/eventually.ts'
import { hostRootTar } from '../fixtures/hostRootTar.ts'
import { never } from '../fixtures/sandboxSpecs.ts'
import { compileHere, compileInside, preload, type Stage, type Target } from './stage.ts'

/** Results of a system call from a sandbox command (`here`) and from PID 1 (`there`): -errno on failure. */
export type TriedCall = { name: string; here: number; there: number }

/** S3: makes the system calls from PID 1 that are blocked for sandbox commands. */
export async function systemCallsOfPid1(stage: Stage): Promise<{ calls: TriedCall[]; said: string; status: string }> {
  const target = await stage.make()
  const said = await target.said(await compileInside(target, 'systemCalls', 'program'))
  const calls = splitLines(said).map(([name = '', here, there]) => ({ name, here: Number(here), there: Number(there) }))
  return { calls, said, status: await target.said('grep -E "^(Seccomp|CapEff|NoNewPrivs):" /proc/1/status') }
}

/** S3: reads the session keyrings of the host and of another sandbox. */
export async function keyrings(stage: Stage): Promise<{ one: string[][]; other: string[][]; listed: string }> {
  const [first, second] = [await stage.make(), await stage.make({ hostname: 'other' })]
  const looked: string[][][] = []
  for (const target of [first, second]) {
    const program = await compileInside(target, 'keyring', 'program')
    looked.push(splitLines(await target.said(`${program} of-${target.spec.hostname}`)))
  }
  return { one: looked[0] ?? [], other: looked[1] ?? [], listed: await second.said('cat /proc/keys') }
}

/** S3: forks from PID 1 beyond the sandbox's process limit. */
export async function processesOfPid1(stage: Stage): Promise<{ enforced: boolean; made: number; said: string }> {
  const target = await stage.make()
  const said = await target.said(await compileInside(target, 'processes', 'program'))
  return { enforced: target.machine().enforced.processes, made: Number(splitLines(said)[0]?.[0]), said }
}

/** Detects sandbox code in PID 1. `inPid1` is empty if none ran. */
export async function preloadInPid1(
  stage: Stage,
): Promise<{ loaded: boolean; refused: string | null; inPid1: string }> {
  const target = await stage.make()
  await preload(target, 'preload')
  await target.said('true')
  const loaded = (await target.said('test -e /root/loaded && echo loaded')) === 'loaded'
  const refused = await target.restart()
  return { loaded, refused, inPid1: refused === null ? await target.said('cat /root/in-pid1 2>/dev/null; true') : '' }
}

/** S2: makes root of the host change the owner of a host file to the sandbox. */
export async function ownerOfHostFile(stage: Stage): Promise<{ before: number; after: number; saw: string }> {
  const file = join(stage.folder, 'of-the-host')
  writeFileSync(file, 'of the host', { mode: 0o600 })
  const before = statSync(file).uid
  const target = await stage.make()
  await preload(target, 'owner')
  await target.write('/root/target', file)
  const refused = await target.restart()
  if (refused !== null) return { before, after: statSync(file).uid, saw: refused }
  const moved = await until('the attack in PID 1 to end, if it runs at all', async () => {
    const said = await target.said('cat /root/moved 2>/dev/null; echo .')
    return (said === '.' || said.includes('chroot')) && said
  })
  const terminals = [await openTerminal(target), await openTerminal(target)]
  return { before, after: statSync(file).uid, saw: [moved, ...terminals].join('; ') }
}

/** Tests the host after PID 1 was replaced by a sandbox program or stopped permanently. */
export async function spoiltPid1(
  stage: Stage,
): Promise<{ replaced: string; became: string; held: string; seen: Spoilt[] }> {
  const file = join(stage.folder, 'of-the-host')
  writeFileSync(file, 'of the host', { mode: 0o600 })
  const before = statSync(file).uid
  const [first, second] = [await stage.make(), await stage.make()]
  await first.write('/root/target', file)
  const program = await compileInside(first, 'firstProcess', 'program')
  const replaced = await first.said(`${await compileInside(first, 'replace', 'program')} ${program}`)
  const became = await until('the hostile first process to have tried', async () => {
    const said = await first.said('cat /root/became 2>/dev/null; echo .')
    return (said.includes('chroot') || replaced !== '0') && said
  })
  const holding = `${await compileInside(second, 'hold', 'program')} > /root/held 2>&1 &`
  await second.said(holding)
  const state = await until('PID 1 to stand still, or not', async () => {
    const said = await second.said('cat /root/held; true')
    return said !== '' && said
  })
  const observations: Spoilt[] = []
  for (const target of [first, second]) {
    const terminals = [await openTerminal(target), await openTerminal(target)]
    await target.write('/root/file', 'content')
    const command = await target.said('cat /root/file')
    const ports = await target.machine().listeningPorts()
    const hostname = await target.said('hostname')
    const refused = await target.restart()
    const again = refused ?? (await target.said('cat /root/file'))
    observations.push({ terminals, command, ports, hostname, again, given: statSync(file).uid !== before })
  }
  return { replaced, became, held: state, seen: observations }
}

type Spoilt = {
  terminals: string[]
  command: string
  ports: number[]
  hostname: string
  /** Output of a command after a restart. */
  again: string
  /** Whether the owner of a host file has changed. */
  given: boolean
}

/** Exceeds the process limit of a sandbox, with processes spread over the users of an image. */
export async function processesOfManyUsers(
  stage: Stage,
): Promise<{ enforced: boolean; made: number } | { noImages: string }> {
  const { image_sources: sources, image_detail: detail } = await stage.runtime.describe()
  if (!sources.includes('archive')) return { noImages: detail ?? 'there are no images here' }
  const image = ImageName.parse('small')
  const source = { kind: 'archive', path: await hostRootTar(stage.folder) } as const
  await stage.runtime.images.add({ name: image, source, onProgress: () => {} }, never)
  const target = await stage.make({ image })
  const count = Number(await target.said(`${await compileInside(target, 'processesOfUsers', 'program')} 6 300`))
  return { enforced: target.machine().enforced.processes, made: count }
}

export type CountedByUser = Record<'inside' | 'beside' | 'outside', Record<string, number>>

/**
 * Exhausts per-user kernel resources in one sandbox. Measures what remains for another sandbox and for a program of the
 * user that runs Steward.
 */
export async function perUserLimits(stage: Stage): Promise<CountedByUser> {
  return exhaustAsUser(stage, [await stage.make()])
}

/** Exhausts per-user kernel resources from several sandboxes concurrently. */
export async function perUserLimitsByMany(stage: Stage): Promise<CountedByUser> {
  const attackers: Target[] = []
  while (attackers.length < 5) attackers.push(await stage.make())
  return exhaustAsUser(stage, attackers)
}

async function exhaustAsUser(stage: Stage, attackers: readonly Target[]): Promise<CountedByUser> {
  const victim = await stage.make()
  const program = await compileInside(victim, 'countedByUser', 'program')
  let inside = ''
  const taking: Promise<string>[] = []
  for (const attacker of attackers) {
    await compileInside(attacker, 'countedByUser', 'program')
    taking.push(attacker.said(`mkfifo /root/ends; ${program} take > /root/taken <> /root/ends`))
    inside = await until('it to have taken all it can', async () => {
      const text = await attacker.said('cat /root/taken 2>/dev/null; true')
      return text.includes('files') && text
    })
  }
  const beside = await victim.said(`${program} check`)
  const outside = execFileSync(compileHere('countedByUser', 'program'), ['check']).toString()
  for (const attacker of attackers) await attacker.said('echo > /root/ends')
  await Promise.all(taking)
  return { inside: parseNumbers(inside), beside: parseNumbers(beside), outside: parseNumbers(outside) }
}

function parseNumbers(text: string): Record<string, number> {
  return Object.fromEntries(splitLines(text.trim()).map(([name, value]) => [name, Number(value)]))
}

/** S3: makes system calls of 32-bit programs, from a command and from PID 1. */
export async function oldSystemCalls(stage: Stage): Promise<{ said: string }> {
  const target = await stage.make()
  return { said: await target.said(await compileInside(target, 'oldCalls', 'program')) }
}

/** S6: opens every pseudo-terminal of the host from one sandbox. */
export async function allTerminals(stage: Stage): Promise<{ opened: number; ofAnother: string; afterwards: string }> {
  const [first, second] = [await stage.make(), await stage.make()]
  const holding = first.said(`${await compileInside(first, 'terminals', 'program')} > /root/opened`)
  const opened = await until('it to have opened all it can', async () => {
    const text = await first.machine().readFile('/root/opened', 100, never)
    return text.length > 0 && Number(text)
  })
  const ofAnother = await openTerminal(second)
  await first.write('/root/let-go', '')
  await holding
  return { opened, ofAnother, afterwards: await openTerminal(first) }
}

/** S10: fills the sandbox's in-memory folders beyond its memory limit. */
export async function fullMemoryFolders(stage: Stage): Promise<Record<string, { said: string; goesOn: string }>> {
  const observations: Record<string, { said: string; goesOn: string }> = {}
  for (const folder of ['/run', '/dev', '/dev/shm']) {
    const target = await stage.make()
    const fill = `mkdir -p ${folder}; head -c 700M /dev/zero > ${folder}/full; echo $?; rm -f ${folder}/full`
    const said = await target.said(fill).catch(String)
    observations[folder] = { said, goesOn: await target.said('echo goes on').catch(String) }
  }
  return observations
}

/** Returns the output of `tty` on a new terminal, or the error. */
async function openTerminal(target: Target): Promise<string> {
  try {
    const terminal = await target.machine().openTerminal({ command: 'tty', cols: 80, rows: 24 })
    let text = ''
    terminal.onOutput((bytes) => {
      text += bytes.toString()
    })
    await terminal.ended
    return text.trim()
  } catch (error) {
    return error instanceof AppError ? `${error.code}: ${error.message}` : String(error)
  }
}

function splitLines(text: string): string[][] {
  return text.split('\n').map((line) => line.split('\t'))
}
