import { execFile } from 'node:child_process'
import { open, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { promisify } from 'node:util'
import { AppError } from '#shared/appError.ts'
import { buildPerlScript, formatPerlArgument } from '../perlScript.ts'
import { formatMegabytes, getFreeBytes, reservedBytes } from './hostSpace.ts'
import { buildFileCommand, wrapInRange } from './images/inRange.ts'
import type { SandboxStorage } from './sandboxFolder.ts'

type CopyRequest = {
  from: SandboxStorage
  /** Must not exist yet. May exist in part if the copy fails. */
  to: string
  tools: { perl: string; bwrap: string }
  signal: AbortSignal
}

const execute = promisify(execFile)
const env = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin' }
const copyTimeoutMs = 3_600_000
/** Size of error output at which the copy is aborted. The sandbox controls how many errors occur. */
const maxErrorOutputBytes = 65_536
const limits = { cwd: '/', env, timeout: copyTimeoutMs, killSignal: 'SIGKILL', maxBuffer: maxErrorOutputBytes } as const
/** The minimal capabilities for cp. With more, it could read the memory of the host in /proc. */
const fileCapabilities = ['CHOWN', 'DAC_OVERRIDE', 'DAC_READ_SEARCH', 'FOWNER', 'FSETID', 'MKNOD', 'SETFCAP']
const copying = ['-a', '-T', '--sparse=auto']

/**
 * Shares blocks if the file system supports it. Otherwise holes are preserved. The `cause` of an error holds the
 * details and is for the log only.
 * @throws AppError `file/no-space`, `snapshot/failed`
 */
export async function copyStorage({ from, to, tools, signal }: CopyRequest): Promise<void> {
  const needed = await measureStorage(from)
  const free = await getFreeBytes(dirname(to))
  const enough = free >= needed + reservedBytes
  const cp = ['/bin/cp', ...copying, `--reflink=${enough ? 'auto' : 'always'}`, '--', from.path, to]
  const [program = '', ...rest] =
    from.kind === 'folder' ? await runConfined(cp, { from: from.path, to }, tools) : withParent(tools.perl, cp)
  try {
    await execute(program, rest, { ...limits, signal })
    if (from.kind === 'image') await settle(to)
  } catch (cause) {
    signal.throwIfAborted()
    if (enough && (await getFreeBytes(dirname(to))) >= reservedBytes) throw createCopyError(cause)
    throw createNoSpaceError({ needed, free }, cause)
  }
}

/**
 * Wraps cp to run confined by bwrap. A running sandbox may replace a folder with a link during the copy, but no link
 * resolves to files of the host in this mount namespace. Runs as root of a user namespace for ordinary users, who may
 * not read files that the sandbox has closed to their owner.
 */
async function runConfined(
  cp: readonly string[],
  { from, to }: { from: string; to: string },
  { bwrap }: CopyRequest['tools'],
): Promise<string[]> {
  const programs = ['/usr', '/bin', '/lib', '/lib64'].flatMap((path) => ['--ro-bind-try', path, path])
  // Uses one mount for both, because older kernels cannot share blocks between two mounts.
  const both = findCommonFolder(from, to)
  const view = [
    ...fileCapabilities.flatMap((name) => ['--cap-add', `CAP_${name}`]),
    ...['--unshare-pid', '--proc', '/proc'], // cp uses it to set the modes of closed folders
    ...programs,
    ...['--bind', both, both, '--die-with-parent', '--', ...cp],
  ]
  if (process.getuid?.() === 0) return [bwrap, ...view]
  return (await wrapInRange([bwrap, ...view])) ?? [bwrap, '--unshare-user', '--uid', '0', '--gid', '0', ...view]
}

function findCommonFolder(a: string, b: string): string {
  const names = dirname(b).split('/')
  const differs = a.split('/').findIndex((name, index) => name !== names[index])
  return differs === -1 ? a : names.slice(0, differs).join('/')
}

/** Terminates the command when Steward exits. */
function withParent(perl: string, command: readonly string[]): string[] {
  return [perl, '-e', buildPerlScript('withParent'), formatPerlArgument({ command })]
}

function createNoSpaceError({ needed, free }: { needed: number; free: number }, cause: unknown): AppError {
  const spaceText = `Required: ${formatMegabytes(needed)}, reserved: ${formatMegabytes(reservedBytes)}, free: ${formatMegabytes(free)}`
  return new AppError('file/no-space', `Not enough disk space on this computer. ${spaceText}.`, { cause })
}

/**
 * Creates the error for a failed copy. `cp` refers to files by path, and Linux limits paths to 4,095 bytes, including
 * the folder of the sandbox.
 */
function createCopyError(cause: unknown): AppError {
  const complaint = cause instanceof Error && 'stderr' in cause ? String(cause.stderr) : ''
  const message = complaint.includes('File name too long')
    ? 'Folders are nested too deeply: paths in a snapshot must be shorter than about 4,000 bytes.'
    : 'The files could not be copied.'
  return new AppError('snapshot/failed', message, { cause })
}

/** Measures the disk usage, in bytes. */
export async function measureStorage({ kind, path }: SandboxStorage): Promise<number> {
  if (kind === 'image') return (await stat(path)).blocks * 512
  const [program = '', ...parts] = await buildFileCommand(path, ['du', '-s', '-k', '-x', '--', path])
  const { stdout } = await execute(program, parts, { timeout: copyTimeoutMs }).catch(
    // Excludes folders that the sandbox has closed.
    (error: { stdout?: string }) => ({ stdout: error.stdout ?? '' }),
  )
  return (Number.parseInt(stdout, 10) || 0) * 1024
}

/** Syncs the path to disk, so that it survives a power failure. */
async function settle(path: string): Promise<void> {
  const file = await open(path, 'r+')
  try {
    await file.sync()
  } finally {
    await file.close()
  }
}
