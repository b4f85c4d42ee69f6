import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { afterAll, expect } from 'vitest'
import { eventually } from './eventually.ts'
import { descendantsOf, endProcess, type SeenProcess, seenProcesses } from './processes.ts'
import { idleCgroups } from './stewardCgroups.ts'
import { madeFolders, removeMadeFolders } from './temporaryFolder.ts'

/**
 * After each test file, what it opened must be closed: handles in this process, processes it started (also those that
 * left its tree: they inherit a mark in their environment, or name a temporary folder), mounts in its folders, cgroups of
 * sandboxes.
 */
const deadlineMs = 30_000
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
const handlesBefore = countedHandles()
const cgroupsBefore = new Set(idleCgroups())
const pidsBefore = new Set(descendantsOf(process.pid).map((it) => it.pid))

// Registered before any hook of the file itself, so it runs after all of them.
afterAll(async () => {
  try {
    await eventually(
      () => expect([...leftHandles(), ...leftProcesses().map(told), ...leftMounts(), ...leftCgroups()]).toEqual([]),
      deadlineMs,
    )
  } finally {
    for (const { pid } of leftProcesses()) endProcess(pid)
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

function leftProcesses(): SeenProcess[] {
  const all = seenProcesses()
  const below = new Set(descendantsOf(process.pid, all).map((it) => it.pid))
  return all
    .filter((it) => it.pid !== process.pid && !pidsBefore.has(it.pid))
    .filter(
      (it) =>
        below.has(it.pid) ||
        it.environment.includes(mark) ||
        madeFolders().some((folder) => it.command.includes(folder)),
    )
}

function leftMounts(): string[] {
  if (process.platform !== 'linux') return []
  const table = readFileSync('/proc/self/mountinfo', 'utf8').split('\n')
  return table.filter((line) => madeFolders().some((folder) => line.includes(folder))).map((line) => `mount ${line}`)
}

/** Others may run sandboxes at the same time: theirs have processes in them, or go away soon. */
function leftCgroups(): string[] {
  return idleCgroups()
    .filter((path) => !cgroupsBefore.has(path))
    .map((path) => `cgroup ${path}`)
}

function told({ pid, command }: SeenProcess): string {
  return `process ${pid}: ${command}`
}
