import { AppError } from '#shared/appError.ts'
import type { IntentRecord } from '#shared/contract/intents.ts'
import type { ApprovalDialog } from './approvalDialog.ts'
import type { Approvals, Decision } from './approvals.ts'

/**
 * Decides as the window asked, which alone confirms nothing: what is above the threshold is shown in a dialog of the
 * system's, one for each intent. Without such dialogs a secure prompt confirms.
 */
export function createConfirmedApprovals(
  approvals: Pick<Approvals, 'decide' | 'waitUntilSettled'>,
  dialog: ApprovalDialog | undefined,
) {
  const open = new Set<string>()

  /** The dialog goes when the intent is decided otherwise, or when the window does. */
  const ask = async (dialog: ApprovalDialog, record: IntentRecord, caller: AbortSignal): Promise<boolean> => {
    const over = new AbortController()
    const abort = AbortSignal.any([over.signal, caller])
    const waitMs = Math.max(0, Date.parse(record.expires_at) - Date.parse(record.created_at))
    const settled = approvals.waitUntilSettled(record.id, { waitMs, signal: abort }).then(
      () => over.abort(),
      () => over.abort(),
    )
    try {
      return await dialog.confirm(record, abort)
    } finally {
      over.abort()
      await settled
    }
  }

  return async (
    record: IntentRecord,
    wish: Omit<Decision, 'confirmed'>,
    signal: AbortSignal,
  ): Promise<IntentRecord> => {
    try {
      return await approvals.decide(record.id, { ...wish, confirmed: false })
    } catch (error) {
      const needed = error instanceof AppError && error.code === 'intent/confirmation'
      if (!needed || !dialog) throw error
    }
    if (open.has(record.id)) throw new AppError('intent/confirmation', 'The dialog for this request is already open.')
    open.add(record.id)
    try {
      if (await ask(dialog, record, signal)) return await approvals.decide(record.id, { ...wish, confirmed: true })
      throw new AppError('intent/confirmation', 'Not confirmed. The request is still waiting.')
    } finally {
      open.delete(record.id)
    }
  }
}
