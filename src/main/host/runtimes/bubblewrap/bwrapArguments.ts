import { existsSync } from 'node:fs'
import type { HostBase } from './baseFiles.ts'
import { visibleFiles } from './sandboxView.ts'

/** File descriptors passed to bwrap. It writes the child's PID to `info` and reads the others. */
export const descriptors = { info: 3, firstProcess: 4, filter: 5, visible: 6, masked: 9 }

const firstProcessPath = '/dev/init'
/**
 * Used only by a test that removes the static first process. Works with any shell of the sandbox. Ignores SIGCHLD so
 * that the kernel reaps orphans (bash does so with a trap, dash does not).
 */
const shellInit = `trap '' CHLD; echo ready; exec sleep infinity </dev/null >/dev/null 2>&1`

/**
 * Files that list keys of the user that runs Steward, regardless of the sandbox's keyring. Masked if the kernel
 * provides them.
 */
export const getMaskedFiles = (): string[] => ['/proc/keys', '/proc/key-users'].filter((path) => existsSync(path))

/** Kernel settings of the host that stay visible. See `hide_kernel` in `supervisor.pl`. */
const readOnlyPaths = ['/proc/sys', '/proc/sysrq-trigger']
/** Limited because its content counts towards the memory of the sandbox. */
const runBytes = 64 * 1024 ** 2
const sharedMemoryRatio = 0.5

/** Returns the size of a sandbox's `/dev/shm`, in bytes. */
export const getSharedBytes = (memoryMb: number): number => Math.floor(memoryMb * 1024 ** 2 * sharedMemoryRatio)

export function buildBwrapArguments(options: {
  /** Path of the sandbox's content as seen by bwrap. */
  content: string
  hostname: string
  /** Memory of the sandbox, which limits its `/dev/shm`. */
  memoryMb: number
  /** Absent for a sandbox with an image, because its user namespace and complete `/` already exist. */
  base: HostBase | undefined
  parts: { filter: boolean; firstProcess: boolean; masked: readonly string[] }
}): string[] {
  const { base, content, parts } = options
  return [
    ...(base ? ['--unshare-all', '--unshare-user', '--uid', '0', '--gid', '0'] : inUserNamespace),
    ...['--hostname', options.hostname],
    ...['--die-with-parent', '--new-session', '--as-pid-1', '--info-fd', String(descriptors.info)],
    ...(parts.filter ? ['--seccomp', String(descriptors.filter)] : []),
    ...['--bind', `${content}/root`, '/'],
    ...(base?.readOnly ?? []).flatMap((path) => ['--ro-bind', path, path]),
    ...(base ? ['--bind', `${content}/usr-local`, '/usr/local'] : []),
    ...['--proc', '/proc'],
    ...readOnlyPaths.flatMap((path) => ['--ro-bind-try', path, path]),
    ...visibleFiles.flatMap((name, index) => [
      ...['--perms', '0644', '--bind-data', String(descriptors.visible + index), `/proc/${name}`],
    ]),
    ...parts.masked.flatMap((path, index) => [
      ...['--perms', '0444', '--ro-bind-data', String(descriptors.masked + index), path],
    ]),
    ...['--dev', '/dev', '--perms', '1777', '--size', String(getSharedBytes(options.memoryMb)), '--tmpfs', '/dev/shm'],
    ...['--perms', '0555', '--ro-bind-data', String(descriptors.firstProcess), firstProcessPath],
    ...['--remount-ro', '/dev'],
    ...['--perms', '0755', '--size', String(runBytes), '--tmpfs', '/run', '--dir', '/run/lock'],
    ...['--clearenv', '--setenv', 'PATH', '/usr/sbin:/usr/bin:/sbin:/bin', '--chdir', '/'],
    ...(parts.firstProcess ? ['--', firstProcessPath] : ['--', base?.shell ?? '/bin/bash', '-c', shellInit]),
  ]
}

/** bwrap runs as root in the existing user namespace and would otherwise retain all capabilities there. */
const inUserNamespace = [
  ...['--unshare-ipc', '--unshare-pid', '--unshare-net', '--unshare-uts', '--unshare-cgroup-try'],
  ...['--cap-drop', 'ALL'],
]
