import { join } from 'node:path'
import { expect, test } from 'vitest'
import { eventually } from '#test/support/assertions/eventually.ts'
import { approvalsOfTest, otherScript, script, signInTo } from '#test/support/fixtures/approvals.ts'
import { temporaryFolder } from '#test/support/fixtures/temporaryFolder.ts'

const approve = { approve: true, confirmed: false }

test('revoking a requester ends its waiting and signing intents and its grants', async () => {
  const { approvals, signer, endPrincipal, notes: activity, events } = approvalsOfTest()
  const waits = await approvals.submit({ intent: signInTo('a.example'), requester: script })
  const granted = await approvals.submit({ intent: signInTo('b.example'), requester: script })
  await approvals.decide(granted.id, { ...approve, grant: { times: 3 } })
  const mine = await approvals.submit({ intent: signInTo('a.example'), requester: otherScript })
  const signing = await approvals.submit({ intent: signInTo('c.example'), requester: script })
  const release = signer.hold()
  const decided = approvals.decide(signing.id, approve)
  await eventually(() => expect(approvals.get(signing.id).state).toBe('approved'))
  const before = activity.length
  endPrincipal('key:1')
  release()
  const ended = { state: 'denied', decision: null, error: 'The API key was revoked.', result: null }
  expect(approvals.get(waits.id)).toMatchObject(ended)
  expect(await decided).toMatchObject({ state: 'denied', error: 'The API key was revoked.', result: null })
  expect(approvals.get(mine.id).state).toBe('waiting')
  expect(approvals.grants()).toEqual([])
  expect(events.filter(({ type }) => type === 'grants.changed').length).toBeGreaterThan(1)
  expect(activity.slice(before).map(({ kind, actor }) => [kind, actor.name])).toEqual(
    expect.arrayContaining([
      ['intent.denied', 'Steward'],
      ['grant.revoked', 'Steward'],
    ]),
  )
  await expect(approvals.submit({ intent: signInTo('a.example'), requester: script })).rejects.toMatchObject({
    code: 'auth/invalid',
  })
})

test('denies at startup the intents of a requester revoked while Steward was closed', async () => {
  const file = join(temporaryFolder('approvals'), 'agent.sqlite')
  const first = approvalsOfTest({ file })
  const { id } = await first.approvals.submit({ intent: signInTo('a.example'), requester: script })
  first.close()
  const next = approvalsOfTest({ file, ended: ['key:1'] })
  expect(next.approvals.get(id)).toMatchObject({ state: 'denied', error: 'The API key was revoked.' })
  expect(next.notes.map(({ summary }) => summary)).toContainEqual(
    expect.stringMatching(/^Withdrawn: Sign in to a\.example.*The API key was revoked\.$/),
  )
})

test('records the actor of a withdrawal in the activity log', async () => {
  const { approvals, notes: activity } = approvalsOfTest()
  const ask = async (host: string) => (await approvals.submit({ intent: signInTo(host), requester: script })).id
  approvals.cancel(await ask('a.example'), script)
  approvals.cancel(await ask('b.example'), script, {
    actor: { kind: 'person', name: 'You' },
    error: 'You stopped the answer.',
  })
  const denied = activity.filter(({ kind }) => kind === 'intent.denied')
  expect(denied.map(({ actor, summary }) => [actor.name, summary.startsWith('Withdrawn: Sign in to')])).toEqual([
    [script.name, true],
    ['You', true],
  ])
  expect(denied.map(({ summary }) => summary.endsWith('You stopped the answer.'))).toEqual([false, true])
})
