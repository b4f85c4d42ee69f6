import { afterAll, expect } from 'vitest'
import { eventually } from './eventually.ts'

/** After each file: what it opened in this process must be closed. Handles that Node itself keeps are no leak. */
const ours = [
  'TCPServerWrap',
  'TCPSocketWrap',
  'PipeWrap',
  'ProcessWrap',
  'Timeout',
  'MessagePort',
  'FSEventWrap',
  'StatWatcher',
]
const before = counts()

afterAll(async () => {
  await eventually(() => expect(leaked()).toEqual([]), 15_000)
})

function counts(): Map<string, number> {
  const found = new Map<string, number>()
  for (const kind of process.getActiveResourcesInfo()) found.set(kind, (found.get(kind) ?? 0) + 1)
  return found
}

function leaked(): string[] {
  return [...counts()]
    .filter(([kind]) => ours.includes(kind) && kind !== 'Timeout')
    .filter(([kind, count]) => count > (before.get(kind) ?? 0))
    .map(([kind, count]) => `${count - (before.get(kind) ?? 0)} × ${kind}`)
}
