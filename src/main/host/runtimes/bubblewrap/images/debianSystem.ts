import { spawn } from 'node:child_process'
import { chmod, chown, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { AppError } from '#shared/appError.ts'
import { buildPerlScript, formatPerlArgument } from '../../perlScript.ts'
import { findExecutable } from '../hostTools.ts'
import { buildIds } from '../idBlocks.ts'
import { signalGroup } from '../processTable.ts'
import type { Distribution } from './readDistribution.ts'

/**
 * Packages besides those required by apt: dependencies of Steward in a sandbox, and requirements of downloads over TLS.
 */
const ownPackages = ['bash', 'ca-certificates', 'perl-base', 'procps']

/** Progress messages of mmdebstrap, with the completed share. */
const steps: readonly (readonly [said: string, sentence: string, share: number])[] = [
  ['running apt-get update', 'Reading package lists', 0.05],
  ['downloading packages with apt', 'Downloading packages', 0.15],
  ['extracting archives', 'Unpacking packages', 0.35],
  ['installing essential packages', 'Installing the base system', 0.45],
  ['installing remaining packages', 'Installing packages', 0.65],
  ['cleaning package lists', 'Cleaning up', 0.85],
  ['creating tarball', 'Writing the image', 0.9],
]

const lastLines = 6
const isRoot = process.getuid?.() === 0
const endMs = 30_000

type DebianRequest = {
  mmdebstrap: string
  distribution: Distribution
  packages: readonly string[]
  onProgress: (sentence: string, share: number | null) => void
  signal: AbortSignal
}

/**
 * Builds a system of the host's distribution with mmdebstrap and passes its tar to `use`.
 * @throws AppError `image/failed` with the last output of mmdebstrap
 */
export async function buildDebianSystem(request: DebianRequest, use: (tar: Readable) => Promise<void>): Promise<void> {
  const { distribution, packages, signal } = request
  const folder = await mkdtemp(join(tmpdir(), 'steward-image-'))
  try {
    await chmod(folder, 0o755) // for an ordinary user, ids of the subordinate range need access
    const sources = join(folder, distribution.sources.includes('\nURIs:') ? 'own.sources' : 'own.list')
    if (distribution.sources !== '') await writeFile(sources, distribution.sources)
    if (isRoot) await chown(folder, buildIds.first, buildIds.first)
    await run(
      {
        ...request,
        parts: [
          '--mode=unshare',
          '--variant=apt',
          '--format=tar',
          `--include=${[...new Set([...ownPackages, ...packages])].join(',')}`,
          ...['--skip=check/empty', '--aptopt=Acquire::Retries "2"', '--aptopt=Acquire::http::Timeout "30"'],
          distribution.suite,
          '-',
          ...(distribution.sources === '' ? [] : [sources]),
        ],
        folder,
      },
      use,
    )
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
  signal.throwIfAborted()
}

async function run(
  { mmdebstrap, onProgress, signal, parts, folder }: DebianRequest & { parts: string[]; folder: string },
  use: (tar: Readable) => Promise<void>,
): Promise<void> {
  signal.throwIfAborted()
  const [program = '', ...others] = await dropRoot([mmdebstrap, ...parts])
  const child = spawn(program, others, {
    cwd: '/',
    env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C.UTF-8', TMPDIR: folder },
    detached: true, // mmdebstrap signals its whole process group when it is aborted
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const said: string[] = []
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    for (const line of text.split(/[\r\n]+/).filter((it) => it.trim() !== '')) {
      said.push(line.trim())
      if (said.length > lastLines) said.shift()
      const step = steps.find(([words]) => line.includes(words))
      if (step) onProgress(step[1], step[2])
    }
  })
  const ended = new Promise<number | null>((resolve) => {
    child.once('error', () => resolve(null))
    child.once('close', (code) => resolve(code))
  })
  let late: NodeJS.Timeout | undefined
  /** Signals mmdebstrap, which then unmounts and removes its files. */
  const end = (): void => {
    if (child.pid === undefined) return
    const leader = child.pid
    signalGroup(leader, 'SIGTERM')
    late ??= setTimeout(() => signalGroup(leader, 'SIGKILL'), endMs)
  }
  signal.addEventListener('abort', end, { once: true })
  try {
    const used = use(child.stdout).catch((error: unknown) => {
      end()
      throw error
    })
    const [outcome, code] = await Promise.all([Promise.allSettled([used]), ended])
    signal.throwIfAborted()
    if (code !== 0) throw createFailedError(said)
    const [written] = outcome
    if (written.status === 'rejected') throw written.reason
  } finally {
    clearTimeout(late)
    signal.removeEventListener('abort', end)
  }
}

/**
 * Runs mmdebstrap as root of a user namespace, as it does itself for an ordinary user, because package scripts must not
 * run as root of this computer.
 */
async function dropRoot(command: readonly string[]): Promise<readonly string[]> {
  if (!isRoot) return command
  const perl = await findExecutable('perl')
  if (perl === undefined) throw new AppError('image/failed', 'Perl is missing (package perl-base).')
  const ids = `0 ${buildIds.first} ${buildIds.count}`
  return [
    perl,
    '-e',
    buildPerlScript('range', 'inRange'),
    formatPerlArgument({ range: { uids: ids, gids: ids }, command }),
  ]
}

function createFailedError(said: readonly string[]): AppError {
  const missing = said
    .map((line) => /Unable to locate package (\S+)/.exec(line)?.[1])
    .find((name) => name !== undefined)
  if (missing !== undefined)
    return new AppError('image/failed', `The package ${missing} does not exist for this distribution.`)
  const last = said.join('\n')
  const network = /Could not resolve|Could not connect|Failed to fetch|Temporary failure|connection timed out/i.test(
    last,
  )
  const sentence = network
    ? 'The packages could not be downloaded. Check the network connection.'
    : 'mmdebstrap failed.'
  return new AppError('image/failed', `${sentence} Last output: ${last || 'none'}`)
}
