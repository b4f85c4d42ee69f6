import { randomUUID } from 'node:crypto'
import { afterAll, expect } from 'vitest'
import { endFile } from './endOfFile.ts'
import { eventually } from './eventually.ts'
import { namesMadeFolder, watchLeaks } from './leaks.ts'
import { descendantsOf, endProcess, type SeenProcess } from './processes.ts'
import { sharedPids } from './sharedPids.ts'
import { removeMadeFolders } from './temporaryFolder.ts'

/**
 * After each test file, what it opened must be closed: handles in this process, processes it started (also those that
 * left its tree: they inherit a mark in their environment, or name a temporary folder), mounts in its folders, cgroups of
 * sandboxes.
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
/** They are this process's from its start, and handles once some module has looked at them. */
const standardStreams = [process.stdin, process.stdout, process.stderr].length
const handlesBefore = standardStreams > 0 ? countedHandles() : new Map<string, number>()
const pidsBefore = new Set(descendantsOf(process.pid).map((it) => it.pid))
const leaks = watchLeaks(startedHere)

// Registered before any hook of the file itself, so it runs after all of them.
afterAll(async () => {
  try {
    await endFile()
    await eventually(() => expect([...leftHandles(), ...leaks.left()]).toEqual([]), deadlineMs)
  } finally {
    for (const { pid } of leaks.processes()) endProcess(pid)
    await removeMadeFolders()
  }
})

function countedHandles(): Map<string, number> {
  const found = new Map<string, number>()
  for (const kind of process.getActiveResourcesInfo()) found.set(kind, (found.get(kind) ?? 0) + 1)
  return found
}

function leftHandles(): string[] {
  return [...countedHandles()]
    .map(([kind, count]) => ({ kind, more: count - (handlesBefore.get(kind) ?? 0) }))
    .filter(({ kind, more }) => watchedHandles.includes(kind) && more > 0)
    .map(({ kind, more }) => `${more} × ${kind}`)
}

function startedHere(all: readonly SeenProcess[]): SeenProcess[] {
  const below = new Set(descendantsOf(process.pid, all).map((it) => it.pid))
  const shared = new Set([...sharedPids].flatMap((pid) => descendantsOf(pid, all)).map((it) => it.pid))
  return all
    .filter((it) => it.pid !== process.pid && !pidsBefore.has(it.pid) && !shared.has(it.pid))
    .filter((it) => below.has(it.pid) || it.environment.includes(mark) || namesMadeFolder(it.command))
}
