import { expect, test } from 'vitest'
import type { IntentRecord } from '#shared/contract/intents.ts'
import { approvalsOfTest, payment, script } from '#test/support/approvals.ts'
import { until } from '#test/support/eventually.ts'
import type { ApprovalDialog } from './approvalDialog.ts'
import { createConfirmedApprovals } from './confirmedApprovals.ts'

type Dialog = { record: IntentRecord; signal: AbortSignal; answer: (approved: boolean) => void }

/** A dialog of the system, which closes with a no when its signal fires. */
function openConfirmed() {
  const { approvals } = approvalsOfTest()
  const dialogs: Dialog[] = []
  const dialog: ApprovalDialog = {
    confirm: (record, signal) =>
      new Promise((resolve) => {
        dialogs.push({ record, signal, answer: resolve })
        signal.addEventListener('abort', () => resolve(false))
      }),
    confirmPolicy: () => Promise.resolve(false),
    announce() {},
  }
  const decide = createConfirmedApprovals(approvals, dialog)
  const ask = (amount: string) => approvals.ask({ intent: payment(amount), requester: script })
  const waitForDialogs = (count: number) => until('the dialog', () => dialogs.length === count && dialogs[count - 1])
  return { approvals, dialogs, decide, ask, shown: waitForDialogs }
}

const approve = { approve: true }
const caller = () => new AbortController().signal
const unconfirmed = expect.objectContaining({ code: 'intent/confirmation' })
const large = '10000001'

test('what is within the threshold needs no dialog, and neither does a no', async () => {
  const { dialogs, decide, ask } = openConfirmed()
  expect(await decide(await ask('500'), approve, caller())).toMatchObject({ state: 'signed' })
  expect(await decide(await ask(large), { approve: false }, caller())).toMatchObject({ state: 'denied' })
  expect(dialogs).toEqual([])
})

test('above it the dialog shows this very intent, and its yes alone approves', async () => {
  const { approvals, decide, ask, shown: waitForDialogs } = openConfirmed()
  const record = await ask(large)
  const refused = decide(record, approve, caller())
  const first = await waitForDialogs(1)
  expect(first.record).toEqual(record)
  first.answer(false)
  await expect(refused).rejects.toThrow(unconfirmed)
  expect(approvals.get(record.id)).toEqual(record)

  const approved = decide(record, approve, caller())
  const second = await waitForDialogs(2)
  second.answer(true)
  expect(await approved).toMatchObject({ state: 'signed', decision: { by: 'person' } })
})

test('there is one dialog for an intent at a time', async () => {
  const { dialogs, decide, ask, shown: waitForDialogs } = openConfirmed()
  const record = await ask(large)
  const deciding = decide(record, approve, caller())
  const dialog = await waitForDialogs(1)
  await expect(decide(record, approve, caller())).rejects.toThrow(unconfirmed)
  expect(dialogs).toHaveLength(1)
  dialog.answer(true)
  expect(await deciding).toMatchObject({ state: 'signed' })
})

test('the dialog goes when the intent is decided otherwise, and its yes comes too late then', async () => {
  const { approvals, decide, ask, shown: waitForDialogs } = openConfirmed()
  const record = await ask(large)
  const deciding = decide(record, approve, caller())
  const { signal } = await waitForDialogs(1)
  approvals.switchStop(true)
  await expect(deciding).rejects.toThrow(unconfirmed)
  expect(signal.aborted).toBe(true)
  expect(approvals.get(record.id)).toMatchObject({ state: 'denied', decision: { by: 'stop' } })
})

test('the dialog goes with the window that asked for it, and the intent waits on', async () => {
  const { approvals, decide, ask, shown: waitForDialogs } = openConfirmed()
  const record = await ask(large)
  const controller = new AbortController()
  const deciding = decide(record, approve, controller.signal)
  await waitForDialogs(1)
  controller.abort()
  await expect(deciding).rejects.toThrow(unconfirmed)
  expect(approvals.get(record.id)).toEqual(record)
})

test('where there are no dialogs it is refused, for a secure prompt to confirm', async () => {
  const { approvals, ask } = openConfirmed()
  const record = await ask(large)
  await expect(createConfirmedApprovals(approvals, undefined)(record, approve, caller())).rejects.toThrow(unconfirmed)
  expect(approvals.get(record.id)).toEqual(record)
})
