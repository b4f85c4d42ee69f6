import { execFile } from 'node:child_process'
import { open, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { promisify } from 'node:util'
import { AppError } from '#shared/appError.ts'
import { buildPerlScript, formatPerlArgument } from '../perlScript.ts'
import { formatMegabytes, getFreeBytes, reservedBytes } from './hostSpace.ts'
import { buildFileCommand, wrapInRange } from './images/inRange.ts'
import type { SandboxStorage } from './machineFolder.ts'

type CopyRequest = {
  from: SandboxStorage
  /** Is not there yet; may be there in part when it fails. */
  to: string
  tools: { perl: string; bwrap: string }
  signal: AbortSignal
}

const execute = promisify(execFile)
const env = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin' }
const copyMs = 3_600_000
/** Error output at which the copy is aborted: a sandbox decides how many errors there are. */
const complaintBytes = 65_536
const limits = { cwd: '/', env, timeout: copyMs, killSignal: 'SIGKILL', maxBuffer: complaintBytes } as const
/** All that cp needs: with more, the memory of the host could be read in /proc. */
const fileAbilities = ['CHOWN', 'DAC_OVERRIDE', 'DAC_READ_SEARCH', 'FOWNER', 'FSETID', 'MKNOD', 'SETFCAP']
const copying = ['-a', '-T', '--sparse=auto']

/**
 * Shares the blocks where the file system can; otherwise holes stay holes.
 * @throws AppError `file/no-space`, `snapshot/failed`; what stood in the way is its cause, for the log alone
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
 * A machine that runs may put a link in the place of a folder while it is copied: where the copy is made, no link leads
 * to the host's files. An ordinary user may not read what a sandbox has closed to its owner; as root of a user
 * namespace, who does.
 */
async function runConfined(
  cp: readonly string[],
  { from, to }: { from: string; to: string },
  { bwrap }: CopyRequest['tools'],
): Promise<string[]> {
  const programs = ['/usr', '/bin', '/lib', '/lib64'].flatMap((path) => ['--ro-bind-try', path, path])
  // One mount for both: older kernels share no blocks between two.
  const both = findCommonFolder(from, to)
  const view = [
    ...fileAbilities.flatMap((name) => ['--cap-add', `CAP_${name}`]),
    ...['--unshare-pid', '--proc', '/proc'], // with which cp sets the modes of closed folders
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

/** Ends the command with Steward. */
function withParent(perl: string, command: readonly string[]): string[] {
  return [perl, '-e', buildPerlScript('withParent'), formatPerlArgument({ command })]
}

function createNoSpaceError({ needed, free }: { needed: number; free: number }, cause: unknown): AppError {
  const spaceText = `It needs ${formatMegabytes(needed)}, and ${formatMegabytes(reservedBytes)} must be left; ${formatMegabytes(free)} are free`
  return new AppError('file/no-space', `There is no room for the files. ${spaceText} on this machine.`, { cause })
}

/** `cp` names files by paths, which Linux takes up to 4,095 bytes, the folder of the sandbox included. */
function createCopyError(cause: unknown): AppError {
  const complaint = cause instanceof Error && 'stderr' in cause ? String(cause.stderr) : ''
  const message = complaint.includes('File name too long')
    ? 'Folders are nested too deep: paths in a snapshot must be shorter than about 4,000 bytes.'
    : 'The files could not be copied.'
  return new AppError('snapshot/failed', message, { cause })
}

/** Measures the disk usage, in bytes. */
export async function measureStorage({ kind, path }: SandboxStorage): Promise<number> {
  if (kind === 'image') return (await stat(path)).blocks * 512
  const [program = '', ...parts] = await buildFileCommand(path, ['du', '-s', '-k', '-x', '--', path])
  const { stdout } = await execute(program, parts, { timeout: copyMs }).catch(
    // Folders that the sandbox has closed are left out.
    (error: { stdout?: string }) => ({ stdout: error.stdout ?? '' }),
  )
  return (Number.parseInt(stdout, 10) || 0) * 1024
}

/** A power cut no longer takes it. */
async function settle(path: string): Promise<void> {
  const file = await open(path, 'r+')
  try {
    await file.sync()
  } finally {
    await file.close()
  }
}
