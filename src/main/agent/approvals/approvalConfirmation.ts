import { AppError } from '#shared/appError.ts'
import type { IntentRecord } from '#shared/contract/intents.ts'
import type { ApprovalDialog } from './approvalDialog.ts'
import type { Approvals, Decision } from './approvals.ts'

/**
 * Creates the decision handler of the window. A decision in the window does not count as a confirmation: intents above
 * the threshold are shown in a native dialog, one per intent. If native dialogs are unavailable, a secure prompt
 * confirms.
 */
export function createApprovalConfirmation(
  approvals: Pick<Approvals, 'decide' | 'waitUntilSettled'>,
  dialog: ApprovalDialog | undefined,
) {
  const open = new Set<string>()

  /** Shows the dialog and closes it when the intent is decided elsewhere or the window closes. */
  const confirm = async (dialog: ApprovalDialog, record: IntentRecord, caller: AbortSignal): Promise<boolean> => {
    const ended = new AbortController()
    const abort = AbortSignal.any([ended.signal, caller])
    const waitMs = Math.max(0, Date.parse(record.expires_at) - Date.parse(record.created_at))
    const settled = approvals.waitUntilSettled(record.id, { waitMs, signal: abort }).then(
      () => ended.abort(),
      () => ended.abort(),
    )
    try {
      return await dialog.confirm(record, abort)
    } finally {
      ended.abort()
      await settled
    }
  }

  return async (
    record: IntentRecord,
    decision: Omit<Decision, 'confirmed'>,
    signal: AbortSignal,
  ): Promise<IntentRecord> => {
    try {
      return await approvals.decide(record.id, { ...decision, confirmed: false })
    } catch (error) {
      const needed = error instanceof AppError && error.code === 'intent/confirmation'
      if (!needed || !dialog) throw error
    }
    if (open.has(record.id)) throw new AppError('intent/confirmation', 'The dialog for this request is already open.')
    open.add(record.id)
    try {
      if (await confirm(dialog, record, signal))
        return await approvals.decide(record.id, { ...decision, confirmed: true })
      throw new AppError('intent/confirmation', 'Not confirmed. The request is still waiting.')
    } finally {
      open.delete(record.id)
    }
  }
}
