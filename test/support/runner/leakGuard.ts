import { randomUUID } from 'node:crypto'
import { afterAll, expect } from 'vitest'
import { eventually } from '../assertions/eventually.ts'
import { namesTestFolder, watchLeaks } from '../assertions/leaks.ts'
import { endProcess, listDescendants, type ProcessInfo } from '../assertions/processes.ts'
import { removeTestFolders } from '../fixtures/temporaryFolder.ts'
import { endFile } from './endOfFile.ts'
import { sharedPids } from './sharedPids.ts'

/**
 * After each test file, asserts that everything it opened is closed: handles of this process, processes that it
 * started, mounts in its folders, and sandbox cgroups. Detached processes are detected by a mark that they inherit in
 * their environment, or by a temporary folder in their arguments.
 */
const deadlineMs = 90_000
const watchedHandles = [
  'TCPServerWrap',
  'TCPSocketWrap',
  'PipeWrap',
  'ProcessWrap',
  'MessagePort',
  'FSEventWrap',
  'StatWatcher',
]

const mark = `STEWARD_TEST_MARK=${randomUUID()}`
const [markName = '', markValue = ''] = mark.split('=')
process.env[markName] = markValue
/** The standard streams belong to this process from its start, but become handles only after a module accesses them. */
const standardStreams = [process.stdin, process.stdout, process.stderr].length
const handlesBefore = standardStreams > 0 ? countHandles() : new Map<string, number>()
const pidsBefore = new Set(listDescendants(process.pid).map((it) => it.pid))
const leaks = watchLeaks(findStartedHere)

// Registered before any hook of the test file, so that it runs after all of them.
afterAll(async () => {
  try {
    await endFile()
    await eventually(() => expect([...findLeftHandles(), ...leaks.left()]).toEqual([]), deadlineMs)
  } finally {
    for (const { pid } of leaks.processes()) endProcess(pid)
    await removeTestFolders()
  }
})

function countHandles(): Map<string, number> {
  const counts = new Map<string, number>()
  for (const kind of process.getActiveResourcesInfo()) counts.set(kind, (counts.get(kind) ?? 0) + 1)
  return counts
}

function findLeftHandles(): string[] {
  return [...countHandles()]
    .map(([kind, count]) => ({ kind, more: count - (handlesBefore.get(kind) ?? 0) }))
    .filter(({ kind, more }) => watchedHandles.includes(kind) && more > 0)
    .map(({ kind, more }) => `${more} × ${kind}`)
}

function findStartedHere(all: readonly ProcessInfo[]): ProcessInfo[] {
  const below = new Set(listDescendants(process.pid, all).map((it) => it.pid))
  const shared = new Set([...sharedPids].flatMap((pid) => listDescendants(pid, all)).map((it) => it.pid))
  return all
    .filter(
      (processInfo) =>
        processInfo.pid !== process.pid && !pidsBefore.has(processInfo.pid) && !shared.has(processInfo.pid),
    )
    .filter(
      (candidate) =>
        below.has(candidate.pid) || candidate.environment.includes(mark) || namesTestFolder(candidate.command),
    )
}
