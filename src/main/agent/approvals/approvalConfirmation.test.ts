import { expect, test } from 'vitest'
import type { IntentRecord } from '#shared/contract/intents.ts'
import { until } from '#test/support/assertions/eventually.ts'
import { approvalsOfTest, payment, script } from '#test/support/fixtures/approvals.ts'
import { createApprovalConfirmation } from './approvalConfirmation.ts'
import type { ApprovalDialog } from './approvalDialog.ts'

type Dialog = { record: IntentRecord; signal: AbortSignal; answer: (approved: boolean) => void }

/** Opens approvals with a system dialog, which closes with a refusal when its signal aborts. */
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
  const decide = createApprovalConfirmation(approvals, dialog)
  const ask = (amount: string) => approvals.submit({ intent: payment(amount), requester: script })
  const waitForDialogs = (count: number) => until('the dialog', () => dialogs.length === count && dialogs[count - 1])
  return { approvals, dialogs, decide, ask, shown: waitForDialogs }
}

const approve = { approve: true }
const caller = () => new AbortController().signal
const unconfirmed = expect.objectContaining({ code: 'intent/confirmation' })
const large = '10000001'

test('needs no dialog for a denial or an amount within the threshold', async () => {
  const { dialogs, decide, ask } = openConfirmed()
  expect(await decide(await ask('500'), approve, caller())).toMatchObject({ state: 'signed' })
  expect(await decide(await ask(large), { approve: false }, caller())).toMatchObject({ state: 'denied' })
  expect(dialogs).toEqual([])
})

test('shows the intent in a dialog above the threshold and requires confirmation there', async () => {
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

test('opens one dialog per intent at a time', async () => {
  const { dialogs, decide, ask, shown: waitForDialogs } = openConfirmed()
  const record = await ask(large)
  const deciding = decide(record, approve, caller())
  const dialog = await waitForDialogs(1)
  await expect(decide(record, approve, caller())).rejects.toThrow(unconfirmed)
  expect(dialogs).toHaveLength(1)
  dialog.answer(true)
  expect(await deciding).toMatchObject({ state: 'signed' })
})

test('closes the dialog when the intent is decided elsewhere and ignores its confirmation', async () => {
  const { approvals, decide, ask, shown: waitForDialogs } = openConfirmed()
  const record = await ask(large)
  const deciding = decide(record, approve, caller())
  const { signal } = await waitForDialogs(1)
  approvals.switchStop(true)
  await expect(deciding).rejects.toThrow(unconfirmed)
  expect(signal.aborted).toBe(true)
  expect(approvals.get(record.id)).toMatchObject({ state: 'denied', decision: { by: 'stop' } })
})

test('closes the dialog with its window and leaves the intent waiting', async () => {
  const { approvals, decide, ask, shown: waitForDialogs } = openConfirmed()
  const record = await ask(large)
  const controller = new AbortController()
  const deciding = decide(record, approve, controller.signal)
  await waitForDialogs(1)
  controller.abort()
  await expect(deciding).rejects.toThrow(unconfirmed)
  expect(approvals.get(record.id)).toEqual(record)
})

test('rejects the approval without dialogs and leaves it to a secure prompt', async () => {
  const { approvals, ask } = openConfirmed()
  const record = await ask(large)
  await expect(createApprovalConfirmation(approvals, undefined)(record, approve, caller())).rejects.toThrow(unconfirmed)
  expect(approvals.get(record.id)).toEqual(record)
})
