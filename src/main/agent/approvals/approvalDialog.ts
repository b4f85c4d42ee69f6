import type { IntentRecord } from '#shared/contract/intents.ts'
import type { ConfirmationText } from './describeConfirmation.ts'

/** What the window cannot draw: Electron's own dialogs and notifications. */
export interface ApprovalDialog {
  /** Shows what would be signed and asks the person. Its closing by `signal` is a no. */
  confirm(record: IntentRecord, signal: AbortSignal): Promise<boolean>
  /** Shows what would be allowed from then on. Its closing by `signal` is a no. */
  confirmPolicy(words: ConfirmationText, signal: AbortSignal): Promise<boolean>
  /** It waits for the person; `open` is for when they want to see it. */
  announce(record: IntentRecord, open: () => void): void
}
