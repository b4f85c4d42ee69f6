import { afterEach, expect, test, vi } from 'vitest'
import { AppError } from '#shared/appError.ts'
import { findBuiltInTool } from '#shared/contract/tools/toolTable.ts'
import type { NewActivityEntry } from '../base/recordActivity.ts'
import { createToolActivityRecorder } from './toolActivityRecorder.ts'

const caller = { requester: { kind: 'tool', id: 'mcp_1', name: 'researcher' } } as const

afterEach(() => vi.useRealTimers())

function openNotes() {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] })
  const entries: NewActivityEntry[] = []
  const alone: NewActivityEntry[] = []
  const activity = createToolActivityRecorder({
    recordActivity: (it) => entries.push(it),
    recordOutsideTasks: (it) => alone.push(it),
    now: Date.now,
  })
  return { notes: activity, told: entries, alone }
}

function call(name: string, args = {}) {
  const tool = findBuiltInTool(name)
  if (!tool) throw new Error(`There is no tool ${name}.`)
  return { tool, args, caller, tookMs: 12.4 }
}

test('records a call once by tool and caller with outcome, duration and subject', () => {
  const { notes: activity, told: entries } = openNotes()
  activity.done(call('sandbox_get', { sandbox_id: 'box1', secret: 'not told' }), { id: 'box1', status: 'also not' })
  activity.recordFailure(call('domain_info', { domain: 'a.com' }), new AppError('auth/invalid', 'A text of others.'))
  activity.recordFailure(call('sandbox_list'), new Error('with a stack'))
  activity.recordRefusal('<b>no</b>'.repeat(99), undefined, caller, new AppError('tool/unknown', 'No such tool.'))
  const plain = { requester: 'mcp_1', price: 'free', took_ms: 12 }
  expect(entries).toEqual([
    {
      kind: 'tool.called',
      actor: { kind: 'tool', name: 'researcher' },
      subject: 'box1',
      summary: 'researcher called sandbox_get.',
      detail: { tool: 'sandbox_get', ...plain, outcome: 'done' },
      links: { sandbox: 'box1' },
      tookMs: 12.4,
    },
    expect.objectContaining({
      kind: 'tool.failed',
      summary: 'researcher called domain_info, which failed.',
      detail: { tool: 'domain_info', ...plain, outcome: 'failed', code: 'auth/invalid' },
      links: { domain: 'a.com' },
    }),
    expect.objectContaining({ detail: expect.objectContaining({ code: 'internal/unexpected' }) }),
    expect.objectContaining({
      kind: 'tool.refused',
      summary: 'researcher called a tool that does not exist, which was refused.',
      detail: { tool: '<b>no</b>'.repeat(99).slice(0, 64), asker: 'mcp_1', outcome: 'refused', code: 'tool/unknown' },
    }),
  ])
  activity.close()
})

test('counts polling calls and records the number after a minute', () => {
  const { notes: activity, told: entries, alone } = openNotes()
  for (let index = 0; index < 1000; index++) activity.done(call('sandbox_list'), {})
  for (let index = 0; index < 1000; index++)
    activity.recordRefusal(`no_${index}`, undefined, caller, new AppError('tool/unknown', 'No.'))
  expect([entries.length, alone]).toEqual([60, []])
  vi.advanceTimersByTime(60_000)
  expect(alone.map(({ summary, detail }) => [summary, detail?.calls])).toEqual([
    ['researcher called sandbox_list, 970 more times in a minute.', 970],
    ['researcher called a tool that does not exist, which was refused, 970 more times in a minute.', 970],
  ])
  expect(vi.getTimerCount()).toBe(0)
  activity.done(call('sandbox_list'), {})
  expect(entries.length).toBe(61)
  activity.close()
  expect([alone.length, vi.getTimerCount()]).toEqual([2, 0])
})

test('records every call that changes something', () => {
  const { notes: activity, told: entries } = openNotes()
  for (let index = 0; index < 100; index++) activity.done(call('sandbox_create'), {})
  expect(entries.length).toBe(100)
  activity.close()
})
